"""Divides the cores of a host among its steered programs, and learns which division is best. Pure.

Ours. All programs are measured at the current division, each against its own size. A round is over
when every one that answers and makes progress was measured for `ROUND` intervals. Then cores are
divided again (division.py) by curves on which what is not known counts in favour (belief.py), so
that moving a core tries two sizes at once, and never more cores are in use than there are (optimism
under uncertainty; W. Chen and others, Combinatorial multi-armed bandit, 2013). Tries are rationed:
`BURST` at once, and one each `GAP_S`; without any left the division is the one that is expected to
be the best.

Of a pool whose size is not in cores, workers that wait need none (waiting.py): its size is that of
its cores, and of them. A core that such a pool hardly uses is divided among the others, too.

A silent program, or one without progress, loses its cores until it recovers. Each control loop
reports that its program lives (`hear`), and thereby notices the silence of other programs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Literal

from tidscope_policies.arbitration.belief import Belief
from tidscope_policies.arbitration.division import Claim, Claimant, Pool, best_move, divide, worth
from tidscope_policies.arbitration.exchange import describe_exchange
from tidscope_policies.arbitration.waiting import WaitingWorkers
from tidscope_policies.contract import Bounds, Grant, Observation, is_usable

ROUND = 2
"""Intervals in which a division is measured."""
SHORT_S = 0.4
"""Shorter intervals, cut off by a change, do not count."""
MARGIN = 0.01
"""Relative gain, of a program of mean share, below which a division stays."""
BURST, GAP_S = 24.0, 60.0
SILENT_S = 1.0
"""Seconds of silence after which a program loses its cores."""
STALL_S = 0.5
"""Maximum silence of all programs, in seconds; excess means that the listeners stalled."""
IDLE_S = 1.25
"""Seconds without progress after which a program loses its cores."""
IDLE_OPS = 8.0
"""Minimum missing operations before a program counts as idle."""

Cause = Literal["members", "try", "estimate"]
State = Literal["settled", "trying", "idle", "absent"]
STAYS = "It was tried, and is expected to be the best division."
"""Reason of a division that does not change after a round."""
SETTLED: State = "settled"
TRYING: State = "trying"
IDLE: State = "idle"
ABSENT: State = "absent"


@dataclass
class _Member:
    """A member program.

    Attributes:
        label: name for people.
        claim: requested share.
        bounds: allowed sizes.
        belief: belief about the throughput curve.
        heard_s: time of the last answer.
        moved_s: time of the last progress.
        count: operation counter at `moved_s`.
        rate: operations a second in the last counted interval.
        state: SETTLED includes TRYING.
        measured: intervals since the division changed.
        grant: None before the first division.
        why: reason of its number of cores.
        waiting: workers that wait, and so need no core.
    """

    label: str
    claim: Claim
    bounds: Bounds
    belief: Belief
    waiting: WaitingWorkers
    heard_s: float
    moved_s: float
    count: float | None = None
    rate: float = 0.0
    state: State = SETTLED
    measured: int = 0
    grant: Grant | None = None
    why: str = ""

    @property
    def core_bounds(self) -> Bounds:
        """Allowed numbers of cores: sizes without the workers that wait."""
        free = self.waiting.count
        return Bounds(max(1, self.bounds.low - free), max(1, self.bounds.high - free))

    def size(self, cores: int) -> int:
        """Size of the pool with a number of cores."""
        return min(self.bounds.high, cores + self.waiting.count)


class Arbiter:
    """A host's arbiter; its methods must not be called concurrently.

    Every method that may change the division returns True if it did. The caller must then apply
    all members' grants soon.
    """

    def __init__(self) -> None:
        self._members: dict[str, _Member] = {}
        self._pools: Sequence[Pool] = ()
        self._tries = BURST
        self._refilled_s = 0.0
        self._since_s = 0.0
        self._heard_s = 0.0
        self._division: dict[str, int] = {}
        self._trying = False

    def join(
        self, name: str, label: str, claim: Claim, bounds: Bounds, now_s: float, own: int = 0
    ) -> None:
        """Add a program from the next call of `limit` on, or replace a member's claim.

        Args:
            name: identity.
            label: name for people.
            claim: requested share.
            bounds: allowed sizes.
            now_s: current time.
            own: size that the program chose for a pool whose workers may wait; 0 if its sizes are
                cores.
        """
        known = self._members.get(name)
        if known is not None and known.bounds == bounds:
            known.label, known.claim, known.heard_s, known.moved_s = label, claim, now_s, now_s
            return
        waiting = WaitingWorkers(min(own, bounds.high))
        self._members[name] = _Member(label, claim, bounds, Belief(bounds), waiting, now_s, now_s)
        self._tries = BURST

    def limit(self, pools: Sequence[Pool], reason: str, now_s: float) -> bool:
        """Divide these cores from now on; called after `join` and `leave`, too.

        Args:
            pools: pools; every member is in at least one.
            reason: reason for a change, one sentence.
            now_s: current time.
        """
        self._pools = pools
        return self._divide_known(reason, now_s)

    def leave(self, name: str) -> str:
        """Remove a program. Return its name for people, or "" if it was no member."""
        member = self._members.pop(name, None)
        return "" if member is None else member.label

    def grant(self, name: str) -> Grant | None:
        """Grant of a program, or None if it takes no part."""
        member = self._members.get(name)
        return None if member is None else member.grant

    def hear(self, name: str, count: float | None, now_s: float) -> bool:
        """A program answered; called a few times a second.

        Args:
            name: the program.
            count: its operations so far; None if they were not read.
            now_s: current time.
        """
        member = self._members.get(name)
        if member is None:
            return False
        self._excuse(now_s)
        member.heard_s = now_s
        if count is not None and count != member.count:
            member.count, member.moved_s = count, now_s
        return self._judge(now_s)

    def report(self, name: str, seen: Observation, now_s: float) -> bool:
        """Learn from an interval of a program; divide again if the round is over."""
        member = self._members.get(name)
        if member is None:
            return False
        counts = is_usable(seen) and seen.ops > 0
        began_s = now_s - seen.elapsed_s
        if began_s >= self._since_s and seen.elapsed_s >= SHORT_S:
            # A program that does not apply its size delays no other program.
            member.measured += 1
            if counts and member.grant is not None and seen.size == member.size(member.grant.cores):
                member.rate = seen.progress
                member.belief.take_in(seen)
        if counts and member.waiting.take_in(seen):
            return self._divide_known(f"The workers of {member.label} were measured.", now_s)
        active = self._active()
        if not active or any(one.measured < ROUND for one in active.values()):
            return False
        return self._weigh(now_s)

    def _excuse(self, now_s: float) -> None:
        """Exclude time in which all listeners stalled.

        Part of it still counts: a single slow listener notices other programs' silence, too.
        """
        stalled_s, self._heard_s = now_s - self._heard_s - STALL_S, now_s
        if stalled_s > 0:
            for member in self._members.values():
                member.heard_s = min(now_s, member.heard_s + stalled_s)
                member.moved_s = min(now_s, member.moved_s + stalled_s)

    def _judge(self, now_s: float) -> bool:
        """Update which programs are silent or idle."""
        changed = False
        for member in self._members.values():
            patience_s = max(IDLE_S, IDLE_OPS / member.rate if member.rate > 0 else 5 * IDLE_S)
            state: State = SETTLED
            if now_s - member.heard_s > SILENT_S:
                state = ABSENT
            elif now_s - member.moved_s > patience_s:
                state = IDLE
            if state == member.state:
                continue
            member.state = state
            how = {
                ABSENT: "does not answer: its cores go to the others",
                IDLE: "makes no progress: its cores go to the others",
                SETTLED: "works again",
            }[state]
            changed |= self._divide_known(f"{member.label} {how}.", now_s)
        return changed

    def _active(self) -> dict[str, _Member]:
        return {name: one for name, one in self._members.items() if one.state == SETTLED}

    def _claimants(self, *, optimistic: bool) -> list[Claimant]:
        """Programs that answer; an idle one has its smallest size."""
        found = []
        for name, one in self._members.items():
            if one.state == ABSENT:
                continue
            bounds, claim = one.core_bounds, one.claim
            if one.state == IDLE:
                bounds, claim = Bounds(bounds.low, bounds.low), replace(claim, floor=0)
            now = self._division.get(name, 0)
            here = one.size(now) if optimistic and now else 0
            most = min(bounds.high, max(bounds.low, self._total(name)))
            worths = one.belief.worths(one.size(most), here=here)
            found.append(Claimant(name, claim, bounds, worths[bounds.low - most - 1 :]))
        return found

    def _shared(self) -> list[Pool]:
        """Pools of cores, with each core counted again that its program hardly uses."""
        spare = {
            name
            for name, one in self._members.items()
            if one.waiting.spares_core and one.state != ABSENT
        }
        return [replace(one, cores=one.cores + len(spare & one.members)) for one in self._pools]

    def _total(self, name: str) -> int:
        """Cores of the tightest pool of a member."""
        return min((one.cores for one in self._pools if name in one.members), default=1)

    def _weigh(self, now_s: float) -> bool:
        """End a round: try another division, or take the one expected to be best."""
        self._tries = min(BURST, self._tries + (now_s - self._refilled_s) / GAP_S)
        self._refilled_s = now_s
        margin = (
            MARGIN * sum(one.claim.share for one in self._active().values()) / len(self._active())
        )
        hopeful = self._claimants(optimistic=True)
        gain, wanted = best_move(hopeful, self._shared(), self._division)
        if self._tries >= 1 and gain > margin:
            self._tries -= 1
            self._trying = True
            return self._put(wanted, "Another division is tried: it may do more.", "try", now_s)
        self._trying = False
        known = self._claimants(optimistic=False)
        wanted = divide(known, self._shared())
        gain = worth(known, wanted) - worth(known, self._division)
        if wanted != self._division and gain > margin:
            why = "It is expected to be the best division."
            return self._put(wanted, why, "estimate", now_s)
        return self._put(self._division, STAYS, "estimate", now_s)

    def _divide_known(self, reason: str, now_s: float) -> bool:
        self._trying = False
        return self._put(
            divide(self._claimants(optimistic=False), self._shared()), reason, "members", now_s
        )

    def _put(self, division: Mapping[str, int], reason: str, cause: Cause, now_s: float) -> bool:
        """Apply a division. Return True if a program's cores or state changes."""
        gone, self._division = self._division, dict(division)
        moved = gone != self._division or any(
            one.grant is not None and one.grant.waiting != one.waiting.count
            for one in self._members.values()
        )
        if moved:
            self._since_s = now_s
        labels = {name: one.label for name, one in self._members.items()}
        if moved or reason == STAYS:
            # After a round without changes, the next one begins.
            for member in self._members.values():
                member.measured = 0
        changed = moved
        expected = {one.name: one for one in self._claimants(optimistic=False)}
        for name, member in self._members.items():
            before, cores = member.grant, self._division.get(name, 0)
            state = member.state
            if state == SETTLED and self._trying:
                state = TRYING
            same = (
                before is not None
                and before.cores == cores
                and before.waiting == member.waiting.count
            )
            changed |= before is None or before.state != state
            more, less = _slopes(expected.get(name), cores)
            kept = before if before is not None and same else None
            was_tried = kept is not None and kept.cause == "try" and reason == STAYS
            if kept is None or was_tried:
                member.why = reason + describe_exchange(name, gone, division, labels)
            member.grant = Grant(
                cores=cores,
                total=self._total(name),
                programs=len(self._division),
                state=state,
                reason=member.why + member.waiting.describe(),
                cause=cause if kept is None or was_tried else kept.cause,
                since_s=now_s if kept is None else kept.since_s,
                more=more,
                less=less,
                waiting=member.waiting.count,
            )
        return changed


def _slopes(one: Claimant | None, cores: int) -> tuple[float | None, float | None]:
    """Relative gain of one more core, and relative loss of one core fewer."""
    if one is None:
        return None, None
    at = cores - one.bounds.low
    worths = one.worths
    more = exp(worths[at + 1] - worths[at]) - 1 if 0 <= at < len(worths) - 1 else None
    less = 1 - exp(worths[at - 1] - worths[at]) if 0 < at < len(worths) else None
    return more, less
