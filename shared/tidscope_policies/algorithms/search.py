"""Searches for the best size, by what each is worth, whatever it is that is measured.

Every size is worth

    expected(n) - margin if it is not the current one + horizon * gradient(n) - price / k

where the gradient is what is expected to be gained by measuring at n (the knowledge gradient) and k
how many intervals that takes. Changes of size are rationed: the price rises with every change and
falls with time. No size is tried that is more than a doubling from all that were tried before.

Where no size is worth a change the search rests. Then nothing is learnt: measurements are only
compared with the last few, and thrown away. From time to time those few are taken in, and sizes are
weighed up again. So what befalls the program in a rest (a dip, say) leaves no trace.

A measurement that is odd, by four standard deviations,

- at the size of the one before: twice in a row it is a change. The curve over the sizes is another
  one, or the same on another level; both are believed until measurements tell (curves.py);
- at another size: the curve is not what it was thought to be, or there was a change just now.
"""

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from tidscope_policies.algorithms.curves import Curves
from tidscope_policies.algorithms.trials import Trials
from tidscope_policies.algorithms.wandering import Wandering
from tidscope_policies.contract import NOT_COUNTED, Bounds, Decision, Observation
from tidscope_policies.parameters import Parameters, parameter


@dataclass(frozen=True)
class SearchParameters(Parameters):
    """Of the policies that search so."""

    drift: float = parameter(
        2e-3, 0.0, 0.1, "", "share of the initial uncertainty that returns in an interval"
    )
    noise_sd: float = parameter(0.03, 0.001, 0.3, "", "initial relative noise of an interval")
    noise_floor: float = parameter(0.01, 0.001, 0.3, "", "smallest relative noise assumed")
    walk_sd: float = parameter(0.01, 0.0, 0.3, "", "initial relative step of the level")
    horizon: float = parameter(60.0, 0.0, 10000.0, "intervals", "how long a measurement is useful")
    lookahead: int = parameter(
        8, 1, 32, "intervals", "longest run of measurements that a trial plans for"
    )
    margin: float = parameter(0.01, 0.0, 1.0, "", "relative gain below which the size stays")
    odd: float = parameter(4.0, 1.0, 100.0, "sd", "surprise that may mean a change")
    kept: float = parameter(
        0.5, 0.0, 0.99, "", "how likely the curve is the same after a change of the level"
    )
    price: float = parameter(
        0.03, 0.0, 10.0, "intervals", "work that a change of size is taken to cost"
    )
    burst: int = parameter(16, 2, 1000, "changes", "changes of size in quick succession")
    gap: float = parameter(12.0, 0.1, 1000.0, "intervals", "between changes, in the long run")
    rest: int = parameter(25, 4, 1000, "intervals", "between two trials while it rests")
    sure: float = parameter(0.7, 0.0, 10.0, "sd", "that a size must be better by to end a rest")
    step: float = parameter(1.0, 0.1, 10.0, "doublings", "largest step beyond the sizes tried")


MOST_SIZES = 32
"""Sizes thought of; the work of a decision grows with their square."""
LOOSE_SD = 0.05
"""How much the level is thought to move when another program's size changes."""
BLIND = 1.0
"""Variance above which the level is not known yet, so that nothing is a surprise."""
EXACT = 1e-8
"""Variance of what is known: that a size does as much as itself."""
RESERVE = 0.7
"""Share of a burst of changes that is left for a search: with fewer there is no trial."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """At which size, the logarithm of what was measured, and the least variance it can have."""

    size: int
    value: float
    least: float


class Search:
    """Chooses sizes.

    Args:
        parameters: of the policy.
    """

    def __init__(self, parameters: SearchParameters) -> None:
        self._p = parameters
        self._bounds: Bounds | None = None
        self._curves = Curves((1,), parameters.drift)
        self._wandering = Wandering(parameters.noise_sd, parameters.walk_sd, parameters.noise_floor)
        self._left = float(parameters.burst)
        self._tried: set[int] = set()
        self._programs = 1
        self._at_s: float | None = None
        self._news = ""
        self._begin()

    def _begin(self) -> None:
        self._odd = self._size = self._run = 0
        self._learnt_s = self._at_s
        self._trials: Trials | None = None

    def forget(self, why: str, programs: int = 1) -> None:
        """Go back to what is believed before anything is measured.

        Args:
            why: is reported next time.
            programs: share the host's changes of size.
        """
        self._programs = programs
        self._curves.forget()
        self._wandering.move()
        self._tried.clear()
        self._begin()
        self._news = f"{why}: earlier measurements are discarded. "

    def loosen(self) -> None:
        """Something else moved the level: what is known of differences stays."""
        self._curves.loosen(LOOSE_SD**2)
        self._wandering.move()
        if self._trials is not None:
            self._trials.abandon()

    def miss(self, seen: Observation) -> Decision:
        """An interval says nothing: the size stays, unless it is time to go."""
        self._pass(seen)
        size, trials = seen.size, self._trials
        if trials is not None and size == trials.size:
            self._let_pass(trials, None)
            size = self._counted(trials, size)
        return Decision(seen.bounds.clamp(size), "holding", f"{NOT_COUNTED}.")

    def step(self, seen: Observation, value: float) -> Decision:
        """Learn from an interval and choose the next size.

        Args:
            seen: size and bounds.
            value: the logarithm of what is to be as large as possible.
        """
        if seen.bounds != self._bounds:
            self._bounds = seen.bounds
            self._curves = Curves(candidates(seen.bounds), self._p.drift)
            self._tried.clear()
            self._begin()
        self._pass(seen)
        # Another hand may have set a size in between.
        near = min(self._curves.sizes, key=lambda size: (abs(size - seen.size), size))
        found = Measurement(near, value, 1 / seen.ops)
        trials = self._trials
        if trials is not None and trials.is_away and near == trials.base:
            # It was not this one's turn to try.
            trials.abandon()
        if trials is not None and near == trials.size:
            decided = self._keep(trials, found)
        else:
            decided = self._explore(found)
        return decided if decided.size != near else replace(decided, size=seen.size)

    def _pass(self, seen: Observation) -> None:
        """Time passes, and changes of size get cheaper."""
        last_s = seen.at_s if self._at_s is None else self._at_s
        self._left += max(0.0, seen.at_s - last_s) / (
            self._p.interval_s * self._p.gap * self._programs
        )
        self._left = min(self._left, self._p.burst)
        self._at_s = seen.at_s

    def _explore(self, found: Measurement) -> Decision:
        if self._trials is not None:
            self._curves.relevel(found.value)
            self._trials = None
        self._run = max(0, self._run - 1)
        if not self._learn(self._curves, found):
            return Decision(found.size, "exploring", "This interval is odd: the size stays.")
        if self._run:
            why = f"{found.size} is measured for another interval."
            return Decision(found.size, "exploring", self._take_news() + why, probing=True)
        return self._choose(self._curves, found.size)

    def _keep(self, trials: Trials, found: Measurement) -> Decision:
        """Rest, but for the trials, until there was a change or another size is surely better."""
        noise = self._wandering
        noise.least = found.least
        if trials.usual is not None and not trials.is_away:
            difference = found.value - trials.usual
            if self._is_odd(difference, 1.5 * noise.noise + 2 * noise.walk):
                if self._is_first(difference > 0):
                    self._let_pass(trials, None)
                    size = self._counted(trials, found.size)
                    return Decision(size, "settled", "The last interval is odd, and not counted.")
                self._change()
                return self._explore(found)
            self._odd = 0
            noise.update(found.size, found.value)
        weighed = self._weigh(trials) if self._let_pass(trials, found.value) else None
        if weighed is not None:
            weighed.relevel(found.value)
            weighed.take_in(found.size, found.value, noise.noise)
            self._curves, self._learnt_s, self._trials = weighed, self._at_s, None
            return self._choose(weighed, found.size)
        size = self._counted(trials, found.size)
        why = f"{size} is kept, and others are tried now and then."
        if trials.is_away:
            why = f"It is time to try {size} again."
        elif size != found.size:
            why = f"Back to {size}, to compare."
        state = "trying" if trials.is_away else "settled"
        turn = trials.is_away or size != found.size
        return Decision(size, state, self._take_news() + why, probing=turn)

    def _let_pass(self, trials: Trials, value: float | None) -> bool:
        """An interval of a rest; whether there is a new contrast."""
        may = self._left >= RESERVE * self._p.burst
        return trials.passed(self._at_s or 0.0, value, self._wandering, may=may)

    def _counted(self, trials: Trials, size: int) -> int:
        """The size that a rest wants next; changes are counted."""
        self._left -= trials.size != size
        return trials.size

    def _weigh(self, trials: Trials) -> Curves | None:
        """What is believed after the trials, if another size is surely better; otherwise None."""
        weighed, last_s = self._curves.copy(), self._learnt_s or 0.0
        for each in trials.contrasts:
            weighed.elapse(max(0.0, each.at_s - last_s) / self._p.interval_s, 0.0)
            weighed.relevel(0.0)
            weighed.take_in(trials.base, 0.0, EXACT)
            difference, variance = weighed.surprise(each.size, each.value, each.variance)
            if self._is_odd(difference, variance):
                weighed.split(self._p.kept, jumped=False)
            weighed.take_in(each.size, each.value, each.variance)
            last_s = each.at_s
        here, there = (weighed.sizes.index(size) for size in (trials.base, weighed.best))
        gain = float(weighed.means[there] - weighed.means[here])
        sure = gain > self._p.margin + self._p.sure * weighed.doubt(here, there)
        return weighed if sure else None

    def _change(self) -> None:
        """The program changed."""
        self._pass_time(self._curves)
        self._curves.split(self._p.kept, jumped=True)
        self._wandering.move()
        self._odd = self._run = 0
        self._trials = None
        self._news = "The program changed. "

    def _is_odd(self, difference: float, variance: float) -> bool:
        return variance < BLIND and abs(difference) > self._p.odd * sqrt(variance)

    def _is_first(self, up: bool) -> bool:
        """Whether the one before was not odd the same way."""
        sign = 1 if up else -1
        first, self._odd = self._odd != sign, sign
        return first

    def _pass_time(self, curves: Curves) -> None:
        """Let a curve age until now."""
        if self._at_s is None or self._learnt_s is None:
            self._learnt_s = self._at_s
            return
        intervals = max(0.0, self._at_s - self._learnt_s) / self._p.interval_s
        curves.elapse(intervals, self._wandering.walk)

    def _learn(self, curves: Curves, found: Measurement) -> bool:
        """Take a measurement in; False: it may be an odd one, and is left out."""
        noise = self._wandering
        noise.least = found.least
        self._pass_time(curves)
        self._learnt_s = self._at_s
        difference, variance = curves.surprise(found.size, found.value, noise.noise)
        if self._is_odd(difference, variance):
            if found.size != self._size:
                curves.split(self._p.kept, jumped=False)
            elif self._is_first(difference > 0):
                return False
            else:
                self._change()
        self._odd = 0
        self._size = found.size
        noise.update(found.size, found.value)
        curves.take_in(found.size, found.value, noise.noise)
        return True

    def _choose(self, curves: Curves, size: int) -> Decision:
        p, noise = self._p, self._wandering
        here = curves.sizes.index(size)
        means = curves.means
        worths = means - p.margin
        worths[here] += p.margin
        gains, counts = curves.gradients(worths, noise.noise, noise.walk, p.lookahead)
        price = p.price * (p.burst / self._left) ** 2 if self._left >= 1 else inf
        values = worths + p.horizon * gains - price / counts
        values[here] = worths[here] + p.horizon * gains[here]
        values[~self._near(curves, size)] = -inf
        at = int(np.argmax(values))
        self._size = size
        others = np.delete(values, here)
        if at == here and len(others) and others.max() > worths[here]:
            self._run = int(counts[here])
            why = f"{size} is not known well enough to compare it."
            return Decision(size, "exploring", self._take_news() + why, probing=True)
        if at == here:
            slot_s = p.rest * p.interval_s * self._programs
            losses = dict(
                zip(curves.sizes, (1 - np.exp(means - means[here])).tolist(), strict=True)
            )
            self._trials = Trials(losses, size, slot_s, p.interval_s)
            why = f"{size} is expected to be the best; no other size is worth a trial."
            if curves.best != size:
                why = f"{curves.best} may be better than {size}, but not by enough to move."
            return Decision(size, "settled", self._take_news() + why)
        self._run = int(counts[at])
        self._left -= 1
        chosen, more = curves.sizes[at], float(means[at] - means[here])
        why = f"{chosen} is uncertain, and may be better than {size}."
        if more > 0:
            why = f"{chosen} is expected to do {100 * more:.1f} % more than {size}."
        return Decision(chosen, "exploring", self._take_news() + why, probing=True)

    def _near(self, curves: Curves, size: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Which sizes are not too far from those that were tried."""
        self._tried.add(size)
        sizes, tried = np.array(curves.sizes), np.array(sorted(self._tried))
        doublings = np.abs(np.log2(sizes[:, None] / tried)).min(axis=1)
        beside = np.abs(sizes[:, None] - tried).min(axis=1) <= 1
        near: np.ndarray[tuple[int], np.dtype[np.bool_]] = (doublings <= self._p.step) | beside
        return near

    def _take_news(self) -> str:
        news, self._news = self._news, ""
        return news


def candidates(bounds: Bounds) -> list[int]:
    """Sizes that are thought of: all of them, or where they are many some, as far apart as log2."""
    if len(bounds.sizes) <= MOST_SIZES:
        return list(bounds.sizes)
    ratio = (bounds.high / bounds.low) ** (1 / (MOST_SIZES - 1))
    return sorted({bounds.clamp(round(bounds.low * ratio**at)) for at in range(MOST_SIZES)})
