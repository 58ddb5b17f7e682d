"""Records targets: starts runs, passes frames to them, and ends them."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress

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
from tidscope_backend.recording.new_run import create_recording, discard, write_start
from tidscope_backend.recording.recording import (
    DEFAULT_LIMITS,
    WRITE_FAILURES,
    Ending,
    PartLimits,
    Recording,
    write_failure,
)
from tidscope_backend.recording.recovery import is_unfinished, recover_recording
from tidscope_backend.recording.run_saver import RunSaver
from tidscope_backend.recording.timeouts import (
    DEFAULT_TIMEOUTS,
    RecordingTimeouts,
    ending_by_timeout,
    ending_on_request,
)
from tidscope_backend.store.directory import RunsDirectory
from tidscope_backend.store.errors import damage_text, unwritable
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.lock import RunLock
from tidscope_backend.store.manifests import with_bytes
from tidscope_backend.stream.history_store import HistoryStore
from tidscope_backend.stream.stored_frame import StoredFrame

_log = logging.getLogger(__name__)
START_SECONDS = 2.0
"""How long a backend that ends waits for a run that is just starting."""
_STOPPED = Ending("stopped", "complete", "It was stopped.")
_BACKEND_ENDS = Ending(
    "backend-lost",
    "interrupted",
    "The backend ended while recording. If it starts again before the collector ends, "
    "the run is resumed.",
)


class Recorder:
    """All runs that are being recorded, one a target.

    Args:
        directory: of the runs.
        registry: hosts and targets.
        history: the recent past of each target.
        saver: writes manifests and has parts sealed.
        clock: seconds, monotonic.
        changed: called when a run starts, ends or is renamed.
        limits: of the parts of runs.
        timeouts: of runs.

    Attributes:
        frames: frames written since the backend started.
        frame_bytes: their bytes.
        refused: frames that could not be written.
    """

    def __init__(
        self,
        directory: RunsDirectory,
        registry: HostRegistry,
        history: HistoryStore,
        saver: RunSaver,
        clock: Callable[[], float],
        changed: Callable[[], None],
        limits: PartLimits = DEFAULT_LIMITS,
        timeouts: RecordingTimeouts = DEFAULT_TIMEOUTS,
    ) -> None:
        self.frames = 0
        self.frame_bytes = 0
        self.refused = 0
        self._directory = directory
        self._registry = registry
        self._history = history
        self._saver = saver
        self._clock = clock
        self._changed = changed
        self._limits = limits
        self._timeouts = timeouts
        self._active: dict[str, Recording] = {}
        self._starting: set[str] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._watch: asyncio.Task[None] | None = None

    @property
    def recordings(self) -> list[RecordingInfo]:
        """The recordings that pages show."""
        return [recording.info for recording in self._active.values()]

    def is_recording(self, run_id: str) -> bool:
        """Whether the run is being recorded here."""
        return self.recording(run_id) is not None

    def recording(self, run_id: str) -> Recording | None:
        """The run, if it is being recorded here."""
        return next((one for one in list(self._active.values()) if one.info.run == run_id), None)

    def current_manifest(self, folder: RunFolder, manifest: RunManifest) -> RunManifest:
        """A manifest as it would be written now. May run in another thread."""
        recording = self.recording(manifest.id) or self._saver.unsaved(manifest.id)
        if recording is None:
            return manifest
        return with_bytes(folder, manifest.model_copy(update=recording.manifest_fields()))

    def receive(self, frame: StoredFrame, header: FrameHeader) -> None:
        """A new frame of a target has arrived."""
        recording = self._active.get(frame.target)
        if recording is None:
            return
        recording.last_frame_s = self._clock()
        resuming, before = recording.awaiting_resume, recording.stats.counts.frames
        ending = recording.receive(frame, header)
        if recording.stats.counts.frames > before:
            self.frames += 1
            self.frame_bytes += len(frame.data)
        self._saver.seal_full_parts(recording)
        if ending is not None:
            self._end_soon(recording, ending)
        elif resuming and not recording.awaiting_resume:
            _log.info("%s is resumed", recording.info.run)
            self._spawn(self._saver.save(recording))

    def rename(self, run_id: str, name: str | None) -> None:
        """A run has a new name; None: it keeps its name."""
        recording = self.recording(run_id)
        if recording is not None and name is not None:
            recording.info = recording.info.model_copy(update={"name": name})
            self._changed()

    def frames_lost(self, lost: FramesLost) -> None:
        """The collector has dropped these frames."""
        recording = self._active.get(lost.target)
        if recording is not None:
            recording.stats.frames_lost(lost.to_seq)

    async def record(self, request: RecordRequest) -> RunManifest:
        """Start a run of a target: from now on, including some of its past, or its past only.

        Raises:
            ProblemError: the target is unknown, has ended or is being recorded, or the run cannot
                be written.
        """
        target = self._registry.require(request.target)
        if request.duration_s == 0:
            return await self._record_past(target, request)
        self._registry.require_attached(target.id)
        running = self._active.get(target.id)
        if running is not None or target.id in self._starting:
            raise refusal(
                "already-recording",
                f"target {target.id} is being recorded"
                + (f" as {running.info.run}" if running is not None else ""),
                "stop that run first",
            )
        self._starting.add(target.id)
        try:
            recording, manifest = await self._create(target, request)
        finally:
            self._starting.discard(target.id)
        recording.last_frame_s = self._clock()
        self._active[target.id] = recording
        # Nothing is awaited in between, so history and later frames join without a gap.
        past = self._history.get(target.id).frames
        try:
            ending = await asyncio.to_thread(write_start, recording, manifest, past, request.past_s)
        except OSError as error:
            self._active.pop(target.id)
            raise self._discard(recording, error) from None
        ending = ending or recording.accept_frames()
        self._count_start(recording)
        self._saver.seal_full_parts(recording)
        self._changed()
        if ending is not None:
            return await self._end(recording, ending)
        await self._saver.save(recording)
        return await asyncio.to_thread(
            lambda: self.current_manifest(recording.folder, recording.folder.read_manifest())
        )

    async def stop(self, run_id: str) -> RunManifest:
        """End a run.

        Raises:
            ProblemError: the run is unknown, or not being recorded.
        """
        recording = self.recording(run_id)
        if recording is not None:
            await recording.started.wait()
        if recording is None or recording.ending is not None:
            self._directory.folder(run_id)
            raise refusal(
                "not-recording", f"run {run_id} is not being recorded", "it has ended already"
            )
        host = self._registry.host(recording.target.host)
        connected = host is not None and host.connected
        return await self._end(recording, ending_on_request(recording, connected, _STOPPED))

    def start(self) -> None:
        """Recover the runs that an earlier backend left unfinished, and start checking runs."""
        for path in self._directory.all():
            try:
                self.recover(RunFolder(path))
            except (OSError, ValueError) as error:
                _log.warning("%s is not recovered: %s", path.name, damage_text(error))
        self.watch()

    def watch(self) -> None:
        """Start checking runs, without recovering any."""
        self._watch = asyncio.create_task(self._watch_runs())

    async def close(self) -> None:
        """End all runs in a way that the next backend can resume."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self.wait_saved()
        for recording in list(self._active.values()):
            with suppress(TimeoutError):
                async with asyncio.timeout(START_SECONDS):
                    await recording.started.wait()
            if recording.ending is not None:
                continue  # It could not be started.
            recording.end(_BACKEND_ENDS)
            await self._saver.save(recording)
            recording.lock.release()
        self._active.clear()

    async def _create(
        self, target: Target, request: RecordRequest
    ) -> tuple[Recording, RunManifest]:
        directory = self._directory.make()
        host = self._registry.host(target.host)
        if host is None:
            raise refusal("unknown-host", f"host {target.host} is not known", "attach again")
        try:
            return await asyncio.to_thread(
                create_recording, directory, host, target, request, self._limits
            )
        except OSError as error:
            raise unwritable(directory, error) from None

    async def _record_past(self, target: Target, request: RecordRequest) -> RunManifest:
        past = self._history.get(target.id).frames
        if not past or not request.past_s:
            raise refusal(
                "bad-request",
                "there is nothing to record: "
                + (
                    "no past of the target is stored"
                    if request.past_s
                    else "its past is not included"
                ),
                "record from now on, or include some of the past",
            )
        recording, manifest = await self._create(target, request)
        try:
            ending = await asyncio.to_thread(write_start, recording, manifest, past, request.past_s)
        except OSError as error:
            raise self._discard(recording, error) from None
        self._count_start(recording)
        if ending is None or ending.end not in WRITE_FAILURES:
            ending = Ending("flight-recorder", "complete", "Only the past was recorded.")
        return await self._end(recording, ending)

    def _discard(self, recording: Recording, error: OSError) -> Exception:
        recording.end(write_failure(error))
        # A pending request to stop it fails: the run is gone.
        recording.started.set()
        recording.lock.release()
        discard(recording.folder)
        return unwritable(recording.folder.path.parent, error)

    def _count_start(self, recording: Recording) -> None:
        self.frames += recording.stats.counts.frames
        self.frame_bytes += recording.written_bytes

    def recover(self, folder: RunFolder) -> None:
        """Resume or finish a run that an earlier backend left unfinished; else do nothing.

        Raises:
            OSError: it cannot be read or written.
            ValueError: its manifest is invalid.
        """
        manifest = folder.read_manifest()
        unfinished = is_unfinished(folder, manifest)
        unsealed = bool(folder.open_parts()) or not folder.threads.exists()
        if not unfinished and not unsealed:
            return
        lock = RunLock.acquire(folder)
        if lock is None:
            return  # Another backend records it.
        if not unfinished:
            self._saver.seal_ended(folder, lock)
            return
        recording, ending = recover_recording(folder, lock, manifest, self._limits)
        recording.last_frame_s = self._clock()
        if ending is not None or recording.target.id in self._active:
            self._end_soon(recording, ending or ending_on_request(recording, False, _STOPPED))
        else:
            self._active[recording.target.id] = recording
            recording.accept_frames()
            # Truncated bytes are counted nowhere else.
            self._spawn(self._saver.save(recording))

    async def _watch_runs(self) -> None:
        interval_s = self._timeouts.check_interval_s
        checks, between = 0, max(1, round(self._timeouts.manifest_interval_s / interval_s))
        while True:
            await asyncio.sleep(interval_s)
            checks += 1
            try:
                await self.check_runs(save=checks % between == 0)
            except Exception:
                # A failure with one run must not end the checks of the others.
                _log.exception("checking runs failed")

    async def check_runs(self, save: bool) -> None:
        """End runs that are over, and sync what was recorded to disk.

        Args:
            save: write manifests, too.
        """
        for recording in list(self._active.values()):
            await self._check(recording, save)
        await self._saver.retry()

    async def wait_saved(self) -> None:
        """Wait until the manifests of ended runs are written."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _check(self, recording: Recording, save: bool) -> None:
        if not recording.started.is_set() or recording.ending is not None:
            return
        target = self._registry.target(recording.target.id)
        if target is not None and not recording.awaiting_resume:
            recording.target = target
        sampled = target is not None and target.state == "attached"
        if not sampled and recording.target_lost_s is None:
            recording.target_lost_s = self._clock()
        host = self._registry.host(recording.target.host)
        ending = ending_by_timeout(recording, self._clock(), target, host, self._timeouts)
        if ending is None:
            ending = await recording.sync()
        if ending is not None and recording.ending is None:
            await self._end(recording, ending)
        elif save and not recording.awaiting_resume:
            await self._saver.save(recording)

    def _end_soon(self, recording: Recording, ending: Ending) -> None:
        self._detach(recording, ending)
        self._spawn(self._finalise(recording))

    async def _end(self, recording: Recording, ending: Ending) -> RunManifest:
        self._detach(recording, ending)
        return await self._finalise(recording)

    def _detach(self, recording: Recording, ending: Ending) -> None:
        if self._active.get(recording.target.id) is recording:
            del self._active[recording.target.id]
        recording.end(ending)
        self._saver.ended(recording)
        self.refused += ending.end in WRITE_FAILURES
        _log.info("%s has ended: %s", recording.info.run, ending.why)

    async def _finalise(self, recording: Recording) -> RunManifest:
        """Write the manifest of an ended run, and have its last part and thread table made."""
        try:
            return await self._saver.save(recording)
        finally:
            self._changed()
            self._saver.seal_ended(recording.folder, recording.lock)

    def _spawn(self, work: Coroutine[None, None, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
