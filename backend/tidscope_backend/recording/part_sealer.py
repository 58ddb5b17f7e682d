"""Manifests and parts of runs, written in sequence; each part is sealed in a separate process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.background_programs import run_in_background
from tidscope_backend.processes import is_exhausted, run_module
from tidscope_backend.recording.recording import Recording
from tidscope_backend.store.directory import ManifestWriter
from tidscope_backend.store.disk import Disk, damage_text
from tidscope_backend.store.folder import RunFolder, RunLock

SEALING_PROGRAM = "tidscope_backend.recording.sealing"
SEAL_TIMEOUT_SECONDS = 600.0
RETRY_SECONDS = 1.0

_log = logging.getLogger(__name__)


class _Job(NamedTuple):
    """A part to seal; with `done`, all open parts of an ended run and its thread table."""

    folder: RunFolder
    part: int | None
    done: Callable[[], Awaitable[None]] | None


async def seal_in_process(folder: RunFolder, part: int | None) -> None:
    """Seal a part, or with None write the thread table of an ended run.

    Raises:
        ProgramFailedError: sealing failed; the part's frames are kept.
        OSError: the process cannot be started.
    """
    arguments = [str(folder.path), *([] if part is None else [str(part)])]
    await run_in_background(run_module(SEALING_PROGRAM, *arguments), SEAL_TIMEOUT_SECONDS)


class PartSealer:
    """Queue of parts to seal. A failed part is logged and stays readable as frames.

    Args:
        disk: threads in which parts to seal are searched.
        seal: seals one part; with None as the number, writes the thread table.
    """

    def __init__(
        self,
        disk: Disk,
        seal: Callable[[RunFolder, int | None], Awaitable[None]] = seal_in_process,
    ) -> None:
        self._disk = disk
        self._seal = seal
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to work through the queue."""
        self._worker = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Stop; parts not sealed yet are left to the next start."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    def part(self, folder: RunFolder, part: int) -> None:
        """Queue a part."""
        self._jobs.put_nowait(_Job(folder, part, None))

    def ended(self, folder: RunFolder, done: Callable[[], Awaitable[None]]) -> None:
        """Queue the open parts of an ended run, and its thread table.

        Args:
            folder: folder of the run.
            done: called when all of the run's parts are sealed or have failed.
        """
        self._jobs.put_nowait(_Job(folder, None, done))

    async def idle(self) -> None:
        """Wait until the queue is empty."""
        await self._jobs.join()

    async def _work(self) -> None:
        while True:
            job = await self._jobs.get()
            try:
                await self._run(job)
            except Exception:
                _log.exception("%s is not sealed", job.folder.path.name)
            finally:
                self._jobs.task_done()

    async def _run(self, job: _Job) -> None:
        if job.done is None:
            await self._try(job.folder, job.part)
            return
        try:
            for part in await self._disk.read(job.folder.open_parts):
                await self._try(job.folder, part)
            await self._try(job.folder, None)
        finally:
            await job.done()

    async def _try(self, folder: RunFolder, part: int | None) -> None:
        """Seal a part; after any failure the queue continues and waiting callers are released."""
        # A part may be queued twice, or its run may be deleted meanwhile.
        wanted = folder.open_part(part) if part is not None else folder.manifest
        try:
            while await self._disk.read(wanted.exists):
                try:
                    await self._seal(folder, part)
                except OSError as error:
                    if not is_exhausted(error):
                        raise
                    # Sealing starts a process, which needs file descriptors.
                    await asyncio.sleep(RETRY_SECONDS)
                else:
                    break
        except Exception as error:
            what = "threads" if part is None else f"part {part}"
            _log.warning("%s: %s not sealed: %s", folder.path.name, what, error)


class RunSaver:
    """Writes manifests, with retries, and has parts sealed.

    Args:
        manifests: writes manifests.
        sealer: seals parts.
        disk: executor of the recording thread, which knows the written data.
    """

    def __init__(self, manifests: ManifestWriter, sealer: PartSealer, disk: Disk) -> None:
        self._disk = disk
        self._manifests = manifests
        self._sealer = sealer
        self._unsaved: dict[str, Recording] = {}

    def unsaved(self, run_id: str) -> Recording | None:
        """Return the recording of an ended run whose manifest on disk does not show the end."""
        return self._unsaved.get(run_id)

    def ended(self, recording: Recording) -> None:
        """Mark an ended run as having an unsaved manifest."""
        self._unsaved[recording.info.run] = recording

    async def save(self, recording: Recording) -> RunManifest:
        """Write a run's manifest; `retry` repeats a failed write."""
        fields: dict[str, object] = {}

        def change(manifest: RunManifest) -> RunManifest:
            return manifest.model_copy(update=fields)

        try:
            fields = await self._disk.record(recording.synced_fields)
            manifest = await self._manifests.update(recording.folder, change)
        except (OSError, ValueError) as error:
            if not recording.manifest_failed:
                _log.warning("%s: manifest not written: %s", recording.info.run, damage_text(error))
            recording.manifest_failed = True
            self._unsaved[recording.info.run] = recording
            fields = recording.manifest_fields()
            return change(await self._disk.read(recording.folder.read_manifest))
        recording.manifest_failed = False
        self._unsaved.pop(recording.info.run, None)
        return manifest

    async def retry(self) -> None:
        """Write the manifests whose earlier write failed."""
        for recording in list(self._unsaved.values()):
            await self.save(recording)

    def seal_full_parts(self, recording: Recording) -> None:
        """Have full parts sealed."""
        while recording.full_parts:
            self._sealer.part(recording.folder, recording.full_parts.popleft())

    def seal_ended(self, folder: RunFolder, lock: RunLock) -> None:
        """Have all parts of an ended run sealed, count the run's bytes and release its lock."""

        async def sealed() -> None:
            # The run may be deleted meanwhile.
            with suppress(OSError, ValueError):
                await self._manifests.update(folder, lambda manifest: manifest)
            await self._disk.write(lock.release)

        self._sealer.ended(folder, sealed)
