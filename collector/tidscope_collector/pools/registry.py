"""Pools of one program: the protocol of their sources, their numbers, and their rows in frames."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.agent import AgentPool
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import TableName
from tidscope_wire.pools import FIGURES, QUEUE_WAIT, RESPONSE

PoolOrigin = Literal["agent", "prometheus", "hsperfdata"]
MAX_POOLS = 256
"""Maximum pools per process; the least recently read ones are evicted."""
_COUNTERS = frozenset(name for name in FIGURES if COLUMNS["pools"][name] == "uint64")


class PoolsUnreadableError(Exception):
    """No pools can be read now; the text is a sentence for people."""


class PoolSource(Protocol):
    """Reads the pools of one process; used by one thread."""

    @property
    def origin(self) -> PoolOrigin:
        """Kind of source."""

    def read(self) -> Sequence[AgentPool]:
        """Return all current pools, each name once.

        Raises:
            PoolsUnreadableError: there is nothing to read.
        """

    def close(self) -> None:
        """Stop reading."""


class PoolId(NamedTuple):
    """Key of a pool within a process.

    Attributes:
        program: number of the program that the process ran, from 0.
        origin: source of the figures.
        name: name of the pool.
    """

    program: int
    origin: PoolOrigin
    name: str


@dataclass(frozen=True, slots=True)
class ReadPool:
    """The last reading of a pool.

    Attributes:
        number: row number.
        pid: process ID.
        read_ns: time of the reading since attach, in nanoseconds.
        pool: figures since the program started.
        base: figures at attach; None if the pool is younger.
    """

    number: int
    pid: int
    read_ns: int
    pool: AgentPool
    base: AgentPool | None


class PoolRegistry:
    """Assigns pool numbers, which are never reused. Not thread-safe.

    Figures count from the first reading after attach, which is the base of pools that existed then.
    A pool whose counters fall is a new pool.

    Args:
        numbers: row numbers from 1; shared within a group.
        process: row number in `processes`, or 0 for a single-process target.
        since_start: True if the program began after attach, so that all its figures count.

    Attributes:
        program: number of the program that the process runs.
    """

    def __init__(
        self,
        numbers: Iterator[int] | None = None,
        process: int = 0,
        *,
        since_start: bool = False,
    ) -> None:
        self.program = 0
        self._numbers = itertools.count(1) if numbers is None else numbers
        self._process = process
        self._since_start = since_start
        self._begun: set[PoolOrigin] = set()
        self._pools: dict[PoolId, ReadPool] = {}

    def note(self, origin: PoolOrigin, pools: Sequence[AgentPool], pid: int, read_ns: int) -> None:
        """Record a reading.

        Args:
            origin: source of the reading.
            pools: pools, each name once.
            pid: process ID.
            read_ns: time of the reading since attach, in nanoseconds.
        """
        first = self.program == 0 and not self._since_start
        begins = first and origin not in self._begun
        self._begun.add(origin)
        for pool in pools:
            key = PoolId(self.program, origin, pool.name)
            known = self._pools.pop(key, None)
            if known is None or _fell(known.pool, pool):
                base = pool if begins else None
                read = ReadPool(next(self._numbers), pid, max(1, read_ns), pool, base)
            else:
                read = replace(known, read_ns=max(1, read_ns), pool=pool)
            self._pools[key] = read
        while len(self._pools) > MAX_POOLS:
            # Evict in order of the last reading.
            del self._pools[next(iter(self._pools))]

    def tables(self) -> dict[TableName, Table]:
        """Return all rows of the tables `pools` and `pool_times`; nothing without pools."""
        if not self._pools:
            return {}
        pools = sorted(
            ((key.origin, read) for key, read in self._pools.items()),
            key=lambda each: each[1].number,
        )
        rows = [_row(origin, read, self._process) for origin, read in pools]
        times = [row for _, read in pools for row in _times(read)]
        return {
            "pools": np.array(rows, dtype_of("pools")),
            "pool_times": np.array(times, dtype_of("pool_times")),
        }


def _row(origin: PoolOrigin, read: ReadPool, process: int) -> tuple[int | str, ...]:
    figures = [_since(read, name) for name in FIGURES]
    known = sum(1 << bit for bit, figure in enumerate(figures) if figure is not None)
    values = [figure or 0 for figure in figures]
    about = (read.pool.name, read.pool.kind, origin)
    return (read.number, process, read.pid, read.read_ns, known, *values, *about)


def _since(read: ReadPool, name: str) -> int | None:
    """Return a figure; counters are relative to attach."""
    now: int | None = getattr(read.pool, name)
    if now is None or read.base is None or name not in _COUNTERS:
        return now
    return now - (getattr(read.base, name) or 0)


def _times(read: ReadPool) -> Iterator[tuple[int, int, int, int]]:
    """Yield rows of the non-empty histogram buckets."""
    base = read.base
    for time, now, before in (
        (RESPONSE, read.pool.response, base.response if base else None),
        (QUEUE_WAIT, read.pool.queue_wait, base.queue_wait if base else None),
    ):
        for bucket, count, had in _paired(now, before):
            if count > had:
                yield read.number, time, bucket, count - had


def _fell(before: AgentPool, now: AgentPool) -> bool:
    """Return True if a counter fell, so that another pool has the name."""
    values = [(getattr(before, name) or 0, getattr(now, name) or 0) for name in _COUNTERS]
    buckets = [
        (had, count)
        for old, new in ((before.response, now.response), (before.queue_wait, now.queue_wait))
        for _, count, had in _paired(new, old)
    ]
    return any(new < old for old, new in [*values, *buckets])


def _paired(now: list[int] | None, before: list[int] | None) -> Iterator[tuple[int, int, int]]:
    """Yield buckets of two histograms: number, count now, count before."""
    for bucket, (count, had) in enumerate(
        itertools.zip_longest(now or (), before or (), fillvalue=0)
    ):
        yield bucket, count, had
