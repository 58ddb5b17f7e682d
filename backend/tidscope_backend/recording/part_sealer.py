"""Seals parts of runs one after the other, each in a process of its own."""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from tidscope_backend.parent_death import bound_to_parent
from tidscope_backend.store.folder import RunFolder

CLOSING = "tidscope_backend.recording.sealing"
LOWEST_PRIORITY = 19
SEAL_TIMEOUT_SECONDS = 600.0

_log = logging.getLogger(__name__)


class SealingError(Exception):
    """A part could not be closed; its frames are there still."""


class _Job(NamedTuple):
    folder: RunFolder
    part: int | None
    done: Callable[[], Awaitable[None]] | None


async def seal_in_process(folder: RunFolder, part: int | None) -> None:
    """Close a part, or with None make the table of threads of a run that has ended.

    Raises:
        SealingError: that failed.
        OSError: the process cannot be started.
    """
    arguments = [str(folder.path), *([] if part is None else [str(part)])]
    process = await asyncio.create_subprocess_exec(
        *bound_to_parent([sys.executable, "-m", CLOSING, *arguments]),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")},
    )
    try:
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, process.pid, LOWEST_PRIORITY)
        async with asyncio.timeout(SEAL_TIMEOUT_SECONDS):
            _, said = await process.communicate()
    except TimeoutError:
        raise SealingError(f"it took longer than {SEAL_TIMEOUT_SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise SealingError(said.decode(errors="replace").strip().rpartition("\n")[2])


class PartSealer:
    """A queue of parts. What fails is logged and stays frames, which can be read as well.

    Args:
        close: seals one part; None as its number makes the table of threads.
    """

    def __init__(
        self, close: Callable[[RunFolder, int | None], Awaitable[None]] = seal_in_process
    ) -> None:
        self._close = close
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to work."""
        self._worker = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """Leave what is not sealed yet to the next start."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    def part(self, folder: RunFolder, part: int) -> None:
        """Close a part."""
        self._jobs.put_nowait(_Job(folder, part, None))

    def ended(self, folder: RunFolder, done: Callable[[], Awaitable[None]]) -> None:
        """Close what is open of a run that has ended, and make its table of threads.

        Args:
            folder: of the run.
            done: called when that is done, or has failed.
        """
        for part in folder.open_parts():
            self.part(folder, part)
        self._jobs.put_nowait(_Job(folder, None, done))

    async def idle(self) -> None:
        """Wait until nothing is to be closed."""
        await self._jobs.join()

    async def _work(self) -> None:
        while True:
            job = await self._jobs.get()
            try:
                await self._do(job)
            except (SealingError, OSError, ValueError) as error:
                what = "threads" if job.part is None else f"part {job.part}"
                _log.warning("%s: %s not sealed: %s", job.folder.path.name, what, error)
            finally:
                self._jobs.task_done()

    async def _do(self, job: _Job) -> None:
        try:
            # A part may be queued twice, and a run deleted meanwhile.
            wanted = job.folder.open_part(job.part) if job.part is not None else job.folder.manifest
            if wanted.exists():
                await self._close(job.folder, job.part)
        finally:
            if job.done is not None:
                await job.done()
