"""Who belongs to a group now: reported by eBPF programs, or found by looking again and again."""

import time
from collections import deque
from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

from tidscope_wire.generated.limits import MAX_GROUP_PROCESSES

from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.groups.boundaries import Boundary, Matching
from tidscope_collector.groups.cgroups import Cgroup
from tidscope_collector.groups.descriptions import user_name
from tidscope_collector.groups.events import BORN, DONE, EXECUTED, MOVED, Events
from tidscope_collector.groups.members import BELIEVED_NS, Members, Newcomer
from tidscope_collector.groups.programs import Bit, GroupPrograms
from tidscope_collector.procfs.thread_reader import TICKS_PER_SECOND

_ROUNDS = 10
"""Looks for processes that were born while the ones before were made members."""
_TICK_NS = 1_000_000_000 // TICKS_PER_SECOND
_MAX_CANDIDATES = 16_384
MAX_MEMBERS = MAX_GROUP_PROCESSES
"""Processes of a group that are read; further ones are counted as missed."""


class Execution(NamedTuple):
    """A member executed a program."""

    pid: int
    name: str


class Done(NamedTuple):
    """A thread of a member has run for the last time.

    Attributes:
        tid: its id.
        run_ns: how long it was on a CPU.
    """

    tid: int
    run_ns: int


class Membership(Protocol):
    """Belongs to the sampling thread, once it is made.

    Attributes:
        members: of the group.
        discovery: how they are found.
        reason: why, as a sentence without its full stop.
        cgroups: that the group is defined by.
        missed: how many processes may have been missed; None: it cannot be known.
    """

    members: Members
    discovery: Literal["ebpf", "polling"]
    reason: str

    @property
    def cgroups(self) -> tuple[Cgroup, ...]: ...

    @property
    def missed(self) -> int | None: ...

    def update(self) -> None:
        """Bring the members up to date."""

    def take_executions(self) -> list[Execution]:
        """What members executed since this was asked last."""

    def rematch(self, pids: frozenset[int], listed: frozenset[int], listed_ns: int) -> None:
        """Processes were listed again, and some match.

        Args:
            pids: ids of those that match.
            listed: of all.
            listed_ns: CLOCK_MONOTONIC before.
        """

    def take_done(self) -> list[Done]:
        """Threads that ran for the last time since this was asked last, if that is reported."""

    @property
    def is_over(self) -> bool:
        """Whether there are no members, and will be none."""

    def close(self) -> None:
        """Follow them no more; twice does no harm."""


class ReportedMembership:
    """A `Membership` by eBPF: no birth and no end is missed between two looks.

    Args:
        programs: that follow processes.
        boundary: of the group.
        attach_ns: CLOCK_MONOTONIC of the attachment.

    Raises:
        BpfError: the kernel refused.
    """

    discovery: Literal["ebpf", "polling"] = "ebpf"
    reason = "the kernel tells of each birth, execution and end (eBPF)"

    def __init__(self, programs: GroupPrograms, boundary: Boundary, attach_ns: int) -> None:
        self.members = Members()
        self._programs = programs
        self._boundary = boundary
        self._attach_ns = attach_ns
        self._executions: list[Execution] = []
        self._done: list[Done] = []
        self._ending: deque[tuple[int, int]] = deque()
        """When members ended whose threads the kernel does not count, and their ids."""
        self._missed = 0
        self._lost = programs.lost
        self._closed = False
        self._matching = boundary if isinstance(boundary, Matching) else None
        self._executed_ns: dict[int, int] = {}
        """Of members: when they executed a program since processes were listed."""
        self._candidates: dict[int, int] = {}
        """Processes that executed a program, and when: whether it matches is not known yet."""
        self._bit: Bit = programs.open(
            inherited=boundary.inherited,
            matched=self._matching is not None,
            of_cgroup=bool(boundary.cgroups),
        )
        try:
            for cgroup in boundary.cgroups:
                programs.add_cgroup(self._bit, cgroup)
            self._find()
        except Exception:
            self.close()
            raise

    def _find(self) -> None:
        """Make those that are there members, until no more were born meanwhile."""
        added: set[int] = set()
        found: Mapping[int, Newcomer] = {}
        for _ in range(_ROUNDS):
            found = self._boundary.find(added | self.members.alive.keys())
            new = found.keys() - added
            if not new:
                break
            for pid in new:
                self._programs.add(self._bit, pid)
            added |= new
        for pid in added - found.keys():
            self._programs.remove(self._bit, pid)
        for one in sorted(found.values(), key=lambda one: one.start_ns):
            old = one.start_ns < self._attach_ns
            self.members.add(one, at_attach=old, before=old)
        now_ns = time.monotonic_ns()
        for pid in self.members.alive.keys() - found.keys():
            if self._matching and self._began(pid) > self._matching.listed_ns:
                continue  # whoever listed processes has not seen it as it is
            self._programs.remove(self._bit, pid)
            self.members.end(pid, now_ns, now_ns)

    @property
    def cgroups(self) -> tuple[Cgroup, ...]:
        return self._boundary.cgroups

    @property
    def missed(self) -> int | None:
        return self._missed

    def update(self) -> None:
        """See `Membership`."""
        for events in self._programs.take(self._bit):
            self._apply(events)
        lost = self._programs.lost
        if lost != self._lost:
            # Each process has three events at most that matter here.
            self._missed += lost - self._lost
            self._lost = lost
            self._find()
        now_ns = time.monotonic_ns()
        self._take_out(now_ns - BELIEVED_NS)
        self.members.forget(now_ns)

    def _take_out(self, until_ns: int) -> None:
        """Let go of members that ended before: by now all of their threads are done."""
        while self._ending and self._ending[0][0] < until_ns:
            _, pid = self._ending.popleft()
            if pid not in self.members.alive:
                self._programs.remove(self._bit, pid)

    def _began(self, pid: int) -> int:
        """CLOCK_MONOTONIC at which a member became the program that it is."""
        return self._executed_ns.get(pid, self.members.alive[pid].start_ns)

    def rematch(self, pids: frozenset[int], listed: frozenset[int], listed_ns: int) -> None:
        """Processes were listed again, and some match.

        Args:
            pids: ids of those that match.
            listed: of all.
            listed_ns: CLOCK_MONOTONIC before.
        """
        matching = self._matching
        if matching is None or self._closed:
            return
        matching.pids, matching.listed_ns = pids, listed_ns
        for pid, at_ns in list(self._candidates.items()):
            if at_ns < listed_ns:
                del self._candidates[pid]
                self._missed += pid not in listed
        later = {pid: at_ns for pid, at_ns in self._executed_ns.items() if at_ns > listed_ns}
        self._executed_ns = later
        self._find()

    def _execute(self, one: Newcomer, at_ns: int) -> None:
        """A process executed a program: a match may begin or end with that."""
        matching, pid, name, uid = self._matching, one.pid, one.name, one.uid or 0
        member = self.members.alive.get(pid)
        if matching is not None:
            may = matching.match.may_hold(name, user_name(uid), uid)
            if member is None and may and matching.match.is_of_name_and_user:
                self._programs.add(self._bit, pid)
                member = self.members.add(one, before=True)
            elif member is None and may and len(self._candidates) < _MAX_CANDIDATES:
                self._candidates[pid] = at_ns
            elif member is not None and not may:
                self._programs.remove(self._bit, pid)
                self.members.end(pid, at_ns, time.monotonic_ns())
                member = None
        if member is not None:
            if matching is not None:
                self._executed_ns[pid] = at_ns
            member.name, member.uid = name, uid
            self._executions.append(Execution(pid, name))

    def _apply(self, events: Events) -> None:
        members, mask, now_ns = self.members, self._bit.mask, time.monotonic_ns()
        for kind, pid, other, value, groups, at_ns, start, boot, run_ns, comm in events.tolist():
            name, ticks = comm.decode("utf-8", "replace"), boot // _TICK_NS
            one = Newcomer(pid, other, start, ticks, name, value)
            if kind == EXECUTED:
                self._execute(one, at_ns)
            elif kind == DONE:
                if groups & mask:
                    self._done.append(Done(other, run_ns))
                    ended = None if value else members.end(pid, at_ns, now_ns)
                    if ended is not None and ended.before:
                        self._ending.append((now_ns, pid))
            elif kind in (BORN, MOVED) and groups & mask:
                moved = kind == MOVED
                members.add(one, before=moved, moved_ns=run_ns if moved else None)
            elif kind == MOVED:
                members.end(pid, at_ns, now_ns)

    def take_executions(self) -> list[Execution]:
        """See `Membership`."""
        taken, self._executions = self._executions, []
        return taken

    def take_done(self) -> list[Done]:
        """See `Membership`."""
        taken, self._done = self._done, []
        return taken

    @property
    def is_over(self) -> bool:
        return self._boundary.is_over(len(self.members.alive))

    def close(self) -> None:
        """See `Membership`."""
        if not self._closed:
            self._closed = True
            self._matching = None
            cgroups = list(self._boundary.cgroups)
            alive = [*self.members.alive, *(pid for _, pid in self._ending)]
            # Who was born since the last look is among the members then.
            for events in self._programs.release(self._bit, alive, cgroups):
                self._apply(events)


class PolledMembership:
    """A `Membership` by looking: who lives for less than the time between two looks may be missed.

    Args:
        boundary: of the group.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        why: births are not reported.
    """

    discovery: Literal["ebpf", "polling"] = "polling"
    missed: int | None = None

    def __init__(self, boundary: Boundary, attach_ns: int, why: Obstacle) -> None:
        self.members = Members()
        self.reason = f"processes are looked for again and again: {why.reason}"
        self._boundary = boundary
        self._attach_ns = attach_ns
        self._looked_ns = -boundary.polled_ns
        self.update()

    def rematch(self, pids: frozenset[int], listed: frozenset[int], listed_ns: int) -> None:
        """See `Membership`."""
        if isinstance(self._boundary, Matching):
            self._boundary.pids, self._boundary.listed_ns = pids, listed_ns

    @property
    def cgroups(self) -> tuple[Cgroup, ...]:
        return self._boundary.cgroups

    def update(self) -> None:
        """See `Membership`."""
        now = time.monotonic_ns()
        self.members.forget(now)
        if now - self._looked_ns < self._boundary.polled_ns:
            return
        self._looked_ns = now
        found = self._boundary.find(list(self.members.alive))
        for pid, member in list(self.members.alive.items()):
            one = found.get(pid)
            if one is None or one.start_ticks != member.start_ticks:
                self.members.end(pid, now, now)
        for one in sorted(found.values(), key=lambda one: one.start_ns):
            old = one.start_ns < self._attach_ns
            self.members.add(one, at_attach=old, before=old)

    def take_executions(self) -> list[Execution]:
        """See `Membership`: they are not reported."""
        return []

    def take_done(self) -> list[Done]:
        """See `Membership`: it is not reported."""
        return []

    @property
    def is_over(self) -> bool:
        return self._boundary.is_over(len(self.members.alive))

    def close(self) -> None:
        """See `Membership`."""
