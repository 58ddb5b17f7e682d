"""Pools of workers of the programs of a group."""

from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import Runtime, TableName

from tidscope_collector.groups.members import Member, Members
from tidscope_collector.pools.registry import PoolRegistry
from tidscope_collector.processes.description import Description

MAX_READ = 32
"""Programs of a group whose pools are looked for or read at a time."""
MAX_BEGUN = 4
"""Programs that are begun with in a second."""
EVERY_NS = 1_000_000_000
YOUNG_NS = 1_000_000_000
"""Processes that live shorter are not asked."""
IN_VAIN_NS = 10_000_000_000
"""A program in which no pools were found for so long gives its place to others that wait."""
ENDED_NS = 60_000_000_000
"""How long frames report the pools of an ended program, nanoseconds."""
MAX_ENDED = 64
_NAMES: tuple[TableName, ...] = ("pools", "pool_times")
_ORDER: tuple[Runtime, ...] = ("java", "go", "python", "native")
"""Runtimes of programs that agents are made for; those of the first are looked at first."""


class Described(Protocol):
    """Gives what is known of a member."""

    def of(self, member: Member) -> Description: ...


class Reader(Protocol):
    """See `PoolReader`.

    Attributes:
        answered: whether a source of pools has answered.
    """

    answered: bool

    def tables(self) -> dict[TableName, Table]: ...

    def close(self) -> None: ...


class Readers(Protocol):
    """See `PoolReaders`."""

    def open(
        self,
        pid: int,
        start_ticks: int,
        registry: PoolRegistry | None = None,
        *,
        java: bool = True,
    ) -> Reader: ...


@dataclass(slots=True)
class _Program:
    """One process that is asked.

    Attributes:
        member: whose it is.
        reader: of its pools.
        since_ns: CLOCK_MONOTONIC of the beginning.
    """

    member: Member
    reader: Reader
    since_ns: int


class GroupPools:
    """Worker pools of the programs of one group; belongs to the thread of targets, and never waits.

    Each program is read as a target of its own is: by a thread, once a second. Those with a runtime
    that agents are made for are looked at, the oldest first; one without pools gives its place to
    one that was not looked at for longer.

    Args:
        readers: read the pools of processes.

    Attributes:
        left_out: programs that wait for a place.
    """

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._numbers = count(1)
        self._programs: dict[int, _Program] = {}
        self._visited_ns: dict[int, int] = {}
        self._executed: set[int] = set()
        self._ended: list[tuple[int, dict[TableName, Table]]] = []
        self._due_ns = 0
        self.left_out = 0

    def update(self, members: Members, described: Described, now_ns: int) -> None:
        """Begin with programs, and let go of those that ended, once a second.

        Args:
            members: of the group.
            described: what they run.
            now_ns: CLOCK_MONOTONIC.
        """
        if now_ns < self._due_ns:
            return
        self._due_ns = now_ns + EVERY_NS
        alive = {one.number: one for one in members.alive.values()}
        for number in self._programs.keys() - alive.keys():
            self._end(number, now_ns)
        self._ended = [one for one in self._ended if now_ns - one[0] < ENDED_NS][-MAX_ENDED:]
        self._visited_ns = {n: when for n, when in self._visited_ns.items() if n in alive}
        self._executed &= alive.keys()
        waiting = [
            (self._visited_ns.get(one.number, 0), _ORDER.index(runtime), one.start_ns, one)
            for one in alive.values()
            if one.number not in self._programs
            and now_ns - one.start_ns >= YOUNG_NS
            and (runtime := described.of(one).runtime) in _ORDER
        ]
        waiting.sort(key=lambda one: one[:3])
        self._make_room(len(waiting), now_ns)
        free = min(MAX_READ - len(self._programs), MAX_BEGUN)
        for _, place, _, member in waiting[: max(0, free)]:
            self._begin(member, _ORDER[place], now_ns)
        self.left_out = max(0, len(waiting) - max(0, free))

    def _begin(self, member: Member, runtime: Runtime, now_ns: int) -> None:
        young = not member.before or member.number in self._executed
        registry = PoolRegistry(self._numbers, member.number, since_start=young)
        java = runtime == "java"
        reader = self._readers.open(member.pid, member.start_ticks, registry, java=java)
        self._programs[member.number] = _Program(member, reader, now_ns)
        self._visited_ns[member.number] = now_ns

    def _make_room(self, wanted: int, now_ns: int) -> None:
        """Let go of programs without pools, as far as others wait."""
        for number, program in list(self._programs.items()):
            if len(self._programs) + wanted <= MAX_READ:
                return
            if not program.reader.answered and now_ns - program.since_ns >= IN_VAIN_NS:
                self._end(number, now_ns)

    def _end(self, number: int, now_ns: int) -> None:
        program = self._programs.pop(number)
        program.reader.close()
        tables = program.reader.tables()
        if tables:
            self._ended.append((now_ns, tables))

    def executed(self, pid: int) -> None:
        """A member runs another program, which is looked at once it is known what that is."""
        for number, program in list(self._programs.items()):
            if program.member.pid == pid:
                self._end(number, self._due_ns)
                self._executed.add(number)

    def tables(self) -> dict[TableName, Table]:
        """All rows as they were read last."""
        read = [tables for _, tables in self._ended]
        read += [one.reader.tables() for one in self._programs.values()]
        parts = [tables for tables in read if tables]
        return {name: np.concatenate([one[name] for one in parts]) for name in _NAMES if parts}

    def close(self) -> None:
        """Read no more; returns at once."""
        for program in self._programs.values():
            program.reader.close()
