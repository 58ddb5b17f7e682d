"""Threads for all file access of runs, so that a hanging disk blocks nothing else.

Neither the event loop nor its default thread pool touches these files. Reading, writing and
recording use separate threads: a file system that blocks writes can still be read.
"""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Generic, ParamSpec, TypeVar

from pydantic import ValidationError
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.processes import is_exhausted
from tidscope_backend.text import validation_text

P = ParamSpec("P")
R = TypeVar("R")
READERS = 8
WRITERS = 6
ABANDONED_SECONDS = 30
"""Maximum wait for an abandoned read to end, in seconds; the disk may hang."""


class Disk:
    """Executor of work on files.

    Args:
        prepare: called first in each thread: file credentials are per thread.
    """

    def __init__(self, prepare: Callable[[], None] | None = None) -> None:
        def pool(threads: int, name: str) -> ThreadPoolExecutor:
            return ThreadPoolExecutor(threads, name, initializer=prepare)

        self._readers = pool(READERS, "disk-reader")
        self._writers = pool(WRITERS, "disk-writer")
        self._recorder = pool(1, "run-recorder")
        self._reading = 0
        self._read = False

    async def read(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Run read-only work."""
        self._reading += 1
        try:
            return await _run(self._readers, work, *args, **named)
        finally:
            self._reading -= 1
            self._read = True

    async def after_reads(self, work: Callable[[], object]) -> None:
        """Run work in a reader thread, but only after a read since the last call."""
        if self._read and not self._reading:
            # Reset first, so that a concurrent read counts.
            self._read = False
            await _run(self._readers, work)

    async def write(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Run work that may write."""
        return await _run(self._writers, work, *args, **named)

    async def record(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Run work of a recording, after all work passed here or to `append` before."""
        return await _run(self._recorder, work, *args, **named)

    def append(self, work: Callable[P, object], *args: P.args, **named: P.kwargs) -> None:
        """Queue work of a recording without waiting; `work` must not raise."""
        self._recorder.submit(work, *args, **named)

    async def iterate(self, items: Iterator[R]) -> AsyncIterator[R]:
        """Iterate over results that are read from files on demand.

        A thread cannot be stopped. If the caller leaves, the iterator ends only when the thread is
        free, so that a limit on reads counts the thread until then.
        """
        while (found := await _to_its_end(self.read(_next, items))) is not None:
            yield found[0]


def _next(items: Iterator[R]) -> tuple[R] | None:
    for item in items:
        return (item,)
    return None


async def _to_its_end(work: Coroutine[None, None, R]) -> R:
    running = asyncio.create_task(work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        # The web server depends on anyio; `tidscope record` works without it.
        from anyio import CancelScope

        with CancelScope(shield=True):
            await asyncio.wait({running}, timeout=ABANDONED_SECONDS)
        raise


async def _run(
    pool: ThreadPoolExecutor, work: Callable[P, R], *args: P.args, **named: P.kwargs
) -> R:
    return await asyncio.wrap_future(pool.submit(work, *args, **named))


def damage_text(error: OSError | ValueError) -> str:
    """Describe why a run cannot be read, in one line and without local paths."""
    if isinstance(error, ValidationError):
        return f"manifest.json: {validation_text(error)}"
    if isinstance(error, OSError):
        name = Path(str(error.filename or "")).name
        return f"{name}: {error.strerror or error}"
    return str(error)


def unwritable(path: Path, error: OSError) -> ProblemError:
    """Return the problem to report if a folder is not writable."""
    text = f"{path} cannot be written to: {error.strerror or error}"
    if disk_full(error):
        return refusal("disk-full", text, "make room there")
    hint = "let the backend's user write there, or set TIDSCOPE_RUNS to another folder"
    if is_exhausted(error):
        hint = "try again; give the backend a higher hard limit on open files (ulimit -Hn)"
    return refusal("runs-unavailable", text, hint)


def disk_full(error: OSError) -> bool:
    """Return True if a disk or a quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


T = TypeVar("T")


class SharedReads(Generic[T]):
    """Reads of one kind, shared by concurrent callers. An abandoned read continues to its end."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[T]] = {}

    async def get(self, key: Hashable, read: Callable[[], Coroutine[None, None, T]]) -> T:
        """Return the result of the running read with this key; start the read if none is running.

        Raises:
            Exception: any error of the read, for all its callers.
        """
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(read())
            self._running[key] = task
            task.add_done_callback(lambda done: self._remove(key, done))
        # A cancelled caller does not end the read for the remaining callers.
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Invalidate the cache; later callers see the new state."""
        self._running.clear()

    def _remove(self, key: Hashable, done: asyncio.Task[T]) -> None:
        if self._running.get(key) is done:
            del self._running[key]
        if not done.cancelled():
            # All callers may have left, so mark the exception as retrieved.
            done.exception()
