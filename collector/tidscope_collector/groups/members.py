"""The processes of one group: who lives, who ended lately, and how many there were. Pure."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from tidscope_collector.ebpf.watched import Pids

MAX_FOUND = 65_536
"""Ended processes that their ids still stand for: after many exits at once records come late."""
BELIEVED_NS = 2_000_000_000
"""How long exit records may still come after the end of a process is known, and were drained."""


@dataclass(slots=True)
class Member:
    """One process of a group.

    Attributes:
        number: of its row; from 1, never used again.
        pid: its id.
        parent: number of its parent's row; 0: that is not in the group.
        start_ns: CLOCK_MONOTONIC.
        start_ticks: from boot to its start.
        name: comm.
        uid: real user id; None: not known.
        before: whether it lived when it came into the group: its counters had begun already.
        moved_ns: CPU time of its main thread when it was moved into the group; None: not known.
        seen: whether a sample has seen it alive.
        ended_ns: CLOCK_MONOTONIC of its end; 0 while it lives.
    """

    number: int
    pid: int
    parent: int
    start_ns: int
    start_ticks: int
    name: str
    uid: int | None
    before: bool
    moved_ns: int | None = None
    seen: bool = False
    ended_ns: int = 0


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A process that comes into a group.

    Attributes:
        pid: its id.
        parent: id of its parent.
        start_ns: CLOCK_MONOTONIC.
        start_ticks: from boot to its start.
        name: comm.
        uid: real user id; None: not known.
    """

    pid: int
    parent: int
    start_ns: int
    start_ticks: int
    name: str
    uid: int | None


class Members:
    """Belongs to the sampling thread.

    Attributes:
        alive: by process id.
        started: how many came since attach.
        ended: how many ended, or left, since attach.
        unseen: of them those that no sample saw alive.
        drained_ns: CLOCK_MONOTONIC before the last drain of exit records that was decoded; None: no
            exit records come.
    """

    def __init__(self) -> None:
        self.drained_ns: int | None = None
        self.alive: dict[int, Member] = {}
        self.started = 0
        self.ended = 0
        self.unseen = 0
        self._number = 0
        self._lately: deque[tuple[int, Member]] = deque()
        self._ended: dict[int, Member] = {}
        self._found: dict[int, Member] = {}
        self._ids: Pids | None = None
        self._believed: Pids | None = None
        self._left: list[Member] = []

    def add(
        self,
        newcomer: Newcomer,
        *,
        at_attach: bool = False,
        before: bool = False,
        moved_ns: int | None = None,
    ) -> Member:
        """A process is in the group from now on; one that is already is left as it is.

        Args:
            newcomer: the process.
            at_attach: it is one of those that the group began with.
            before: it began before it came into the group.
            moved_ns: see `Member`.
        """
        known = self.alive.get(newcomer.pid)
        if known is not None:
            if known.start_ticks == newcomer.start_ticks:
                return known
            self.end(newcomer.pid, newcomer.start_ns, newcomer.start_ns)
        parent = self.alive.get(newcomer.parent)
        member = Member(
            self.number(),
            newcomer.pid,
            parent.number if parent is not None else 0,
            newcomer.start_ns,
            newcomer.start_ticks,
            newcomer.name,
            newcomer.uid,
            before or at_attach,
            moved_ns,
        )
        self.alive[newcomer.pid] = member
        self._ids = self._believed = None
        if not at_attach:
            self.started += 1
        return member

    def number(self) -> int:
        """A number for a further row."""
        self._number += 1
        return self._number

    def end(self, pid: int, at_ns: int, now_ns: int) -> Member | None:
        """A process ended, or left the group; None: it was not in it.

        Args:
            pid: its id.
            at_ns: CLOCK_MONOTONIC of its end.
            now_ns: CLOCK_MONOTONIC.
        """
        member = self.alive.pop(pid, None)
        if member is None:
            return None
        member.ended_ns = at_ns
        self.ended += 1
        self.unseen += not member.seen
        self._lately.append((now_ns, member))
        self._ended[pid] = member
        self._found.pop(pid, None)
        self._found[pid] = member
        if len(self._found) > MAX_FOUND:
            del self._found[next(iter(self._found))]
        self._left.append(member)
        self._ids = None
        return member

    def see(self, pids: Pids) -> None:
        """A sample has seen these."""
        for pid in pids.tolist():
            member = self.alive.get(pid)
            if member is not None:
                member.seen = True

    def find(self, pid: int) -> Member | None:
        """The process that an id stands for, or stood for lately."""
        return self.alive.get(pid) or self._found.get(pid)

    def names(self) -> dict[int, str]:
        """Names of those alive and those that ended lately, by their ids."""
        known = [*self._ended.values(), *self.alive.values()]
        return {member.pid: member.name for member in known}

    def take_ended(self) -> list[Member]:
        """Those that ended since this was asked last."""
        left, self._left = self._left, []
        return left

    def forget(self, now_ns: int) -> None:
        """Let go of those that ended so long ago that no exit record of theirs will come.

        Records wait in sockets until they are drained: a late drain forgets nobody.
        """
        if self.drained_ns is not None:
            now_ns = min(now_ns, self.drained_ns)
        while self._lately and now_ns - self._lately[0][0] > BELIEVED_NS:
            _, member = self._lately.popleft()
            if self._ended.get(member.pid) is member:
                del self._ended[member.pid]
            self._believed = None

    @property
    def ids(self) -> Pids:
        """Of those alive, uint32[n], ascending."""
        if self._ids is None:
            self._ids = np.array(sorted(self.alive), np.uint32)
        return self._ids

    @property
    def believed(self) -> Pids:
        """Of those alive and those that ended lately, uint32[n], ascending."""
        if self._believed is None:
            self._believed = np.array(sorted({*self.alive, *self._ended}), np.uint32)
        return self._believed
