"""The active recordings, and their ends: closed when all data arrived, then finalised."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.recording.closing import RunCloser
from tidscope_backend.recording.endings import (
    BACKEND_ENDS,
    COLLECTOR_ENDS,
    TIME_OVER,
    WRITE_FAILURES,
    Ending,
)
from tidscope_backend.recording.part_sealer import RunSaver
from tidscope_backend.recording.recording import Recording
from tidscope_backend.store.disk import Disk

_log = logging.getLogger(__name__)
START_SECONDS = 2.0
"""Maximum time that a stopping backend waits for a run that is starting, in seconds."""


class ActiveRuns:
    """All active recordings, at most one per target; ends them.

    Args:
        closer: determines how runs end that are being closed.
        saver: writes manifests and has parts sealed.
        disk: threads in which files are accessed.
        changed: called when a run has ended.

    Attributes:
        by_target: active recording of each target, by target ID.
        refused: number of runs that ended because a frame could not be written.
    """

    def __init__(
        self, closer: RunCloser, saver: RunSaver, disk: Disk, changed: Callable[[], None]
    ) -> None:
        self.by_target: dict[str, Recording] = {}
        self.refused = 0
        self._ended_lost = 0
        self._closer = closer
        self._saver = saver
        self._disk = disk
        self._changed = changed
        self._tasks: set[asyncio.Task[None] | asyncio.Task[object]] = set()

    @property
    def lost(self) -> int:
        """Frames missing in the runs recorded since the backend started."""
        active = sum(one.stats.losses.frames for one in self.by_target.values())
        return self._ended_lost + active

    def of_run(self, run_id: str) -> Recording | None:
        """Return the active recording of a run, or None. Thread-safe."""
        return next((one for one in list(self.by_target.values()) if one.info.run == run_id), None)

    def close(
        self, recording: Recording, wanted: Ending, last: int | None = None
    ) -> asyncio.Task[None]:
        """End a run after all its data arrived, or with the data that did."""
        if recording.closing is None:
            recording.closing = asyncio.create_task(self._settle(recording, wanted, last))
            self.keep(recording.closing)
        return recording.closing

    async def _settle(self, recording: Recording, wanted: Ending, last: int | None) -> None:
        ending = await self._closer.settle(recording, wanted, last)
        if recording.ending is None:
            await self.end(recording, ending)

    def end_by(self, recording: Recording, ending: Ending) -> None:
        """End a run because of a final frame or a failed write."""
        if ending is TIME_OVER:
            self.close(recording, ending)
        else:
            self.end_soon(recording, ending)

    def end_soon(self, recording: Recording, ending: Ending) -> None:
        """End a run now; its manifest is written in the background."""
        self._detach(recording, ending)
        self.spawn(self._finalise(recording, ending))

    async def end(self, recording: Recording, ending: Ending) -> RunManifest:
        """End a run now, and return its manifest once it is written."""
        self._detach(recording, ending)
        return await self._finalise(recording, ending)

    def _detach(self, recording: Recording, ending: Ending) -> None:
        if self.by_target.get(recording.target.id) is recording:
            del self.by_target[recording.target.id]
        recording.ending = ending
        recording.reached.set()
        self._saver.ended(recording)
        self.refused += ending.end in WRITE_FAILURES
        _log.info("%s has ended: %s", recording.info.run, ending.why)

    async def _finalise(self, recording: Recording, ending: Ending) -> RunManifest:
        """Write the manifest of an ended run, and have its last part and thread table made."""
        known = recording.stats.losses.frames
        self._ended_lost += known
        await self._disk.record(recording.end, ending)
        self._ended_lost += recording.stats.losses.frames - known
        try:
            return await self._saver.save(recording)
        finally:
            recording.finalised.set()
            self._changed()
            self._saver.seal_ended(recording.folder, recording.lock)

    def spawn(self, work: Coroutine[None, None, object]) -> None:
        """Run work in the background; `wait_saved` waits for it."""
        self.keep(asyncio.create_task(work))

    def keep(self, task: asyncio.Task[None] | asyncio.Task[object]) -> None:
        """Hold a task until it is done; `wait_saved` waits for it."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait_saved(self) -> None:
        """Wait until the manifests of ended runs are written."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def suspend(self) -> None:
        """End all runs such that the next backend can resume them."""
        await self.wait_saved()
        for recording in list(self.by_target.values()):
            with suppress(TimeoutError):
                async with asyncio.timeout(START_SECONDS):
                    await recording.started.wait()
            if recording.ending is not None:
                continue  # The run could not be started.
            recording.ending = BACKEND_ENDS
            await self._disk.record(recording.end, BACKEND_ENDS)
            await self._saver.save(recording)
            await self._disk.write(recording.lock.release)
        self.by_target.clear()

    def collector_ends(self, last: Mapping[str, int]) -> None:
        """Close the runs of a collector that stops sampling.

        Args:
            last: number of the last frame of each target.
        """
        for recording in list(self.by_target.values()):
            seq = last.get(recording.target.id)
            if seq is None or recording.awaiting_resume:
                continue
            if recording.closing is None:
                self.close(recording, COLLECTOR_ENDS, seq)
            elif recording.close_seq is None:
                recording.close_at(seq)
