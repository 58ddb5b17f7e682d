"""Searches for the best size, by what each is worth, whatever it is that is measured.

Every size is worth

    expected(n) - margin if it is not the current one + horizon * gradient(n) - price / k

where the gradient is what is expected to be gained by measuring at n (the knowledge gradient) and k
how many intervals that takes. Changes of size are rationed: the price rises with every change and
falls with time. No size is tried that is more than a doubling from all that were tried before, or
that may cost more work than trials may (caution.py).

Where no size is worth a change the search rests. From time to time it looks at other sizes by the
clock (trials.py), and it searches again when one of them is surely better.

A measurement that is odd, by four standard deviations, is a change: at the size of the one before
if it happens twice in a row, at another size that was measured before at once. The curve over the
sizes is another one, or the same on another level; both are believed until measurements tell
(curves.py).
"""

from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt

import numpy as np

from tidscope_policies.algorithms.candidates import APART, candidates
from tidscope_policies.algorithms.caution import Caution, best_of, loses_much
from tidscope_policies.algorithms.curves import Curves, Floats, Wandering
from tidscope_policies.algorithms.trials import Trials
from tidscope_policies.contract import NOT_COUNTED, Bounds, Decision, Observation
from tidscope_policies.parameters import Parameters, parameter
from tidscope_policies.proving.evidence import Interval


@dataclass(frozen=True)
class SearchParameters(Parameters):
    """Parameters of the policies that search by `Search`."""

    drift: float = parameter(
        5e-3, 0.0, 0.1, "", "share of the initial uncertainty that returns in an interval"
    )
    noise_sd: float = parameter(0.03, 0.001, 0.3, "", "initial relative noise of an interval")
    noise_floor: float = parameter(0.01, 0.001, 0.3, "", "smallest relative noise assumed")
    walk_sd: float = parameter(0.01, 0.0, 0.3, "", "initial relative step of the level")
    horizon: float = parameter(60.0, 0.0, 10000.0, "intervals", "how long a measurement is useful")
    lookahead: int = parameter(
        8, 2, 32, "intervals", "longest run of measurements that a trial plans for"
    )
    margin: float = parameter(0.005, 0.0, 1.0, "", "relative gain below which the size stays")
    thrift: float = parameter(
        0.01, 0.0, 1.0, "", "relative gain that twice the threads must bring at least"
    )
    odd: float = parameter(4.0, 1.0, 100.0, "sd", "surprise that may mean a change")
    threshold: float = parameter(10.0, 1.0, 1000.0, "sd", "sum of surprises that means a change")
    kept: float = parameter(
        0.5, 0.0, 0.99, "", "how likely the curve is the same after a change of the level"
    )
    price: float = parameter(
        0.03, 0.0, 10.0, "intervals", "work that a change of size is taken to cost"
    )
    burst: int = parameter(16, 2, 1000, "changes", "changes of size in quick succession")
    gap: float = parameter(14.0, 0.1, 1000.0, "intervals", "between changes, in the long run")
    rest: int = parameter(25, 4, 1000, "intervals", "between two trials while it rests")
    sure: float = parameter(1.0, 0.0, 10.0, "sd", "that a size must be better by to end a rest")
    step: float = parameter(1.0, 0.1, 10.0, "doublings", "largest step beyond the sizes tried")
    loss: float = parameter(
        0.9, 0.0, 1000.0, "intervals", "work that trials may cost, at the speed of the beginning"
    )
    refill: float = parameter(0.02, 0.0, 1.0, "", "share of the work that they may cost later")


LOOSE_SD = 0.05
"""Standard deviation of the level's shift when another program's size changes."""
SLACK = 0.5
"""Surprise that is no evidence of a change, in standard deviations."""
MAX_SURPRISE = 4.0
"""Maximum evidence of one measurement for a change, in standard deviations."""
BLIND = 1.0
"""Variance above which the level is unknown, so that nothing is a surprise."""
FALLEN, FALLEN_SD = 0.5, 0.15
"""Assumed progress of a size at which it fell at once, as a share of the progress before, and the
standard deviation of its logarithm: the fall may have been a dip."""
MOVES = 3.0
"""Changes of size reserved for moving to the expected best size."""
SURE_SD = 1.96
"""Standard deviations on each side of an interval that holds 95 %."""
RESERVE = 0.4
"""Share of a burst of changes reserved for a search; with fewer left, no trial begins."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement: size, logarithm of the value, and its minimum variance."""

    size: int
    value: float
    least: float


class Search:
    """Search for the best size.

    Args:
        parameters: the policy's parameters.
    """

    def __init__(self, parameters: SearchParameters) -> None:
        self._p = parameters
        self._bounds: Bounds | None = None
        self._curves = Curves((1,), parameters.drift)
        self._wandering = self._unknown()
        self._left = float(parameters.burst)
        self._tried: set[int] = set()
        self._programs = 1
        self._at_s: float | None = None
        self._notice = ""
        self._changes = 0
        self._begin()

    def _begin(self) -> None:
        self._odd = self._size = self._run = self._before = 0
        self._is_held = False
        self._caution = Caution(self._p.loss, self._p.refill, self._p.interval_s)
        self._up = self._down = 0.0
        self._learnt_s = self._at_s
        self._trials: Trials | None = None

    def _unknown(self) -> Wandering:
        """Prior of noise and level, before anything is measured."""
        return Wandering(self._p.noise_sd, self._p.walk_sd, self._p.noise_floor)

    def forget(self, why: str, programs: int = 1) -> None:
        """Search again, as if nothing had been tried; what was measured may still be true.

        Args:
            why: reason, reported with the next decision.
            programs: number of programs that share the host's changes of size.
        """
        self.share(programs)
        self._left = max(self._left, MOVES + 1)
        if self._tried:
            self._curves.split(self._p.kept)
        self._wandering = self._unknown()
        self._tried.clear()
        self._begin()
        self._notice = f"{why}: earlier measurements count less. "

    @property
    def best(self) -> int:
        """The best of the sizes tried since the search began; 0 before the first."""
        return best_of(self._tried, self._curves) if self._tried else 0

    def share(self, programs: int) -> None:
        """Set the number of steered programs: the more a change disturbs, the rarer it is."""
        self._programs = programs

    def loosen(self) -> None:
        """Note that another cause moved the level; beliefs about differences stay."""
        self._curves.loosen(LOOSE_SD**2)
        self._wandering.move()
        if self._trials is not None:
            self._trials.abandon()

    def miss(self, seen: Observation) -> Decision:
        """Skip a meaningless interval; the size stays, unless a trial is due."""
        self._pass(seen)
        size, trials, turn = seen.size, self._trials, False
        self._wandering.skip()
        untried = size in self._curves.sizes and size not in self._tried
        if seen.dipped and trials is None and self._before in seen.bounds.sizes and untried:
            return self._back(size)
        if trials is not None and size == trials.size:
            if self._is_to_end(trials):
                return self._choose(size)
            size = self._counted(trials, size)
            turn = trials.is_away or size != seen.size
        elif trials is None and self._run and size in self._curves.sizes:
            self._run -= 1
            if not self._run:
                return self._choose(size)
            turn = True
        size = seen.bounds.clamp(size)
        return Decision(size, "holding", f"{NOT_COUNTED}.", probing=turn, deferred=True)

    def _back(self, size: int) -> Decision:
        """Leave a size at which progress fell at once."""
        self._caution.fell(size, self._at_s or 0.0)
        known, _ = self._curves.surprise(self._before, 0.0, 0.0)
        self._curves.take_in(size, -known + log(FALLEN), FALLEN_SD**2)
        self._run = 0
        self._left -= 1
        why = f"Progress fell at once at {size}: back to {self._before}."
        return Decision(self._before, "exploring", why, probing=True)

    def step(self, seen: Observation, value: float) -> Decision:
        """Learn from an interval and choose the next size.

        Args:
            seen: size and bounds.
            value: logarithm of the quantity to maximise.
        """
        if seen.bounds != self._bounds:
            self._bounds = seen.bounds
            self._curves = Curves(candidates(seen.bounds, APART), self._p.drift)
            self._tried.clear()
            self._begin()
        self._pass(seen)
        # Another actor may have set a size meanwhile.
        near = min(self._curves.sizes, key=lambda size: (abs(size - seen.size), size))
        found = Measurement(near, value, 1 / seen.ops)
        trials = self._trials
        if trials is not None and trials.is_away and near == trials.base:
            # It was not this program's turn to try.
            trials.abandon()
        if trials is not None and near == trials.size:
            decided = self._keep(trials, found)
        else:
            decided = self._explore(found)
        return decided if decided.size != near else replace(decided, size=seen.size)

    def _pass(self, seen: Observation) -> None:
        """Let time pass, which makes changes of size cheaper."""
        last_s = seen.at_s if self._at_s is None else self._at_s
        passed = max(0.0, seen.at_s - last_s) / self._p.interval_s
        self._caution.elapse(passed)
        self._left += passed / (self._p.gap * self._programs**2)
        self._left = min(self._left, self._burst)
        self._at_s = seen.at_s

    @property
    def _burst(self) -> float:
        """Number of changes allowed in quick succession; the host's programs share them."""
        return self._p.burst / self._programs

    def _worths(self) -> Floats:
        """Expected worth of each size: its progress, less the cost of its threads."""
        worths: Floats = self._curves.means - self._p.thrift * np.log2(self._curves.sizes)
        return worths

    def _explore(self, found: Measurement) -> Decision:
        self._trials = None
        self._run = max(0, self._run - 1)
        if not self._learn(found):
            why = "This interval is odd: the size stays."
            return Decision(found.size, "exploring", why, probing=True)
        if self._run and loses_much(found.size, self._tried, self._curves, self._p.sure):
            self._run = 0
        if self._run:
            why = f"{found.size} is measured for another interval."
            return Decision(found.size, "exploring", self._take_notice() + why, probing=True)
        return self._choose(found.size)

    def _keep(self, trials: Trials, found: Measurement) -> Decision:
        """Rest except for trials, until a change or until another size is surely better."""
        changes = self._changes
        learnt = self._learn(found)
        if self._changes != changes or self._is_to_end(trials):
            return self._choose(found.size)
        size = self._counted(trials, found.size)
        turn = trials.is_away or size != found.size
        if not learnt:
            why = "The last interval is odd, and not counted."
            return Decision(size, "settled", why, probing=turn)
        why = f"{size} is kept, and others are tried now and then."
        if trials.is_away:
            why = f"It is time to try {size} again."
        elif size != found.size:
            why = f"Back to {size}, to compare."
        state = "trying" if trials.is_away else "settled"
        return Decision(size, state, self._take_notice() + why, probing=turn)

    def _is_to_end(self, trials: Trials) -> bool:
        """Process an interval of a rest. Return True if a trial shows a better size."""
        may = self._left >= RESERVE * self._burst
        judged = trials.passed(self._at_s or 0.0, self._wandering.noise, may=may)
        # A size that was worth a trial may be within the budget now.
        again = self._is_held and self._caution.is_rested
        return again or (judged and self._is_better(trials.base))

    def _counted(self, trials: Trials, size: int) -> int:
        """Return the rest's next size, and count the change."""
        self._left -= trials.size != size
        return trials.size

    def _is_better(self, base: int) -> bool:
        """True if another size is surely better than the resting one."""
        curves = self._curves
        worths = self._worths()
        here, there = curves.sizes.index(base), int(np.argmax(worths))
        gain = float(worths[there] - worths[here])
        return gain > self._p.margin + self._p.sure * curves.doubt(here, there)

    def _change(self) -> None:
        """React to a changed program."""
        self._curves.split(self._p.kept)
        self._wandering.move()
        self._odd = self._run = 0
        self._up = self._down = 0.0
        self._changes += 1
        self._notice = "The program changed. "

    def _is_odd(self, difference: float, variance: float) -> bool:
        return variance < BLIND and abs(difference) > self._p.odd * sqrt(variance)

    def _is_first(self, up: bool) -> bool:
        """True if the previous measurement was not odd in the same direction."""
        sign = 1 if up else -1
        first, self._odd = self._odd != sign, sign
        return first

    def _adds_up(self, surprise: float) -> bool:
        """True if surprises, in standard deviations, add up to a change (E. S. Page, 1954)."""
        surprise = min(max(surprise, -MAX_SURPRISE), MAX_SURPRISE)
        self._up = max(0.0, self._up + surprise - SLACK)
        self._down = max(0.0, self._down - surprise - SLACK)
        return max(self._up, self._down) > self._p.threshold

    def _learn(self, found: Measurement) -> bool:
        """Learn a measurement. Return False if it may be odd and is left out."""
        noise, curves = self._wandering, self._curves
        noise.least = found.least
        if self._at_s is not None and self._learnt_s is not None:
            intervals = max(0.0, self._at_s - self._learnt_s) / self._p.interval_s
            curves.elapse(intervals, noise.level)
        self._learnt_s = self._at_s
        difference, variance = curves.surprise(found.size, found.value, noise.noise)
        if self._is_odd(difference, variance):
            if found.size == self._size and self._is_first(difference > 0):
                noise.skip()
                return False
            if found.size in self._tried:
                self._change()
        elif variance < BLIND and self._adds_up(difference / sqrt(variance)):
            self._change()
        self._odd = 0
        self._size = found.size
        self._tried.add(found.size)
        noise.update(found.size, found.value)
        curves.take_in(found.size, found.value, noise.noise)
        self._caution.measured(found.size, curves)
        return True

    def _choose(self, size: int) -> Decision:
        p, noise, curves = self._p, self._wandering, self._curves
        self._trials = None
        here = curves.sizes.index(size)
        means = curves.means
        worths = self._worths() - p.margin
        worths[here] += p.margin
        gains, counts = curves.gradients(worths, noise.noise, noise.level, p.lookahead)
        spare = self._left - MOVES
        price = p.price * (self._burst / spare) ** 2 if spare > 0 else inf
        prices = price / counts
        prices[np.argmax(worths)] = p.price / p.rest if self._left >= 1 else inf
        values = worths + p.horizon * gains - prices
        values[here] = worths[here] + p.horizon * gains[here]
        near = self._near(curves)
        allowed = near & self._caution.allowed(curves, self._tried, self._at_s or 0.0)
        values[~near] = -inf
        self._is_held = not allowed[np.argmax(values)]
        values[~allowed] = -inf
        at = int(np.argmax(values))
        self._size = size
        others = np.delete(values, here)
        if at == here and len(others) and others.max() > worths[here]:
            self._run = int(counts[here])
            why = f"{size} is not known well enough to compare it."
            return Decision(size, "exploring", self._take_notice() + why, probing=True)
        if at == here:
            slot_s = p.rest * p.interval_s * self._programs
            losses = dict(
                zip(curves.sizes, (1 - np.exp(means - means[here])).tolist(), strict=True)
            )
            self._trials = Trials(losses, size, slot_s, p.interval_s)
            why = f"{size} is expected to be the best; no other size is worth a trial."
            best = curves.sizes[int(np.argmax(worths))]
            if best != size:
                why = f"{best} may be better than {size}, but not by enough to move."
            return Decision(size, "settled", self._take_notice() + why)
        self._run = int(counts[at])
        self._before = size
        self._left -= 1
        chosen, more = curves.sizes[at], float(means[at] - means[here])
        why = f"{chosen} is uncertain, and may be better than {size}."
        if more > 0:
            why = f"{chosen} is expected to do {100 * more:.1f} % more than {size}."
        return Decision(chosen, "exploring", self._take_notice() + why, probing=True)

    def _near(self, curves: Curves) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Mask of sizes near the tried ones."""
        sizes, tried = np.array(curves.sizes), np.array(sorted(self._tried))
        doublings = np.abs(np.log2(sizes[:, None] / tried)).min(axis=1)
        beside = np.abs(sizes[:, None] - tried).min(axis=1) <= 1
        near: np.ndarray[tuple[int], np.dtype[np.bool_]] = (doublings <= self._p.step) | beside
        return near

    def gain(self, size: int, own: int | None) -> Interval | None:
        """Return the relative gain of a size over the program's own; None if either is unknown.

        The interval holds 95 % of what is believed. It is as good as the curves are: other than
        that of a proof, it takes the level for what they say it is.
        """
        if own is None or own == size or not {size, own} <= self._tried:
            return None
        here, there = (self._curves.sizes.index(one) for one in (own, size))
        means, width = self._curves.means, SURE_SD * self._curves.doubt(here, there)
        mean = float(means[there] - means[here])
        return Interval(*(exp(mean + end) - 1 for end in (0.0, -width, width)))

    def _take_notice(self) -> str:
        notice, self._notice = self._notice, ""
        return notice
