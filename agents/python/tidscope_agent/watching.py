"""Reporting of unmodified concurrent.futures executors, which are not steered."""

import concurrent.futures
import copy
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tidscope_agent.registry import POOLS, Figures


def watch(executor: concurrent.futures.ThreadPoolExecutor, name: str) -> None:
    """Report an executor from now on.

    Args:
        executor: a standard executor; this package's pools are always reported.
        name: reported name; pools of one name are added up.
    """
    watched = _Watched(executor)
    # The executor has no hook, so its submit is replaced by a wrapper.
    vars(executor)["submit"] = watched.submit
    POOLS.add(name, watched)


class _Watched:
    """Counters of an executor's jobs."""

    kind = "threads"

    def __init__(self, executor: concurrent.futures.ThreadPoolExecutor) -> None:
        self._size = executor._max_workers
        self._threads = executor._threads
        self._submit = executor.submit
        self._lock = threading.Lock()
        self._figures = Figures()
        self._busy = 0
        self._cancelled = 0
        self._idle = 0
        self._since_ns = time.monotonic_ns()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Submit a job, counted."""
        queued_ns = time.monotonic_ns()
        job = self._submit(self._run, queued_ns, fn, args, kwargs)
        with self._lock:
            self._figures.submitted += 1
            self._count_idle()
        job.add_done_callback(self._note_cancelled)
        return job

    def report(self) -> tuple[int, int, int, Figures]:
        """See ReportedPool."""
        with self._lock:
            self._count_idle()
            did = copy.deepcopy(self._figures)
            # A job may begin before its submission is counted.
            queue = max(0, did.submitted - did.started - self._cancelled)
            return self._size, self._busy, queue, did

    def _run(
        self,
        queued_ns: int,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        with self._lock:
            self._count_idle()
            self._busy += 1
            started_ns = time.monotonic_ns()
            self._figures.start(queued_ns, started_ns)
            self._idle -= 1
        failed = True
        try:
            result = fn(*args, **kwargs)
            failed = False
            return result
        finally:
            with self._lock:
                self._count_idle()
                self._busy -= 1
                self._figures.finish(queued_ns, started_ns, time.monotonic_ns(), failed=failed)
                self._idle += 1

    def _note_cancelled(self, job: "Future[Any]") -> None:
        if job.cancelled():
            with self._lock:
                self._cancelled += 1

    def _count_idle(self) -> None:
        now_ns = time.monotonic_ns()
        self._figures.idle_ns += max(0, self._idle) * (now_ns - self._since_ns)
        self._since_ns = now_ns
        self._idle = len(self._threads) - self._busy
