"""All stored runs: list, read, change, delete, restore and apply retention; and run events."""

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Protocol

from tidscope_wire.frame import FrameError, split
from tidscope_wire.generated.models import (
    Retention,
    RunEvent,
    RunEventsResponse,
    RunManifest,
    RunPatch,
    RunsResponse,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.problems import refusal

from tidscope_backend.store.directory import (
    ManifestWriter,
    RunsDirectory,
    delete_run,
    purge_trash,
    restore_run,
)
from tidscope_backend.store.disk import Disk, damage_text, unwritable
from tidscope_backend.store.folder import RunFolder, RunLock
from tidscope_backend.store.frame_files import whole_frames
from tidscope_backend.store.index import RunIndex, runs_to_delete
from tidscope_backend.store.reader import RunReader

CLEAN_UP_SECONDS = 60.0

_log = logging.getLogger(__name__)


class ActiveRuns(Protocol):
    """Interface of the recorder, which knows the active recordings."""

    def is_recording(self, run_id: str) -> bool:
        """Return True if the run is being recorded by this backend."""
        ...

    def current_manifest(self, folder: RunFolder, manifest: RunManifest) -> RunManifest:
        """Return the current manifest of an active recording. Called from other threads."""
        ...

    async def saved(self, run_id: str) -> None:
        """Wait until the manifest of a run that has just ended is on disk."""
        ...

    def rename(self, run_id: str, name: str | None) -> None:
        """Set the name of a run; None leaves it unchanged."""
        ...

    async def recover(self, folder: RunFolder) -> None:
        """Resume or finish a run that an earlier backend left unfinished."""
        ...


class RunStore:
    """All runs, including active recordings.

    Args:
        directory: directory of the runs.
        active: the active recordings.
        manifests: writes manifests.
        retention: bounds of automatic deletion.
        disk: threads in which files are accessed.
    """

    def __init__(
        self,
        directory: RunsDirectory,
        active: ActiveRuns,
        manifests: ManifestWriter,
        retention: Retention,
        disk: Disk,
    ) -> None:
        self._disk = disk
        self._directory = directory
        self._active = active
        self._manifests = manifests
        self._retention = retention
        self._index = RunIndex(directory, active.current_manifest)
        self._cleaning: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the periodic clean-up."""
        self._cleaning = asyncio.create_task(self._clean_up())

    async def close(self) -> None:
        """Stop the periodic clean-up."""
        if self._cleaning is not None:
            self._cleaning.cancel()
            await asyncio.gather(self._cleaning, return_exceptions=True)

    async def runs(self) -> RunsResponse:
        """List all runs."""
        return await self._disk.read(self._index.runs, self._retention)

    async def manifest(self, run_id: str) -> RunManifest:
        """Read a manifest. Raises ProblemError if the run is unknown or damaged."""
        return await self._disk.read(self._manifest, run_id)

    def _manifest(self, run_id: str) -> RunManifest:
        return self._index.manifest(self._directory.folder(run_id))

    async def events(self, run_id: str) -> RunEventsResponse:
        """Read the events of a run. Raises as `manifest`."""
        folder = await self._disk.read(self._directory.folder, run_id)
        try:
            return await self._disk.read(run_events, folder)
        except (OSError, ValueError) as error:
            raise refusal(
                "bad-run",
                f"the events of {run_id} cannot be read: {damage_text(error)}",
                "see its folder",
            ) from None

    def reader(self, run_id: str) -> RunReader:
        """Open a run for reading. Blocks: not for the event loop. Raises as `manifest`."""
        folder = self._directory.folder(run_id)
        self._index.manifest(folder)
        try:
            return RunReader(folder.path)
        except (OSError, ValueError) as error:
            raise refusal(
                "bad-run", f"run {run_id} cannot be read: {damage_text(error)}", "see its folder"
            ) from None

    async def patch(self, run_id: str, patch: RunPatch) -> RunManifest:
        """Change name, tags, notes, group, marks or outcome of a run.

        Raises:
            ProblemError: the run does not exist, or cannot be read or written.
        """
        folder = await self._disk.read(self._directory.folder, run_id)
        await self._disk.read(self._index.manifest, folder)
        given = {name: getattr(patch, name) for name in patch.model_fields_set}
        # Only the group and the outcome can be unset.
        update = {k: v for k, v in given.items() if v is not None or k in ("group", "outcome")}
        if "marks" in update:
            update["marks"] = sorted(update["marks"], key=lambda mark: mark.time_ns)
        await self._active.saved(run_id)
        try:
            await self._manifests.update(
                folder, lambda manifest: manifest.model_copy(update=update)
            )
        except OSError as error:
            raise unwritable(folder.path, error) from None
        self._active.rename(run_id, patch.name)
        return await self._disk.read(self._index.manifest, folder)

    async def delete(self, run_id: str) -> None:
        """Move a run to the trash.

        Raises:
            ProblemError: the run does not exist, is being recorded, or cannot be moved.
        """
        folder = await self._disk.read(self._directory.folder, run_id)
        if self._active.is_recording(run_id) or await self._disk.read(_is_locked, folder):
            raise refusal(
                "already-recording", f"run {run_id} is being recorded", "stop it, then delete it"
            )
        try:
            await self._disk.write(delete_run, folder, time.time())
        except OSError as error:
            raise unwritable(folder.path, error) from None

    async def restore(self, run_id: str) -> RunManifest:
        """Move a run back from the trash.

        Raises:
            ProblemError: the run does not exist, or cannot be moved.
        """
        try:
            folder = await self._disk.write(restore_run, self._directory, run_id)
        except OSError as error:
            raise unwritable(await self._disk.write(self._directory.make), error) from None
        try:
            # The recorder may have ended before it closed the last parts.
            await self._active.recover(folder)
        except (OSError, ValueError) as error:
            _log.warning("%s: %s", run_id, damage_text(error))
        return await self._disk.read(self._index.manifest, folder)

    async def clean_up(self) -> None:
        """Purge the trash, and delete runs by retention."""
        now = time.time()
        for path in await self._disk.write(purge_trash, self._directory, now):
            _log.info("%s was in the trash and is now removed", path.name)
        if self._retention.max_age_s is None and self._retention.max_bytes is None:
            return
        candidates = await self._disk.read(self._index.retention_candidates)
        for run_id in runs_to_delete(candidates, self._retention, now):
            _log.info("%s is deleted by retention; it can be restored for an hour", run_id)
            await self.delete(run_id)

    async def _clean_up(self) -> None:
        while True:
            try:
                await self.clean_up()
            except Exception:
                # One failure must not end the clean-up.
                _log.exception("clean-up of runs failed")
            await asyncio.sleep(CLEAN_UP_SECONDS)


def _is_locked(folder: RunFolder) -> bool:
    """Return True if another process records a run."""
    try:
        recording = folder.read_manifest().state == "recording"
    except (OSError, ValueError):
        return False  # A damaged run may be deleted.
    if not recording:
        return False
    lock = RunLock.acquire(folder)
    if lock is not None:
        lock.release()
    return lock is None


MAX_EVENTS = 5000
_OF_THREADS = b'"type":"thread_'
_TYPE_WITHIN = 200


def run_events(folder: RunFolder, most: int = MAX_EVENTS) -> RunEventsResponse:
    """Read events; beyond the limit, events of threads are omitted first.

    Args:
        folder: folder of the run; closed and open parts are read.
        most: maximum number of events.

    Raises:
        OSError: the run cannot be read.
        ValueError: a line is not an event.
    """
    others: list[RunEvent | bytes] = []
    threads: list[RunEvent | bytes] = []
    total = 0
    for event in _all(folder):
        total += 1
        kept = threads if _of_threads(event) else others
        if len(kept) < most:
            kept.append(event)
    chosen = [*others, *threads[: most - len(others)]]
    events = [
        RunEvent.model_validate_json(event) if isinstance(event, bytes) else event
        for event in chosen
    ]
    events.sort(key=lambda event: event.seq)
    return RunEventsResponse(events=events, omitted=total - len(events))


def _of_threads(event: RunEvent | bytes) -> bool:
    if isinstance(event, bytes):
        return _OF_THREADS in event[:_TYPE_WITHIN]
    return isinstance(event.event, ThreadBorn | ThreadRenamed | ThreadExited)


def _all(folder: RunFolder) -> Iterator[RunEvent | bytes]:
    opened = folder.open_parts()
    for part in sorted({*folder.sealed_parts(), *opened}):
        if part in opened:
            try:
                data = folder.open_part(part).read_bytes()
            except FileNotFoundError:
                pass  # The part was sealed meanwhile.
            else:
                yield from _of_frames(data)
                continue
        with folder.events(part).open("rb") as lines:
            yield from lines


def _of_frames(data: bytes) -> Iterator[RunEvent]:
    for frame in whole_frames(data):
        try:
            header, _ = split(frame)
        except FrameError:
            continue
        event: TargetEvent
        for event in header.events:
            yield RunEvent(
                seq=header.seq, time_ns=header.time_ns, unix_us=header.unix_us, event=event
            )
