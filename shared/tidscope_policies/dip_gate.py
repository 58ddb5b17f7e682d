"""Decorator: a dip (a garbage collection, a compaction, a stalled disk) is not the pool's fault.

The parts of an interval are looked at one by one. The first two after a change of size are left
out: the change may still be under way. So are those far below the running median of parts. What
remains is put in place of the interval by its Hodges-Lehmann mean (the median of the means of all
pairs; J. L. Hodges and E. L. Lehmann, Estimates of location based on rank tests, 1963), which a
single bad part hardly moves. If too few remain the interval is ignored; but if that happens several
times in a row it is no dip: the program has changed, and it counts.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from tidscope_policies.contract import Decision, Observation, Part, Policy

REMEMBERED = 40
"""Parts that the running median is of: 10 s."""
COUNTABLE = 8
"""Operations that a part usually has at least, or else a part without any is no dip."""
DIP = 0.55
"""Share of what is usual that a part must reach to be none."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """When a part or an interval counts.

    Attributes:
        settling: parts left out after a change of size.
        threshold: share of the running median that a part must reach.
        remaining: share of the parts that must do so for the interval to count.
        patience: intervals in a row that do not count before they are taken as they are.
        changed_patience: the same after a change of size, which may be the reason.
    """

    settling: int = 2
    threshold: float = DIP
    remaining: float = 0.5
    patience: int = 5
    changed_patience: int = 3


class DipGate:
    """Gives the policy inside only what is no dip.

    Args:
        inner: sees intervals whose `ops` and `parts` have no dip in them.
        settings: when a part or an interval counts.
        by_clock: the policy inside goes by the clock, and sees that an interval is ignored;
            otherwise the size stays, and it does not.
    """

    def __init__(
        self, inner: Policy, settings: GateSettings | None = None, *, by_clock: bool = False
    ) -> None:
        self._inner = inner
        self._by_clock = by_clock
        self._settings = settings or GateSettings()
        self._recent: deque[float] = deque(maxlen=REMEMBERED)
        self._ignored = 0
        self._patience = self._settings.patience
        self._size: int | None = None
        self._last: Decision | None = None

    def observe(self, seen: Observation) -> Decision:
        """Clean an interval and pass it on, or ignore it."""
        changed = self._last is not None and self._last.size != self._size
        self._size = seen.size
        parts = seen.parts[self._settings.settling :] if changed else seen.parts
        if not parts:
            return self._pass_on(seen)
        usual = median(self._recent) if self._recent else median(p.progress for p in parts)
        if usual * seen.elapsed_s < COUNTABLE * len(seen.parts):
            self._recent.extend(p.progress for p in parts)
            ops = sum(p.ops for p in parts) / sum(p.seconds for p in parts) * seen.elapsed_s
            return self._pass_on(replace(seen, ops=ops, parts=parts))
        kept = tuple(p for p in parts if p.progress >= self._settings.threshold * usual)
        if len(kept) < self._settings.remaining * len(parts):
            self._ignored += 1
            if changed and self._ignored == 1:
                self._patience = self._settings.changed_patience
            if self._ignored < self._patience and self._last is not None:
                decided = self._last
                if self._by_clock:
                    decided = self._inner.observe(replace(seen, dipped=True))
                after = "the size stays" if decided.size == seen.size else f"on to {decided.size}"
                reason = f"Progress dipped in this interval: {after}."
                return self._remember(replace(decided, reason=reason))
            self._recent.clear()
            kept = parts
        self._ignored, self._patience = 0, self._settings.patience
        self._recent.extend(p.progress for p in kept)
        ops = hodges_lehmann([p.progress for p in kept]) * seen.elapsed_s
        return self._pass_on(replace(seen, ops=ops, parts=kept))

    def restart(self, reason: str) -> None:
        """Pass on; what is usual may change now."""
        self._recent.clear()
        self._ignored, self._patience = 0, self._settings.patience
        self._inner.restart(reason)

    def _pass_on(self, seen: Observation) -> Decision:
        return self._remember(self._inner.observe(seen))

    def _remember(self, decided: Decision) -> Decision:
        self._last = decided
        return decided


def usual_progress(parts: Sequence[Part]) -> float:
    """Operations a second of an interval; a dip in fewer than half of its parts does not count."""
    ops, seconds = sum(part.ops for part in parts), sum(part.seconds for part in parts)
    if not seconds:
        return 0.0
    if ops < COUNTABLE * len(parts):
        return ops / seconds
    found = [part.progress for part in parts]
    least = DIP * median(found)
    return hodges_lehmann([progress for progress in found if progress >= least])


def hodges_lehmann(values: list[float]) -> float:
    """The median of the means of all pairs, each value paired with itself too.

    Raises:
        statistics.StatisticsError: there are no values.
    """
    pairs = [(first + second) / 2 for at, first in enumerate(values) for second in values[at:]]
    return median(pairs)
