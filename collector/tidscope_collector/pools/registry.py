"""Where the figures of pools come from."""

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


class PoolsUnreadableError(Exception):
    """There is nothing to read now; the text is a sentence for people."""


class PoolSource(Protocol):
    """Reads the pools of one process; one thread uses it."""

    @property
    def origin(self) -> PoolOrigin:
        """What it reads."""

    def read(self) -> Sequence[AgentPool]:
        """All pools as they are now, each name once.

        Raises:
            PoolsUnreadableError: there is nothing to read.
        """

    def close(self) -> None:
        """It is read no more."""


MAX_POOLS = 256
"""Of a process; those that were read longest ago leave first."""
_COUNTERS = frozenset(name for name in FIGURES if COLUMNS["pools"][name] == "uint64")


class PoolId(NamedTuple):
    """A pool for as long as a program runs.

    Attributes:
        program: number of the program that the process ran, from 0.
        origin: where its figures come from.
        name: its name.
    """

    program: int
    origin: PoolOrigin
    name: str


@dataclass(frozen=True, slots=True)
class ReadPool:
    """A pool as it was read last.

    Attributes:
        number: of its row.
        pid: process.
        read_ns: when, since attach.
        pool: its figures, since its program started.
        base: what they were at attach; None: the pool is younger.
    """

    number: int
    pid: int
    read_ns: int
    pool: AgentPool
    base: AgentPool | None


class PoolRegistry:
    """Gives pools numbers that are never used again; not safe for several threads.

    Figures count from the first reading of the program that runs at attach: pools that are there by
    then have a base. A pool whose counters fall is another one from then on.

    Args:
        numbers: gives those of rows, from 1; those of a group share one.
        process: number of the row of `processes` that they are of; 0: the target is one process.
        since_start: the program began after attach, so that all it did counts.

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
        """Take in a reading.

        Args:
            origin: of it.
            pools: each name once.
            pid: process.
            read_ns: when it was, since attach.
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
            # In the order in which they were read last.
            del self._pools[next(iter(self._pools))]

    def tables(self) -> dict[TableName, Table]:
        """All rows of the tables `pools` and `pool_times`; nothing without pools."""
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
    """A figure; of those that count what was added since attach."""
    now: int | None = getattr(read.pool, name)
    if now is None or read.base is None or name not in _COUNTERS:
        return now
    return now - (getattr(read.base, name) or 0)


def _times(read: ReadPool) -> Iterator[tuple[int, int, int, int]]:
    """Rows of histograms: those buckets that have something."""
    base = read.base
    for time, now, before in (
        (RESPONSE, read.pool.response, base.response if base else None),
        (QUEUE_WAIT, read.pool.queue_wait, base.queue_wait if base else None),
    ):
        for bucket, count, had in _paired(now, before):
            if count > had:
                yield read.number, time, bucket, count - had


def _fell(before: AgentPool, now: AgentPool) -> bool:
    """Whether counters are lower than they were: another pool has the name."""
    values = [(getattr(before, name) or 0, getattr(now, name) or 0) for name in _COUNTERS]
    buckets = [
        (had, count)
        for old, new in ((before.response, now.response), (before.queue_wait, now.queue_wait))
        for _, count, had in _paired(new, old)
    ]
    return any(new < old for old, new in [*values, *buckets])


def _paired(now: list[int] | None, before: list[int] | None) -> Iterator[tuple[int, int, int]]:
    """Buckets of two histograms: number, count now and before."""
    for bucket, (count, had) in enumerate(
        itertools.zip_longest(now or (), before or (), fillvalue=0)
    ):
        yield bucket, count, had
