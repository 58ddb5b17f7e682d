"""Members of a group, followed by eBPF and the native sampler, or found by polling."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Literal, NamedTuple

from tidscope_sampler.native import Sampler

from tidscope_collector.groups.boundaries import Boundary, Matching
from tidscope_collector.groups.cgroups import Cgroup
from tidscope_collector.groups.match import Match
from tidscope_collector.groups.members import Member, Members, Newcomer
from tidscope_collector.processes.description import user_name
from tidscope_collector.sampling.notices import Execution as ExecutionNotice

_ROUNDS = 10
"""Looks for processes that were born while the ones before were made members."""
_MAX_CANDIDATES = 16_384
POLL_NS = 100_000_000
"""Minimum interval between two listings where births are not reported, in nanoseconds."""
REPORTED = "the kernel tells of each birth, execution and end (eBPF)"


class Execution(NamedTuple):
    """A member executed a program.

    Attributes:
        pid: process ID.
        name: comm.
        member: the process.
    """

    pid: int
    name: str
    member: Member


class Membership:
    """The processes of one group; belongs to the thread of targets.

    Args:
        native: samples the group.
        target: target ID.
        boundary: which processes belong to the group.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        why: why births are not reported; None if they are.

    Attributes:
        members: processes of the group.
        discovery: how processes are found.
        reason: why, as a sentence without its full stop.
        missed: how many processes may have been missed; None if that cannot be known.
    """

    def __init__(
        self,
        native: Sampler,
        target: str,
        boundary: Boundary,
        attach_ns: int,
        why: str | None,
    ) -> None:
        self.members = Members()
        self.discovery: Literal["ebpf", "polling"] = "ebpf" if why is None else "polling"
        self.reason = (
            REPORTED if why is None else f"processes are looked for again and again: {why}"
        )
        self.missed: int | None = 0 if why is None else None
        self._native = native
        self._target = target
        self._boundary = boundary
        self._attach_ns = attach_ns
        self._matching = boundary if isinstance(boundary, Matching) else None
        self._candidates: dict[int, int] = {}
        """Processes that may match, by ID: CLOCK_MONOTONIC of their last execution, nanoseconds."""
        self._executed_ns: dict[int, int] = {}
        self._polled_ns = 0

    @property
    def cgroups(self) -> tuple[Cgroup, ...]:
        return self._boundary.cgroups

    @property
    def is_polled(self) -> bool:
        return self.discovery == "polling"

    @property
    def due_ns(self) -> int:
        """CLOCK_MONOTONIC of the next listing where births are not reported; else far off."""
        interval_ns = max(POLL_NS, self._boundary.polled_ns)
        return self._polled_ns + interval_ns if self.is_polled else 2**63 - 1

    def setup(self) -> dict[str, object]:
        """Members and boundary of the group, as the native sampler takes them at attach."""
        found = self._boundary.find([])
        self._polled_ns = time.monotonic_ns()
        boundary = {
            "inherited": self._boundary.inherited,
            "matched": self._matching is not None,
            "cgroups": [(one.id, one.hierarchy) for one in self.cgroups],
            "exact": None if self._matching is None else self._matching.match.exact(),
        }
        return {
            "members": self._newcomers(found.values()),
            "program": None,
            "boundary": None if self.is_polled else boundary,
            "ends_empty": self._boundary.is_over(0) and not self.cgroups,
            "missed": self.missed,
        }

    def begun(self) -> None:
        """Find processes that were born while the first ones were made members."""
        for _ in range(_ROUNDS):
            if self.is_polled or not self._find():
                break
        self.update()

    def update(self) -> None:
        """Bring `members` up to date."""
        rows = self._native.members(self._target)
        if rows is not None:
            self.members.take(rows)

    def poll(self, now_ns: int) -> None:
        """Look for processes, if that is due."""
        if now_ns >= self.due_ns:
            self._polled_ns = now_ns
            self._find()

    def _find(self) -> bool:
        """Look which processes belong to the group. Return True if some were not known."""
        self.update()
        alive = self.members.alive
        found = self._boundary.find(list(alive))
        now_ns = time.monotonic_ns()
        gone = [
            (pid, now_ns)
            for pid, member in alive.items()
            if (pid not in found and not self._is_younger(member))
            or (pid in found and found[pid].start_ticks != member.start_ticks)
        ]
        new = [
            one
            for pid, one in found.items()
            if pid not in alive or alive[pid].start_ticks != one.start_ticks
        ]
        if new or gone:
            self._native.change_members(self._target, self._newcomers(new), gone)
            self.update()
        return bool(new)

    def _is_younger(self, member: Member) -> bool:
        """True if whoever listed processes has not seen this one as it is."""
        if self._matching is None or self.is_polled:
            return False
        return self._executed_ns.get(member.pid, member.start_ns) > self._matching.listed_ns

    def _newcomers(self, found: Iterable[Newcomer]) -> list[dict[str, object]]:
        made = []
        for one in sorted(found, key=lambda one: one.start_ns):
            old = one.start_ns < self._attach_ns
            made.append({**asdict(one), "at_attach": old, "before": old})
        return made

    def lost(self, count: int) -> None:
        """Events were lost: look who belongs to the group now."""
        # Each process has three events at most that matter here.
        self.missed = (self.missed or 0) + count
        self._find()

    def executed(self, executions: Sequence[ExecutionNotice]) -> list[Execution]:
        """Take executions, after some of which processes match or do not match any more.

        Returns:
            Those of members.
        """
        self.update()
        found = []
        for pid, uid, name, at_ns, *_ in executions:
            member = self.members.alive.get(pid)
            if self._matching is not None and not self._rematch_one(
                self._matching.match, pid, uid, name, at_ns
            ):
                continue
            member = member or self.members.find(pid)
            if member is not None:
                found.append(Execution(pid, name, member))
        return found

    def _rematch_one(self, match: Match, pid: int, uid: int, name: str, at_ns: int) -> bool:
        """See whether a process may match after an execution.

        Where name and user alone decide, the native sampler has made it a member already.
        """
        may, member = match.may_hold(name, user_name(uid), uid), self.members.alive.get(pid)
        if may and (member is not None or match.is_of_name_and_user):
            self._executed_ns[pid] = at_ns
        elif may and len(self._candidates) < _MAX_CANDIDATES:
            self._candidates[pid] = at_ns
        elif member is not None and not match.is_of_name_and_user:
            self._native.change_members(self._target, [], [(pid, at_ns)])
            self.members.alive.pop(pid, None)
        return may

    def rematch(self, pids: frozenset[int], listed: frozenset[int], listed_ns: int) -> None:
        """Take a list of processes.

        Args:
            pids: IDs of those that match.
            listed: IDs of all.
            listed_ns: CLOCK_MONOTONIC before the listing.
        """
        matching = self._matching
        if matching is None:
            return
        matching.pids, matching.listed_ns = pids, listed_ns
        if self.is_polled:
            return
        for pid, at_ns in list(self._candidates.items()):
            if at_ns < listed_ns:
                del self._candidates[pid]
                self.missed = (self.missed or 0) + (pid not in listed)
        later = {pid: at_ns for pid, at_ns in self._executed_ns.items() if at_ns > listed_ns}
        self._executed_ns = later
        self._find()

    @property
    def is_over(self) -> bool:
        """True if there are no members, and will be none."""
        return self._boundary.is_over(len(self.members.alive))
