"""Records targets: starts runs, passes frames to them and ends them."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from tidscope_wire.generated.models import (
    FrameHeader,
    FramesLost,
    RecordRequest,
    RunManifest,
    Target,
)
from tidscope_wire.generated.models import (
    Recording as RecordingInfo,
)
from tidscope_wire.problems import refusal

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.pacing import next_multiple
from tidscope_backend.processes import ProgramEnd
from tidscope_backend.recording.active_runs import ActiveRuns
from tidscope_backend.recording.closing import (
    DEFAULT_TIMEOUTS,
    Flush,
    RecordingTimeouts,
    RunCloser,
    ending_by_timeout,
    ending_on_request,
)
from tidscope_backend.recording.endings import (
    LAST_FRAMES_MISSING,
    STOPPED,
    TIME_OVER,
    WRITE_FAILURES,
    Ending,
)
from tidscope_backend.recording.part_sealer import RunSaver
from tidscope_backend.recording.recording import DEFAULT_LIMITS, PartLimits, Recording
from tidscope_backend.recording.sealing import recover_run
from tidscope_backend.recording.stack_leases import StackLeases
from tidscope_backend.recording.writer import MAX_QUEUED_BYTES, NewRuns, RecordingWriter, check_past
from tidscope_backend.store.directory import RunsDirectory, with_bytes
from tidscope_backend.store.disk import Disk, damage_text
from tidscope_backend.store.folder import RunFolder, RunLock
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.stream.history import HistoryStore

_log = logging.getLogger(__name__)
RECOVER_SECONDS = 10.0
"""Maximum time that a starting backend waits for the recovery of runs, in seconds."""


class Recorder:
    """All active recordings, at most one per target.

    Args:
        directory: directory of the runs.
        registry: hosts and targets.
        history: recent frames of each target.
        saver: writes manifests and has parts sealed.
        clock: seconds, monotonic.
        changed: called when a run starts, ends or is renamed.
        disk: threads in which files are accessed.
        flush: asks the collector of a target for all pending data.
        stacks: has stacks taken for runs that ask for them.
        limits: limits of the parts of runs.
        timeouts: timeouts of recordings.
        max_queued_bytes: maximum bytes of frames that wait for the disk.
        ends: reads the supervisor's log of ended programs.

    Attributes:
        writer: passes frames to the recording thread.
    """

    def __init__(
        self,
        directory: RunsDirectory,
        registry: HostRegistry,
        history: HistoryStore,
        saver: RunSaver,
        clock: Callable[[], float],
        changed: Callable[[], None],
        disk: Disk,
        flush: Flush,
        stacks: StackLeases,
        limits: PartLimits = DEFAULT_LIMITS,
        timeouts: RecordingTimeouts = DEFAULT_TIMEOUTS,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        ends: Callable[[], Sequence[ProgramEnd]] = tuple,
    ) -> None:
        self.writer = RecordingWriter(disk, self._reported, max_queued_bytes)
        self._disk = disk
        self._directory = directory
        self._registry = registry
        self._new, self._stacks = NewRuns(directory, registry, disk, limits, stacks), stacks
        self._history = history
        self._saver = saver
        self._clock = clock
        self._changed = changed
        self._limits = limits
        self._timeouts = timeouts
        self._closer = RunCloser(flush, self.writer, clock, registry, ends, timeouts.close_s)
        self._active = ActiveRuns(self._closer, saver, disk, changed)
        self._starting: set[str] = set()
        self._watch: asyncio.Task[None] | None = None

    @property
    def recordings(self) -> list[RecordingInfo]:
        """The active recordings, for display."""
        return [recording.info for recording in self._active.by_target.values()]

    @property
    def lost(self) -> int:
        """Frames missing in the runs recorded since the backend started."""
        return self._active.lost

    @property
    def refused(self) -> int:
        """Number of runs that ended because a frame could not be written."""
        return self._active.refused

    def is_recording(self, run_id: str) -> bool:
        """Return True if the run is being recorded by this backend."""
        return self.recording(run_id) is not None

    def recording(self, run_id: str) -> Recording | None:
        """Return the recording of a run if it is active in this backend, else None."""
        return self._active.of_run(run_id)

    def current_manifest(self, folder: RunFolder, manifest: RunManifest) -> RunManifest:
        """Return the up-to-date manifest of an active recording. Thread-safe."""
        recording = self.recording(manifest.id) or self._saver.unsaved(manifest.id)
        if recording is None:
            return manifest
        return with_bytes(folder, manifest.model_copy(update=recording.manifest_fields()))

    def unfinished_targets(self, host_id: str, collector_pid: int) -> list[Target]:
        """Return targets of unfinished runs that an earlier collector of the host sampled.

        Args:
            host_id: ID of the host.
            collector_pid: PID of the host's current collector.
        """
        return [
            one.target
            for one in self._active.by_target.values()
            if one.awaiting_resume
            and one.target.host == host_id
            and one.collector_pid != collector_pid
        ]

    def receive(self, frame: StoredFrame, header: FrameHeader) -> None:
        """Handle a new frame of a target."""
        recording = self._active.by_target.get(frame.target)
        if recording is None:
            return
        if recording.close_seq is not None and frame.seq > recording.close_seq:
            return
        now_s = recording.last_frame_s = self._clock()
        began_s = now_s - header.time_ns / 1e9
        recording.began_s = min(recording.began_s or began_s, began_s)
        # A refused frame becomes a gap before the next accepted frame, or at the end.
        if not self.writer.offer(recording, frame, header) and not recording.stalled:
            recording.stalled = True
            _log.warning("%s: the disk is too slow; frames are lost", recording.info.run)
        recording.note_seq(frame.seq)

    def _reported(self, recording: Recording, ending: Ending | None) -> None:
        """Handle a frame that filled a part, resumed a run or ended a run."""
        self._saver.seal_full_parts(recording)
        if recording.ending is not None:
            return
        if ending is None:
            if recording.resumed():
                _log.info("%s is resumed", recording.info.run)
                self._active.spawn(self._saver.save(recording))
        elif recording.started.is_set():
            self._active.end_by(recording, ending)
        else:
            recording.early_ending = ending

    def rename(self, run_id: str, name: str | None) -> None:
        """Set the name of a run; None leaves it unchanged."""
        recording = self.recording(run_id)
        if recording is not None and name is not None:
            recording.info = recording.info.model_copy(update={"name": name})
            self._changed()

    def frames_lost(self, lost: FramesLost) -> None:
        """Note frames that the collector dropped."""
        recording = self._active.by_target.get(lost.target)
        if recording is not None:
            recording.note_seq(lost.to_seq)

    def collector_ends(self, last: Mapping[str, int]) -> None:
        """Handle a collector that stops sampling, with the last frame number of each target."""
        self._active.collector_ends(last)

    async def record(self, request: RecordRequest) -> RunManifest:
        """Start a run of a target from now, with some of its past, or with only its past.

        Raises:
            ProblemError: the target is unknown, has ended or is being recorded, or the run cannot
                be written.
        """
        target = self._registry.require(request.target)
        if request.duration_s == 0:
            return await self._record_past(target, request)
        self._registry.require_attached(target.id)
        running = self._active.by_target.get(target.id)
        if running is not None or target.id in self._starting:
            raise refusal(
                "already-recording",
                f"target {target.id} is being recorded"
                + (f" as {running.info.run}" if running is not None else ""),
                "stop that run first",
            )
        self._starting.add(target.id)
        try:
            recording, manifest = await self._new.create(target, request)
        finally:
            self._starting.discard(target.id)
        recording.last_frame_s = self._clock()
        self._active.by_target[target.id] = recording
        # No await in between: history and later frames join without a gap.
        past = self._history.get(target.id).frames
        recording.note_seq(past[-1].seq if past else 0)
        try:
            ending = await self.writer.start(recording, manifest, past, request.past_s)
        except OSError as error:
            self._active.by_target.pop(target.id)
            raise await self._new.discard(recording, error) from None
        self._saver.seal_full_parts(recording)
        self._changed()
        ending = ending or recording.early_ending
        recording.started.set()
        if ending is not None:
            self._active.end_by(recording, ending)
            if ending is not TIME_OVER:
                return await self._ended_manifest(recording)
        await self._saver.save(recording)
        return await self._disk.read(
            lambda: self.current_manifest(recording.folder, recording.folder.read_manifest())
        )

    async def saved(self, run_id: str) -> None:
        """Wait until the manifest of a run that has just ended is on disk."""
        recording = self._saver.unsaved(run_id)
        if recording is not None and recording.ending is not None:
            await recording.finalised.wait()

    async def stop(self, run_id: str, target_ended: bool = False) -> RunManifest:
        """End a run.

        Args:
            run_id: ID of the run.
            target_ended: whether the process has exited, so that its last frames are missing.

        Raises:
            ProblemError: the run is unknown, or not being recorded.
        """
        recording = self.recording(run_id)
        if recording is not None:
            await recording.started.wait()
            # Earlier frames are written first: they may resume or end the run.
            await self.writer.flush()
        if recording is None or recording.ending is not None:
            await self._disk.read(self._directory.folder, run_id)
            raise refusal(
                "not-recording", f"run {run_id} is not being recorded", "it has ended already"
            )
        wanted = LAST_FRAMES_MISSING if target_ended else STOPPED
        connected = self._closer.is_connected(recording.target)
        ending = ending_on_request(recording, connected, wanted)
        # The run ends even if the caller is cancelled.
        await asyncio.shield(self._active.close(recording, ending))
        return await self._ended_manifest(recording)

    async def _ended_manifest(self, recording: Recording) -> RunManifest:
        await recording.finalised.wait()
        return await self._disk.read(
            lambda: self.current_manifest(recording.folder, recording.folder.read_manifest())
        )

    async def start(self) -> None:
        """Recover the runs that an earlier backend left unfinished, and start checking runs.

        A hanging disk delays recovery, not the start of the backend.
        """
        recovering = asyncio.create_task(self._recover_all())
        self._active.keep(recovering)
        await asyncio.wait((recovering,), timeout=RECOVER_SECONDS)
        self.watch()

    async def _recover_all(self) -> None:
        for path in await self._disk.read(self._directory.all):
            try:
                await self.recover(RunFolder(path))
            except (OSError, ValueError) as error:
                _log.warning("%s is not recovered: %s", path.name, damage_text(error))

    def watch(self) -> None:
        """Start checking runs, without recovering any."""
        self._watch = asyncio.create_task(self._watch_runs())

    async def close(self) -> None:
        """End all runs such that the next backend can resume them."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self._active.suspend()

    async def _record_past(self, target: Target, request: RecordRequest) -> RunManifest:
        past = self._history.get(target.id).frames
        check_past(past, request)
        recording, manifest = await self._new.create(target, request)
        try:
            ending = await self.writer.start(recording, manifest, past, request.past_s)
        except OSError as error:
            raise await self._new.discard(recording, error) from None
        if ending is None or ending.end not in WRITE_FAILURES:
            ending = Ending("flight-recorder", "complete", "Only the past was recorded.")
        return await self._active.end(recording, ending)

    async def recover(self, folder: RunFolder) -> None:
        """Resume or finish a run that an earlier backend left unfinished; else do nothing.

        Raises:
            OSError: the run's files cannot be read or written.
            ValueError: the run's manifest is invalid.
        """
        found = await self._disk.record(recover_run, folder, self._limits)
        if found is None:
            return
        if isinstance(found, RunLock):
            self._saver.seal_ended(folder, found)
            return
        recording, ending = found
        last = recording.stats.last
        recording.note_seq(0 if last is None else last.seq)
        recording.started.set()
        recording.last_frame_s = self._clock()
        if ending is not None:
            self._active.end_soon(recording, ending)
        elif recording.target.id in self._active.by_target:
            self._active.close(recording, ending_on_request(recording, False, STOPPED))
        else:
            self._active.by_target[recording.target.id] = recording
            # Truncated bytes are counted only here.
            self._active.spawn(self._saver.save(recording))

    async def _watch_runs(self) -> None:
        interval_s = self._timeouts.check_interval_s
        checks, between = 0, max(1, round(self._timeouts.manifest_interval_s / interval_s))
        while True:
            await next_multiple(interval_s)
            checks += 1
            try:
                await self.check_runs(save=checks % between == 0)
            except Exception:
                # One run's failure must not end the checks of other runs.
                _log.exception("checking runs failed")

    async def check_runs(self, save: bool) -> None:
        """End runs that are over, and sync recorded data to disk.

        Args:
            save: write manifests, too.
        """
        for recording in list(self._active.by_target.values()):
            await self._check(recording, save)
        self._stacks.renew(self._active.by_target.values())
        await self._saver.retry()

    async def wait_saved(self) -> None:
        """Wait until the manifests of ended runs are written."""
        await self._active.wait_saved()

    async def _check(self, recording: Recording, save: bool) -> None:
        started, ends = recording.started.is_set(), recording.closing or recording.ending
        if not started or ends is not None:
            return
        target = self._registry.target(recording.target.id)
        if target is not None and not recording.awaiting_resume:
            recording.update_target(target)
        sampled = target is not None and target.state == "attached"
        if not sampled and recording.target_lost_s is None:
            recording.target_lost_s = self._clock()
        host = self._registry.host(recording.target.host)
        ending = ending_by_timeout(recording, self._clock(), target, host, self._timeouts)
        if ending is not None:
            self._active.close(recording, ending)
            return
        ending = await self._disk.record(recording.sync)
        if ending is not None and recording.ending is None:
            await self._active.end(recording, ending)
        elif save and not recording.awaiting_resume:
            await self._saver.save(recording)
