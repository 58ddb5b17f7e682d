"""Records targets: begins runs, gives them their frames, and ends them."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

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

from tidscope_backend.problems import refusal
from tidscope_backend.recording.new_run import discard, new_recording
from tidscope_backend.recording.opening import opening
from tidscope_backend.recording.part_sealer import PartSealer
from tidscope_backend.recording.recording import Ending, PartLimits, Recording, refused
from tidscope_backend.recording.recovery import recovered, was_cut_short
from tidscope_backend.recording.timeouts import RecordingTimeouts, at_request, due
from tidscope_backend.site import Site
from tidscope_backend.store.directory import RunsDirectory
from tidscope_backend.store.errors import damage_text, unwritable
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.lock import RunLock
from tidscope_backend.store.manifests import ManifestWriter, with_bytes
from tidscope_backend.store.open_part import sync
from tidscope_backend.stream.store import HistoryStore
from tidscope_backend.stream.stored import StoredFrame

_log = logging.getLogger(__name__)
BEGIN_SECONDS = 2.0
"""What a run that begins is given to do so when the backend ends."""
_STOPPED = Ending("stopped", "complete", "It was stopped.")
_BACKEND_ENDS = Ending(
    "backend-lost",
    "interrupted",
    "The backend was ended while it recorded. If it starts again before the collector ends, "
    "the run goes on.",
)


@dataclass
class Recorder:
    """All runs that are being recorded, one a target.

    Args:
        directory: of the runs.
        site: hosts and targets.
        store: what is kept of each target's past.
        manifests: changes them.
        sealer: seals their parts.
        clock: seconds, monotonic.
        changed: called when a run begins or ends.
        limits: of their parts.
        timeouts: how long is waited for what.

    Attributes:
        frames: frames written since the backend started.
        frame_bytes: their bytes.
        refused: frames that could not be written.
    """

    directory: RunsDirectory
    site: Site
    store: HistoryStore
    manifests: ManifestWriter
    sealer: PartSealer
    clock: Callable[[], float]
    changed: Callable[[], None]
    limits: PartLimits = field(default_factory=PartLimits)
    timeouts: RecordingTimeouts = field(default_factory=RecordingTimeouts)
    frames: int = 0
    frame_bytes: int = 0
    refused: int = 0
    _active: dict[str, Recording] = field(default_factory=dict)
    _beginning: set[str] = field(default_factory=set)
    _unsaved: dict[str, Recording] = field(default_factory=dict)
    _tasks: set[asyncio.Task[object]] = field(default_factory=set)
    _watch: asyncio.Task[None] | None = None

    @property
    def recordings(self) -> list[RecordingInfo]:
        """What pages are told."""
        return [recording.info for recording in self._active.values()]

    def is_recording(self, run_id: str) -> bool:
        """Whether the run is being recorded here."""
        return self.recording(run_id) is not None

    def recording(self, run_id: str) -> Recording | None:
        """The run, if it is being recorded here."""
        return next((one for one in list(self._active.values()) if one.info.run == run_id), None)

    def current_manifest(self, folder: RunFolder, manifest: RunManifest) -> RunManifest:
        """A manifest as it would be written now. May run in another thread."""
        recording = self.recording(manifest.id) or self._unsaved.get(manifest.id)
        if recording is None:
            return manifest
        return with_bytes(folder, manifest.model_copy(update=recording.facts()))

    def receive(self, frame: StoredFrame, header: FrameHeader) -> None:
        """A frame has come that had not come before."""
        recording = self._active.get(frame.target)
        if recording is None:
            return
        recording.heard_s = self.clock()
        waited, before = recording.waiting, recording.stats.counts.frames
        ending = recording.offer(frame, header)
        if recording.stats.counts.frames > before:
            self.frames += 1
            self.frame_bytes += len(frame.data)
        self._seal_full_parts(recording)
        if ending is not None:
            self._end_soon(recording, ending)
        elif waited and not recording.waiting:
            _log.info("%s goes on", recording.info.run)
            self._spawn(self._save(recording))

    def rename(self, run_id: str, name: str | None) -> None:
        """People call a run otherwise; None: they do not."""
        recording = self.recording(run_id)
        if recording is not None and name is not None:
            recording.info = recording.info.model_copy(update={"name": name})
            self.changed()

    def frames_lost(self, lost: FramesLost) -> None:
        """The collector could not keep these frames."""
        recording = self._active.get(lost.target)
        if recording is not None:
            recording.stats.announce_lost(lost.to_seq)

    async def record(self, request: RecordRequest) -> RunManifest:
        """Record a target from now on, or from some of its past, or that alone.

        Raises:
            ProblemError: it is unknown, has ended, is being recorded, or nothing can be written.
        """
        target = self.site.known(request.target)
        if request.duration_s == 0:
            return await self._record_past(target, request)
        self.site.attached(target.id)
        taken = self._active.get(target.id)
        if taken is not None or target.id in self._beginning:
            raise refusal(
                "already-recording",
                f"target {target.id} is being recorded"
                + (f" as {taken.info.run}" if taken is not None else ""),
                "stop that run first",
            )
        self._beginning.add(target.id)
        try:
            recording, manifest = await self._made(target, request)
        finally:
            self._beginning.discard(target.id)
        recording.heard_s = self.clock()
        self._active[target.id] = recording
        # No frame comes between: what is kept up to here, and what comes from here on, is all.
        kept = self.store.get(target.id).frames
        try:
            ending = await asyncio.to_thread(_begin, recording, manifest, kept, request.past_s)
        except OSError as error:
            self._active.pop(target.id)
            raise self._not_begun(recording, error) from None
        ending = ending or recording.flow()
        self._count_begun(recording)
        self._seal_full_parts(recording)
        self.changed()
        if ending is not None:
            return await self._end(recording, ending)
        await self._save(recording)
        return await asyncio.to_thread(
            lambda: self.current_manifest(recording.folder, recording.folder.read_manifest())
        )

    async def stop(self, run_id: str) -> RunManifest:
        """End a run.

        Raises:
            ProblemError: it is unknown, or not being recorded.
        """
        recording = self.recording(run_id)
        if recording is not None:
            await recording.ready.wait()
        if recording is None or recording.ending is not None:
            self.directory.folder(run_id)
            raise refusal(
                "not-recording", f"run {run_id} is not being recorded", "it has ended already"
            )
        host = self.site.host(recording.target.host)
        connected = host is not None and host.connected
        return await self._end(recording, at_request(recording, connected, _STOPPED))

    def start(self) -> None:
        """Take up what an earlier backend left, and begin to look after runs."""
        for path in self.directory.all():
            try:
                self.recover(RunFolder(path))
            except (OSError, ValueError) as error:
                _log.warning("%s is left alone: %s", path.name, damage_text(error))
        self._watch = asyncio.create_task(self._watch_runs())

    async def close(self) -> None:
        """Leave all runs so that the next backend can take them up."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self.wait_saved()
        for recording in list(self._active.values()):
            with suppress(TimeoutError):
                async with asyncio.timeout(BEGIN_SECONDS):
                    await recording.ready.wait()
            if recording.ending is not None:
                continue  # It could not begin.
            recording.finish(_BACKEND_ENDS)
            await self._save(recording)
            recording.lock.release()
        self._active.clear()

    async def _made(self, target: Target, request: RecordRequest) -> tuple[Recording, RunManifest]:
        home = self.directory.make()
        host = self.site.host(target.host)
        if host is None:
            raise refusal("unknown-host", f"host {target.host} is not known", "attach again")
        try:
            return await asyncio.to_thread(new_recording, home, host, target, request, self.limits)
        except OSError as error:
            raise unwritable(home, error) from None

    async def _record_past(self, target: Target, request: RecordRequest) -> RunManifest:
        kept = self.store.get(target.id).frames
        if not kept or not request.past_s:
            raise refusal(
                "bad-request",
                "there is nothing to keep: "
                + ("of the target's past nothing is here" if request.past_s else "past_s is 0"),
                "give past_s, or another duration_s",
            )
        recording, manifest = await self._made(target, request)
        try:
            ending = await asyncio.to_thread(_begin, recording, manifest, kept, request.past_s)
        except OSError as error:
            raise self._not_begun(recording, error) from None
        self._count_begun(recording)
        if ending is None or ending.end != "disk-full":
            ending = Ending("flight-recorder", "complete", "Only the past was recorded.")
        return await self._end(recording, ending)

    def _not_begun(self, recording: Recording, error: OSError) -> Exception:
        recording.finish(refused(error))
        # Who waits to stop it learns that it is not there.
        recording.ready.set()
        recording.lock.release()
        discard(recording.folder)
        return unwritable(recording.folder.path.parent, error)

    def _count_begun(self, recording: Recording) -> None:
        self.frames += recording.stats.counts.frames
        self.frame_bytes += recording.written_bytes

    def recover(self, folder: RunFolder) -> None:
        """Look whether an earlier backend left a run unfinished; go on with it, or finish it.

        Raises:
            OSError: it cannot be read or written.
            ValueError: its manifest is not one.
        """
        manifest = folder.read_manifest()
        cut_short = was_cut_short(folder, manifest)
        unsealed = bool(folder.open_parts()) or not folder.threads.exists()
        if not cut_short and not unsealed:
            return
        lock = RunLock.acquire(folder)
        if lock is None:
            return  # Another backend records it.
        if not cut_short:
            self._seal_ended(folder, lock)
            return
        recording, ending = recovered(folder, lock, manifest, self.limits)
        recording.heard_s = self.clock()
        if ending is not None or recording.target.id in self._active:
            self._end_soon(recording, ending or at_request(recording, False, _STOPPED))
        else:
            self._active[recording.target.id] = recording
            recording.flow()
            # What was cut off is counted in no other place.
            self._spawn(self._save(recording))

    async def _watch_runs(self) -> None:
        looks, between = 0, max(1, round(self.timeouts.manifest / self.timeouts.tick))
        while True:
            await asyncio.sleep(self.timeouts.tick)
            looks += 1
            try:
                await self.check_runs(save=looks % between == 0)
            except Exception:
                # What goes wrong with one run must not leave the others without a look.
                _log.exception("checking runs failed")

    async def check_runs(self, save: bool) -> None:
        """See whether runs end by themselves, and write what is to be on the disk.

        Args:
            save: write manifests too, not what was recorded alone.
        """
        for recording in list(self._active.values()):
            await self._check(recording, save)
        for recording in list(self._unsaved.values()):
            await self._save(recording)

    async def wait_saved(self) -> None:
        """Wait until what ended has its manifest."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _check(self, recording: Recording, save: bool) -> None:
        if not recording.ready.is_set() or recording.ending is not None:
            return
        target = self.site.target(recording.target.id)
        if target is not None and not recording.waiting:
            recording.target = target
        sampled = target is not None and target.state == "attached"
        if not sampled and recording.gone_s is None:
            recording.gone_s = self.clock()
        host = self.site.host(recording.target.host)
        ending = due(recording, self.clock(), target, host, self.timeouts)
        if ending is None:
            ending = await _sync_open_part(recording)
        if ending is not None and recording.ending is None:
            await self._end(recording, ending)
        elif save and not recording.waiting:
            await self._save(recording)

    def _seal_full_parts(self, recording: Recording) -> None:
        for part in recording.full_parts():
            self.sealer.part(recording.folder, part)

    def _end_soon(self, recording: Recording, ending: Ending) -> None:
        self._detach(recording, ending)
        self._spawn(self._finalise(recording))

    async def _end(self, recording: Recording, ending: Ending) -> RunManifest:
        self._detach(recording, ending)
        return await self._finalise(recording)

    def _detach(self, recording: Recording, ending: Ending) -> None:
        if self._active.get(recording.target.id) is recording:
            del self._active[recording.target.id]
        recording.finish(ending)
        self._unsaved[recording.info.run] = recording
        self.refused += ending.end == "disk-full"
        _log.info("%s has ended: %s", recording.info.run, ending.why)

    async def _finalise(self, recording: Recording) -> RunManifest:
        """What follows the end of a run: its manifest, and in time its last part and threads."""
        manifest = await self._save(recording)
        self.changed()
        self._seal_ended(recording.folder, recording.lock)
        return manifest

    def _seal_ended(self, folder: RunFolder, lock: RunLock) -> None:
        """Close what is open of a run, and say then how much room it takes."""

        async def closed() -> None:
            # Unless it was deleted meanwhile.
            with suppress(OSError, ValueError):
                await self.manifests.change(folder, lambda manifest: manifest)
            lock.release()

        self.sealer.ended(folder, closed)

    async def _save(self, recording: Recording) -> RunManifest:
        """Write a run's manifest; it is tried again every second while that fails."""
        facts = recording.facts()

        def change(manifest: RunManifest) -> RunManifest:
            return manifest.model_copy(update=facts)

        try:
            manifest = await self.manifests.change(recording.folder, change)
        except (OSError, ValueError) as error:
            if not recording.unsaved:
                _log.warning("%s: manifest not written: %s", recording.info.run, damage_text(error))
            recording.unsaved = True
            self._unsaved[recording.info.run] = recording
            return change(await asyncio.to_thread(recording.folder.read_manifest))
        recording.unsaved = False
        self._unsaved.pop(recording.info.run, None)
        return manifest

    def _spawn(self, work: Coroutine[None, None, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _begin(
    recording: Recording,
    manifest: RunManifest,
    kept: Sequence[StoredFrame],
    past_s: float | None,
) -> Ending | None:
    """Write what a run begins with. Raises OSError: nothing of it is of use then."""
    recording.folder.write_manifest(manifest)
    return recording.begin(opening(kept, int((past_s or 0) * 1e9)))


async def _sync_open_part(recording: Recording) -> Ending | None:
    """See what was written on the disk."""
    descriptor = recording.second()
    if descriptor is None:
        return None
    try:
        await asyncio.to_thread(sync, descriptor)
    except OSError as error:
        return refused(error)
    return None
