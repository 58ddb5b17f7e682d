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
    """Runs jobs in threads; takes what concurrent.futures.ThreadPoolExecutor takes.

    It is one of those by type alone, so that an event loop of asyncio takes it for its default
    executor: all of it is its own.

    Threads are started when there are jobs for them. A pool that is made smaller interrupts no job
    and drops none: workers that are too many end as soon as they have finished theirs.

    Args:
        max_workers: its size; by default as in concurrent.futures.
        thread_name_prefix: of the names of its threads.
        initializer: is called in each new thread; the pool is broken if it raises.
        initargs: its arguments.
        name: under which it is reported; by default the prefix. Pools of one name are added up.

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
        # Dropped without a shutdown: the workers end when the jobs are done.
        weakref.finalize(self, self._workers.close, cancel=False).atexit = False
        _close_at_end(self._workers)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Have a function called by a worker.

        Raises:
            RuntimeError: the pool was shut down.
            BrokenThreadPool: its initializer raised.
        """
        future: Future[T] = Future()
        self._workers.put(Job(future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs; see concurrent.futures.Executor.shutdown."""
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
        """What an agent sets here."""
        return "pool"

    @property
    def wanted(self) -> int:
        """The size that the pool was given last."""
        return self._workers.limit

    def counts(self) -> Counts:
        """Its counters, and the current size."""
        return self._workers.counts()


def _close_at_end(workers: Workers) -> None:
    """Let workers that wait for jobs end with the program; jobs that are queued are done before.

    Python waits for threads before it calls what atexit has, and forever for idle workers. A thread
    that joins the main thread goes on just before that.
    """
    with _watching:
        _pools.add(workers)
        # After a fork there is none in the child.
        if not any(thread.is_alive() for thread in _watchers):
            _watchers[:] = [threading.Thread(target=_watch, name="tidscope-pool-end")]
            _watchers[0].start()


def _watch() -> None:
    threading.main_thread().join()
    for workers in list(_pools):
        workers.close(cancel=False)
