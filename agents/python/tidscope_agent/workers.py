"""The worker threads of a pool and their queue."""

import copy
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.thread import BrokenThreadPool
from dataclasses import dataclass
from typing import Any

from tidscope_agent.registry import POOLS, Figures

_BROKEN = "the initializer of a thread raised: the pool runs no more jobs"
_log = logging.getLogger("tidscope_agent")


@dataclass(slots=True)
class Job:
    """A submitted call and its future."""

    future: "Future[Any]"
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    queued_ns: int = 0
    started_ns: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """Counters of a pool, cumulative; read together.

    Attributes:
        ops: finished jobs, failed ones included.
        queue_wait_ns: total queue wait of started jobs; None without a queue.
        queue_waits: number of started jobs; None without a queue.
        size: effective size: the wanted one, or the number of workers while it is larger.
    """

    ops: int
    queue_wait_ns: int | None
    queue_waits: int | None
    size: int


class _Worker:
    """A thread of the pool."""

    __slots__ = ("thread",)

    def __init__(self, run: Callable[["_Worker"], None], name: str) -> None:
        self.thread = threading.Thread(target=run, args=(self,), name=name)


class Workers:
    """Up to ``limit`` threads that take jobs from one queue.

    Args:
        limit: maximum number of threads.
        prefix: prefix of thread names.
        initializer: called in each new thread.
        initargs: arguments of the initializer.
        name: reported name of the pool.

    Raises:
        ValueError: the limit is below 1.
    """

    def __init__(
        self,
        limit: int,
        prefix: str,
        initializer: Callable[..., object] | None,
        initargs: tuple[Any, ...],
        name: str,
    ) -> None:
        self.limit = _checked(limit)
        self._prefix = prefix
        self._initializer = initializer
        self._initargs = initargs
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._workers: set[_Worker] = set()
        self._leaving: set[_Worker] = set()
        self._idle = 0
        self._idle_since_ns = 0
        self._started = 0
        self._figures = Figures()
        self._closed = False
        self._broken = False
        self._ended = False
        POOLS.add(name, self)

    @property
    def kind(self) -> str:
        """See ReportedPool."""
        return "threads"

    def report(self) -> tuple[int, int, int, Figures]:
        """See ReportedPool."""
        with self._changed:
            self._count_idle(0)
            size = 0 if self._ended else max(self.limit, len(self._workers))
            figures = copy.deepcopy(self._figures)
            return size, len(self._workers) - self._idle, len(self._jobs), figures

    def put(self, job: Job) -> None:
        """Queue a job, and start a worker for it if there is room.

        Raises:
            RuntimeError: the pool was closed.
            BrokenThreadPool: the initializer raised.
        """
        with self._changed:
            if self._broken:
                raise BrokenThreadPool(_BROKEN)
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            job.queued_ns = time.monotonic_ns()
            self._figures.submitted += 1
            self._jobs.append(job)
            self._changed.notify()
            self._start_missing()

    def resize(self, size: int) -> None:
        """Change the limit.

        Raises:
            ValueError: the limit is below 1.
        """
        with self._changed:
            self.limit = _checked(size)
            self._changed.notify_all()
            self._start_missing()

    def counts(self) -> Counts:
        """All counters, and the current size."""
        with self._changed:
            did = self._figures
            size = max(self.limit, len(self._workers))
            return Counts(did.finished, did.queue_wait_ns, did.started, size)

    def close(self, *, cancel: bool) -> None:
        """Let workers end once the queue is empty; with ``cancel`` empty it now."""
        with self._changed:
            self._closed = True
            dropped = list(self._jobs) if cancel else []
            if cancel:
                self._jobs.clear()
            self._changed.notify_all()
            ended = self._has_ended()
        for job in dropped:
            job.future.cancel()
        if ended:
            POOLS.end(self)

    def join(self) -> None:
        """Wait until all workers have ended."""
        while True:
            with self._changed:
                threads = [worker.thread for worker in self._workers]
            if not threads:
                return
            for thread in threads:
                thread.join()

    def _start_missing(self) -> None:
        if self._closed:
            return  # The existing workers do the remaining jobs.
        while len(self._jobs) > self._idle and len(self._workers) < self.limit:
            worker = _Worker(self._run, f"{self._prefix}_{self._started}")
            try:
                worker.thread.start()
            except RuntimeError:
                if self._workers:
                    return  # No more threads are available: existing workers do the job.
                raise
            self._started += 1
            self._workers.add(worker)
            # Counted immediately, so that no second worker starts for the same job.
            self._count_idle(1)

    def _run(self, worker: _Worker) -> None:
        try:
            if self._initialize():
                job = self._next(worker)
                while job is not None:
                    self._perform(job)
                    del job  # Free the job's objects before the next job arrives.
                    with self._changed:
                        self._count_idle(1)
                        job = self._next(worker)
        finally:
            with self._changed:
                self._count_idle(-1)
                self._leaving.discard(worker)
                self._workers.discard(worker)
                self._start_missing()
                ended = self._has_ended()
            if ended:
                POOLS.end(self)

    def _initialize(self) -> bool:
        if self._initializer is None:
            return True
        try:
            self._initializer(*self._initargs)
        except BaseException:
            _log.critical("the initializer of a thread raised", exc_info=True)
            with self._changed:
                self._broken = self._closed = True
                dropped = list(self._jobs)
                self._jobs.clear()
                self._changed.notify_all()
            for job in dropped:
                job.future.set_exception(BrokenThreadPool(_BROKEN))
            return False
        return True

    def _next(self, worker: _Worker) -> Job | None:
        """Return the next job, or None if the worker, which counts as idle, must end."""
        with self._changed:
            while True:
                if len(self._workers) - len(self._leaving) > self.limit:
                    self._leaving.add(worker)
                    return None
                job = self._take()
                if job is not None:
                    return job
                if self._closed:
                    return None
                self._changed.wait()

    def _take(self) -> Job | None:
        """Start the first job that is not cancelled. Return it, or None."""
        while self._jobs:
            job = self._jobs.popleft()
            if job.future.set_running_or_notify_cancel():
                job.started_ns = self._count_idle(-1)
                self._figures.start(job.queued_ns, job.started_ns)
                return job
        return None

    def _perform(self, job: Job) -> None:
        """Run a job. It is counted before its future completes."""
        try:
            result = job.function(*job.args, **job.kwargs)
        except BaseException as error:
            self._finish(job, failed=True)
            job.future.set_exception(error)
        else:
            self._finish(job, failed=False)
            job.future.set_result(result)

    def _finish(self, job: Job, *, failed: bool) -> None:
        with self._changed:
            now_ns = time.monotonic_ns()
            self._figures.finish(job.queued_ns, job.started_ns, now_ns, failed=failed)

    def _count_idle(self, change: int) -> int:
        """Change the number of idle workers. Return the time, in nanoseconds."""
        now_ns = time.monotonic_ns()
        self._figures.idle_ns += self._idle * (now_ns - self._idle_since_ns)
        self._idle_since_ns = now_ns
        self._idle += change
        return now_ns

    def _has_ended(self) -> bool:
        """True, once, when the pool is closed and its last worker has ended."""
        if self._ended or not self._closed or self._workers:
            return False
        self._ended = True
        return True


def _checked(size: int) -> int:
    if size < 1:
        raise ValueError("max_workers must be greater than 0")
    return size
