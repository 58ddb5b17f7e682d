"""Decorator: a dip (a garbage collection, a compaction, a stalled disk) is not the pool's fault.

The first two parts after a change of size are left out, because the change may be in progress.
Parts far below the running median are left out too. The Hodges-Lehmann mean of the rest replaces
the interval (the median of the means of all pairs; J. L. Hodges and E. L. Lehmann, Estimates of
location based on rank tests, 1963); a single bad part hardly moves it. If too few parts remain, the
interval is ignored. Several such intervals in a row are no dip but a changed program, and count.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from tidscope_policies.contract import Decision, Observation, Part, Policy

REMEMBERED = 40
"""Number of parts in the running median: 10 s."""
COUNTABLE = 8
"""Minimum typical operations of a part; below it a part without any is no dip."""
DIP = 0.55
"""Share of the running median below which a part is a dip."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Thresholds for counting a part or an interval.

    Attributes:
        settling: parts left out after a change of size.
        threshold: share of the running median that a part must reach.
        remaining: share of the parts that must reach it for the interval to count.
        patience: ignored intervals in a row after which intervals count unchanged.
        changed_patience: like `patience`, after a change of size, which may be the cause.
        idle: share of the running median below which the program has no work: no size can change
            that.
        idle_patience: like `patience`, while it has no work.
        momentary: intervals without work that may be a dip; after them an inner policy that works
            by the clock is not called either, so it tries no size.
    """

    settling: int = 2
    threshold: float = DIP
    remaining: float = 0.5
    patience: int = 5
    changed_patience: int = 3
    idle: float = 0.1
    idle_patience: int = 60
    momentary: int = 2


class DipGate:
    """Decorator that hides dips from the inner policy.

    Args:
        inner: sees intervals whose `ops` and `parts` have no dip in them.
        settings: thresholds for counting.
        by_clock: the inner policy works by the clock and sees ignored intervals marked; otherwise
            it is not called for them, and the size stays.
    """

    def __init__(
        self, inner: Policy, settings: GateSettings | None = None, *, by_clock: bool = False
    ) -> None:
        self._inner = inner
        self._by_clock = by_clock
        self._settings = settings or GateSettings()
        self._recent: deque[float] = deque(maxlen=REMEMBERED)
        self._ignored = self._idle = 0
        self._patience = self._settings.patience
        self._size: int | None = None
        self._last: Decision | None = None

    def observe(self, seen: Observation) -> Decision:
        """Remove dips from an interval and delegate, or ignore the interval."""
        changed = self._last is not None and self._last.size != self._size
        self._size = seen.size
        parts = seen.parts[self._settings.settling :] if changed else seen.parts
        if not parts:
            return self._pass_on(seen)
        typical = median(self._recent) if self._recent else median(p.progress for p in parts)
        if typical * seen.elapsed_s < COUNTABLE * len(seen.parts):
            self._recent.extend(p.progress for p in parts)
            ops = sum(p.ops for p in parts) / sum(p.seconds for p in parts) * seen.elapsed_s
            return self._pass_on(replace(seen, ops=ops, parts=parts))
        kept = tuple(p for p in parts if p.progress >= self._settings.threshold * typical)
        if len(kept) < self._settings.remaining * len(parts):
            idle = all(part.progress < self._settings.idle * typical for part in parts)
            if idle:
                self._idle += 1
            else:
                self._ignored += 1
            if changed and self._idle + self._ignored == 1:
                self._patience = self._settings.changed_patience
            hidden = self._ignored < self._patience and self._idle < self._settings.idle_patience
            if hidden and self._last is not None:
                decided = self._last
                if self._by_clock and (changed or self._idle <= self._settings.momentary):
                    decided = self._inner.observe(replace(seen, dipped=True))
                after = "the size stays" if decided.size == seen.size else f"on to {decided.size}"
                reason = f"Progress dipped in this interval: {after}."
                return self._remember(replace(decided, reason=reason))
            self._recent.clear()
            kept = parts
        self._ignored, self._idle, self._patience = 0, 0, self._settings.patience
        self._recent.extend(p.progress for p in kept)
        ops = hodges_lehmann([p.progress for p in kept]) * seen.elapsed_s
        return self._pass_on(replace(seen, ops=ops, parts=kept))

    def restart(self, reason: str) -> None:
        """Delegate; the running median may change now."""
        self._recent.clear()
        self._ignored, self._idle, self._patience = 0, 0, self._settings.patience
        self._inner.restart(reason)

    def _pass_on(self, seen: Observation) -> Decision:
        return self._remember(self._inner.observe(seen))

    def _remember(self, decided: Decision) -> Decision:
        self._last = decided
        return decided


def typical_progress(parts: Sequence[Part]) -> float:
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
