"""Sampling rates that fit into the collector's CPU budget. Pure: no clock, no I/O.

Sampling and sending may take so many percent of a core. What they took comes in as a number about
once a second; rates that are to be lowered or raised again come out. They move on a ladder of
steps of about a quarter (preferred numbers, ISO 3: 10, 8, 6.3, 5, 4, 3.2, 2.5, 2, 1.6, 1.25, 1 Hz),
between 1 Hz and the rate asked for:

- down when the last 5 s were over the budget: the costliest target a step at a time, until what is
  left fits by calculation. A sample at a lower rate costs somewhat more than at a higher one (more
  threads have changed since), so that the calculation promises too much and is followed by another
  step.
- up when the last 10 s left room, and nothing moved for 15 s: what is slowed the most a step at a
  time, as long as the sum stays under 80 % of the budget by the same calculation, which here
  promises too little. The distance between 80 % and 100 % keeps rates from going back and forth.
- down a step a second, all targets, while frames wait that the backend has not received, CPU or no
  CPU; up again as above, once they have gone.
- A rise that has to be taken back within a minute doubles the 15 s for the next one, up to ten
  minutes: work that comes and goes does not make the rate flap.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

_DECADE = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0)
LADDER_HZ = (*_DECADE, *(10 * rate for rate in _DECADE), 100.0)
OVER_S = 5.0
ROOM_S = 10.0
WAIT_S = 15.0
LONGEST_WAIT_S = 600.0
PROVEN_S = 60.0
ROOM_SHARE = 0.8
SETTLING = 2
"""Accounts left out after an attach: a first sample is dearer than those that follow."""


@dataclass(frozen=True, slots=True)
class CpuSpent:
    """CPU that one stretch of time took.

    Attributes:
        seconds: how long it was.
        fixed_s: CPU seconds that no rate changes.
        targets_s: CPU seconds for each target, sampling and sending.
    """

    seconds: float
    fixed_s: float
    targets_s: Mapping[str, float]

    @property
    def percent(self) -> float:
        """CPU usage in percent of one core."""
        return 100 * (self.fixed_s + sum(self.targets_s.values())) / self.seconds


class Budget:
    """Effective rates of all targets.

    Args:
        percent: of one core, for sampling and sending together; 0: no limit.
    """

    def __init__(self, percent: float) -> None:
        self.percent = percent
        self._asked: dict[str, float] = {}
        self._rates: dict[str, float] = {}
        self._past: deque[CpuSpent] = deque()
        self._still_s = 0.0
        self._wait_s = WAIT_S
        self._settling = 0
        self._raised = False
        self.slowed_by_backlog = False
        """True if rates are reduced because frames wait."""
        self.cause_percent = 0.0
        """CPU usage behind the last change of rates, in percent of one core."""

    def rate_hz(self, target: str) -> float:
        """The effective rate."""
        return self._rates[target]

    def request(self, target: str, rate_hz: float) -> None:
        """A rate is asked for, of a new target or a known one: it is in effect at once."""
        if target not in self._asked:
            self._settling = SETTLING
        self._asked[target] = self._rates[target] = rate_hz
        self._forget_past()

    def remove(self, target: str) -> None:
        """A target is sampled no more."""
        self._asked.pop(target, None)
        self._rates.pop(target, None)
        self._forget_past()

    def account(self, spent: CpuSpent, *, backlog: bool = False) -> dict[str, float]:
        """Take an account in.

        Args:
            spent: what sampling and sending took.
            backlog: whether frames wait that the backend has not received.

        Returns:
            Targets whose rate changes, and their new rates.
        """
        if self._settling:
            self._settling -= 1
            return {}
        self._past.append(spent)
        while self._seconds(self._past) - self._past[0].seconds >= ROOM_S:
            self._past.popleft()
        self._still_s += spent.seconds
        if backlog:
            lower = {one: below(rate) for one, rate in self._rates.items()}
            changed = self._move(lower, spent, up=False)
            self.slowed_by_backlog |= bool(changed)
            return changed
        if self._raised and self._still_s >= PROVEN_S:
            self._raised, self._wait_s = False, WAIT_S
        recent = self._mean(OVER_S)
        if self.percent > 0 and self._still_s >= OVER_S and recent.percent > self.percent:
            self.slowed_by_backlog = False
            return self._move(lowered(self._rates, recent, self.percent), recent, up=False)
        slowed = any(rate < self._asked[target] for target, rate in self._rates.items())
        self.slowed_by_backlog &= slowed
        if slowed and self._still_s >= max(self._wait_s, ROOM_S):
            room = ROOM_SHARE * self.percent if self.percent > 0 else math.inf
            past = self._mean(ROOM_S)
            return self._move(raised(self._rates, self._asked, past, room), past, up=True)
        return {}

    def _move(self, rates: dict[str, float], cause: CpuSpent, *, up: bool) -> dict[str, float]:
        changed = {target: rate for target, rate in rates.items() if rate != self._rates[target]}
        if changed:
            if not up and self._raised:
                self._wait_s = min(LONGEST_WAIT_S, 2 * self._wait_s)
            self._raised = up
            self.cause_percent = cause.percent
            self._rates.update(changed)
            self._forget_past()
        return changed

    def _forget_past(self) -> None:
        self._past.clear()
        self._still_s = 0.0

    @staticmethod
    def _seconds(accounts: deque[CpuSpent]) -> float:
        return sum(account.seconds for account in accounts)

    def _mean(self, seconds: float) -> CpuSpent:
        """Mean CPU time over the newest accounts that cover `seconds`."""
        length, fixed = 0.0, 0.0
        targets: dict[str, float] = {}
        for account in reversed(self._past):
            length += account.seconds
            fixed += account.fixed_s
            for target, cpu_s in account.targets_s.items():
                targets[target] = targets.get(target, 0.0) + cpu_s
            if length >= seconds:
                break
        return CpuSpent(length, fixed, targets)


def below(rate_hz: float) -> float:
    """The next lower step of the ladder; the lowest is its own."""
    return max((rate for rate in LADDER_HZ if rate < rate_hz), default=rate_hz)


def lowered(rates: Mapping[str, float], spent: CpuSpent, most_percent: float) -> dict[str, float]:
    """Lower rates, the costliest target's first, until the sum fits or all are at the lowest.

    Args:
        rates: in effect while it was spent.
        spent: what it took.
        most_percent: what it may take.
    """
    after = dict(rates)
    costs = _percents(after, spent)
    total = spent.percent
    while total > most_percent:
        movable = [target for target, rate in after.items() if rate > LADDER_HZ[0]]
        if not movable:
            break
        target = max(movable, key=lambda one: (costs[one], one))
        below = max(rate for rate in LADDER_HZ if rate < after[target])
        cost = costs[target] * below / after[target]
        total -= costs[target] - cost
        after[target], costs[target] = below, cost
    return after


def raised(
    rates: Mapping[str, float], asked: Mapping[str, float], spent: CpuSpent, most_percent: float
) -> dict[str, float]:
    """Raise rates towards those asked for, the most slowed first, as long as the sum fits.

    Args:
        rates: in effect while it was spent.
        asked: bounds.
        spent: what it took.
        most_percent: what it may take afterwards.
    """
    after = dict(rates)
    costs = _percents(after, spent)
    total = spent.percent
    fits = True
    while fits:
        fits = False
        for target in sorted(after, key=lambda one: (after[one] / asked[one], costs[one], one)):
            if after[target] >= asked[target]:
                continue
            above = min(asked[target], *(rate for rate in LADDER_HZ if rate > after[target]))
            cost = costs[target] * above / after[target]
            if total - costs[target] + cost <= most_percent:
                total += cost - costs[target]
                after[target], costs[target] = above, cost
                fits = True
                break
    return after


def _percents(rates: Mapping[str, float], spent: CpuSpent) -> dict[str, float]:
    return {one: 100 * spent.targets_s.get(one, 0.0) / spent.seconds for one in rates}
