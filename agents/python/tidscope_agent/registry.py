"""All pools of the program and their figures, by name; pools of one name are added up."""

import os
import threading
from dataclasses import dataclass, field
from typing import Protocol

BUCKETS = 32
_LOWEST_BITS = 10


@dataclass(slots=True)
class Figures:
    """Cumulative figures of a pool; its lock guards them.

    Attributes:
        submitted: jobs.
        started: jobs that a worker took.
        finished: jobs that ended, failed ones included.
        failed: jobs that raised.
        response_ns: from submission to end, of finished jobs.
        run_ns: from start to end, of finished jobs.
        queue_wait_ns: from submission to start, of started jobs.
        idle_ns: time of workers without a job, up to the last change in their number.
        response: finished jobs by response time; entry b is of those below 2^(b+10) ns.
        queue_wait: started jobs by queue wait.
    """

    submitted: int = 0
    started: int = 0
    finished: int = 0
    failed: int = 0
    response_ns: int = 0
    run_ns: int = 0
    queue_wait_ns: int = 0
    idle_ns: int = 0
    response: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    queue_wait: list[int] = field(default_factory=lambda: [0] * BUCKETS)

    def start(self, queued_ns: int, now_ns: int) -> None:
        """Count a job that a worker takes."""
        wait_ns = now_ns - queued_ns
        self.started += 1
        self.queue_wait_ns += wait_ns
        self.queue_wait[bucket_of(wait_ns)] += 1

    def finish(self, queued_ns: int, started_ns: int, now_ns: int, *, failed: bool) -> None:
        """Count a job that ends."""
        response_ns = now_ns - queued_ns
        self.finished += 1
        self.failed += failed
        self.response_ns += response_ns
        self.run_ns += now_ns - started_ns
        self.response[bucket_of(response_ns)] += 1

    def add(self, other: "Figures") -> None:
        """Add the figures of another pool."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for b in range(BUCKETS):
            self.response[b] += other.response[b]
            self.queue_wait[b] += other.queue_wait[b]

    def members(self) -> dict[str, object]:
        """Members of an answer to `read_pools`."""
        numbers: dict[str, object] = {name: getattr(self, name) for name in _NUMBERS}
        unknown = dict.fromkeys(("parks", "steals", "polls"))
        times = {"response": _trimmed(self.response), "queue_wait": _trimmed(self.queue_wait)}
        return numbers | unknown | times


_NUMBERS = (
    *("submitted", "started", "finished", "failed"),
    *("response_ns", "run_ns", "queue_wait_ns", "idle_ns"),
)


def bucket_of(ns: int) -> int:
    """Histogram bucket of a time."""
    return min(max(0, ns >> _LOWEST_BITS).bit_length(), BUCKETS - 1)


def _trimmed(counts: list[int]) -> list[int]:
    end = len(counts)
    while end and not counts[end - 1]:
        end -= 1
    return counts[:end]


MAX_NAMES = 32
_LONGEST_NAME = 64


class ReportedPool(Protocol):
    """A pool that can be read."""

    @property
    def kind(self) -> str:
        """Kind of pool in `read_pools`."""

    def report(self) -> tuple[int, int, int, Figures]:
        """Size, busy workers, waiting jobs, and a copy of the figures."""


class _Name:
    """Pools of one name: the live ones, and the figures of ended ones."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pools: list[ReportedPool] = []
        self.past = Figures()

    def answer(self, name: str) -> dict[str, object]:
        """An element of the answer."""
        size = busy = queue = 0
        total = Figures()
        total.add(self.past)
        for pool in self.pools:
            one_size, one_busy, one_queue, figures = pool.report()
            size, busy, queue = size + one_size, busy + one_busy, queue + one_queue
            total.add(figures)
        gauges = {"name": name, "kind": self.kind, "size": size, "busy": busy, "queue": queue}
        return gauges | total.members()


class PoolRegistry:
    """The pools of a program; any thread may call its methods."""

    def __init__(self) -> None:
        self._begin()
        # A forked child has no workers, and its copy of the lock may be held for ever.
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, _Name] = {}
        self._omitted: set[str] = set()

    def add(self, name: str, pool: ReportedPool) -> None:
        """Report a pool from now on, until it ends."""
        name = name[:_LONGEST_NAME] or "pool"
        with self._lock:
            if name not in self._names and len(self._names) >= MAX_NAMES:
                self._omitted.add(name)
                return
            self._names.setdefault(name, _Name(pool.kind)).pools.append(pool)

    def end(self, pool: ReportedPool) -> None:
        """End a pool; its figures stay."""
        with self._lock:
            for name in self._names.values():
                if pool in name.pools:
                    name.pools.remove(pool)
                    name.past.add(pool.report()[3])

    def answer(self) -> tuple[list[dict[str, object]], int]:
        """Answer to `read_pools`: all pools, and the number of omitted names."""
        with self._lock:
            return [one.answer(name) for name, one in self._names.items()], len(self._omitted)

    def finished(self) -> int:
        """Jobs that all pools finished."""
        with self._lock:
            return sum(
                one.past.finished + sum(pool.report()[3].finished for pool in one.pools)
                for one in self._names.values()
            )


POOLS = PoolRegistry()
"""Pools of this program."""
