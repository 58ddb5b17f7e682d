"""A thread pool like that of concurrent.futures, whose size can change while it runs."""

import concurrent.futures
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Literal, ParamSpec, TypeVar

from tidscope_agent.workers import Counts, Job, Workers

P = ParamSpec("P")
T = TypeVar("T")

_pools: "weakref.WeakSet[Workers]" = weakref.WeakSet()
_watching = threading.Lock()
_watchers: list[threading.Thread] = []


class ThreadPoolExecutor(concurrent.futures.ThreadPoolExecutor):
    """A resizable thread pool with the interface of concurrent.futures.ThreadPoolExecutor.

    It inherits from that class by type alone, so that asyncio accepts it as a default executor; the
    implementation is separate.

    Threads start when there are jobs for them. Shrinking interrupts and drops no job: surplus
    workers end after their current one.

    Args:
        max_workers: size; by default as in concurrent.futures.
        thread_name_prefix: prefix of thread names.
        initializer: called in each new thread; the pool is broken if it raises.
        initargs: arguments of the initializer.
        name: reported name; by default the prefix. Pools of one name are added up.

    Raises:
        ValueError: the size is below 1.
    """

    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
        *,
        name: str = "",
    ) -> None:
        if max_workers is None:
            max_workers = min(32, (os.cpu_count() or 1) + 4)
        prefix = thread_name_prefix or "tidscope-pool"
        named = name or thread_name_prefix or "pool"
        self._workers = Workers(max_workers, prefix, initializer, initargs, named)
        # A pool dropped without a shutdown: the workers end when the jobs are done.
        weakref.finalize(self, self._workers.close, cancel=False).atexit = False
        _close_at_end(self._workers)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Queue a function call for a worker.

        Raises:
            RuntimeError: the pool was shut down.
            BrokenThreadPool: the initializer raised.
        """
        future: Future[T] = Future()
        self._workers.put(Job(future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Refuse further jobs; see concurrent.futures.Executor.shutdown."""
        self._workers.close(cancel=cancel_futures)
        if wait:
            self._workers.join()

    def resize(self, size: int) -> None:
        """Change the size; returns at once.

        Raises:
            ValueError: it is below 1.
        """
        self._workers.resize(size)

    @property
    def knob(self) -> Literal["pool"]:
        """Name of the knob that an agent sets."""
        return "pool"

    @property
    def line(self) -> str:
        """Line that sets a size for good: the usual one."""
        return ""

    @property
    def wanted(self) -> int:
        """Size that was set last."""
        return self._workers.limit

    def counts(self) -> Counts:
        """Counters of the pool, and its current size."""
        return self._workers.counts()


def _close_at_end(workers: Workers) -> None:
    """Let idle workers end with the program, after the queued jobs.

    Python joins threads before it runs atexit handlers, and would wait forever for idle workers. A
    thread that joins the main thread continues just before that.
    """
    with _watching:
        _pools.add(workers)
        # After a fork the child has no watcher.
        if not any(thread.is_alive() for thread in _watchers):
            _watchers[:] = [threading.Thread(target=_watch, name="tidscope-pool-end")]
            _watchers[0].start()


def _watch() -> None:
    threading.main_thread().join()
    for workers in list(_pools):
        workers.close(cancel=False)
