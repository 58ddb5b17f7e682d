"""The processes of one group, as the native sampler knows them: a copy, about a second old."""

from collections.abc import Iterable
from dataclasses import dataclass

MAX_KNOWN = 65_536
"""Maximum ended processes that are kept; the oldest are evicted."""

Row = tuple[int, int, int, int, int, str, int | None, bool, bool, int]
"""See `Sampler.members`."""


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a group.

    Attributes:
        number: of its row; from 1, never used again.
        parent: number of its parent's row; 0 if the parent is not in the group.
        pid: process ID.
        start_ns: CLOCK_MONOTONIC.
        start_ticks: from boot to its start, in clock ticks.
        name: comm.
        uid: real user ID; None if unknown.
        before: True if it lived when it came into the group: its counters had begun already.
        seen: True if a sample has seen it alive.
        ended_ns: CLOCK_MONOTONIC of its end; 0 while it lives.
    """

    number: int
    parent: int
    pid: int
    start_ns: int
    start_ticks: int
    name: str
    uid: int | None
    before: bool
    seen: bool = False
    ended_ns: int = 0


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A process that comes into a group.

    Attributes:
        pid: process ID.
        parent: process ID of its parent.
        start_ns: CLOCK_MONOTONIC.
        start_ticks: from boot to its start, in clock ticks.
        name: comm.
        uid: real user ID; None if unknown.
    """

    pid: int
    parent: int
    start_ns: int
    start_ticks: int
    name: str
    uid: int | None


class Members:
    """Belongs to the thread of targets.

    Attributes:
        alive: living processes by process ID.
    """

    def __init__(self) -> None:
        self.alive: dict[int, Member] = {}
        self._by_number: dict[int, Member] = {}
        self._ended: dict[int, Member] = {}

    def take(self, rows: Iterable[Row]) -> None:
        """Replace what is known of processes that live or ended lately."""
        found = [Member(*row) for row in rows]
        before = self.alive
        self.alive = {one.pid: one for one in found if not one.ended_ns}
        # A member that is missing among the rows ended, and its end was not reported.
        ended = [one for one in found if one.ended_ns]
        listed = {one.number for one in found}
        ended += [one for one in before.values() if one.number not in listed]
        for one in ended:
            self._ended.pop(one.pid, None)
            self._ended[one.pid] = one
        for one in found:
            self._by_number.pop(one.number, None)
            self._by_number[one.number] = one
        for known in (self._ended, self._by_number):
            while len(known) > MAX_KNOWN + len(self.alive):
                del known[next(iter(known))]

    def find(self, pid: int) -> Member | None:
        """Return the process that an ID stands for, or stood for lately."""
        return self.alive.get(pid) or self._ended.get(pid)

    def known(self) -> dict[int, int]:
        """Return processes that live or ended lately: start in clock ticks since boot, by ID."""
        known = {**self._ended, **self.alive}
        return {pid: member.start_ticks for pid, member in known.items()}

    def living(self) -> dict[int, int]:
        """Return processes that live: start in clock ticks since boot, by ID."""
        return {pid: member.start_ticks for pid, member in self.alive.items()}

    def of_number(self, number: int) -> Member | None:
        """Return the process of a row."""
        return self._by_number.get(number)
