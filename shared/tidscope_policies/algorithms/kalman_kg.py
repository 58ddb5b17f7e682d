"""kalman-kg: believe something about every size, and measure where it pays.

Ours. Each interval

1. a Kalman filter takes the progress into a belief about all sizes (belief.py);
2. a CUSUM of surprises notices that the program entered a new phase, and forgets (change.py);
3. the size is chosen whose expected progress now, and knowledge for later, are worth the most:

       value(n) = expected(n) - margin if n is not the current size + horizon * gradient(n)

   where the gradient is what is expected to be gained by measuring at n (the knowledge gradient).
   Sizes that are no better than the margin are not worth a change, and not worth a try either:
   that is what keeps it still where all sizes are alike. Tries are steps of a few sizes at most,
   because what is believed far away is not much.

How much progress differs between sizes is taken for `sd` at first. A size that was never measured
and is further off than that can be (four standard deviations) shows that sizes differ more in this
program: the belief is widened until it is no surprise, and made again from what was measured. So a
pool that waits for a disk, where ten workers do ten times as much as one, is not mistaken for one
that changes its phase all the time.

A dip gate stands in front (dip_gate.py). Of one interval alone that is far off nothing is learnt:
if the next one is far off too, it is a change.
"""

from dataclasses import dataclass, replace
from math import inf, log, sqrt

import numpy as np

from tidscope_policies.algorithms.curves import Curves
from tidscope_policies.algorithms.wandering import Wandering
from tidscope_policies.contract import (
    NOT_COUNTED,
    WAITS_ITS_TURN,
    Bounds,
    Decision,
    Observation,
    is_usable,
)
from tidscope_policies.parameters import Parameters, parameter


@dataclass(frozen=True)
class KalmanKgParameters(Parameters):
    """Of the policy `kalman-kg`."""

    drift: float = parameter(
        3e-3, 0.0, 0.1, "", "share of the initial uncertainty added an interval"
    )
    noise_sd: float = parameter(0.03, 0.001, 0.3, "", "initial relative noise of an interval")
    noise_floor: float = parameter(0.01, 0.001, 0.3, "", "smallest relative noise assumed")
    walk_sd: float = parameter(0.01, 0.0, 0.3, "", "initial relative step of the level")
    horizon: float = parameter(40.0, 0.0, 10000.0, "intervals", "how long a measurement is useful")
    lookahead: int = parameter(
        8, 1, 32, "intervals", "longest run of measurements that a trial plans for"
    )
    margin: float = parameter(0.01, 0.0, 1.0, "", "relative gain below which the size stays")
    threshold: float = parameter(4.0, 1.0, 100.0, "sd", "surprise that means a change")
    kept: float = parameter(0.5, 0.0, 1.0, "", "how likely a change is one of the level only")
    max_step: float = parameter(1.0, 0.1, 10.0, "doublings", "largest step of a trial")
    price: float = parameter(0.03, 0.0, 10.0, "intervals", "work that a change of size is taken to cost")
    most_changes: int = parameter(10, 2, 1000, "changes", "changes in quick succession")
    gap: float = parameter(12.0, 0.1, 1000.0, "intervals", "between changes, in the long run")
    slot: int = parameter(15, 1, 600, "intervals", "rest before the next trial")


MOST_SIZES = 32
"""Sizes thought of; the work of a decision grows with their square."""
LOOSE_SD = 0.05
"""How much the level is thought to move when another program's size changes."""
BLIND = 1.0
"""Variance above which the level is not known yet, so that nothing is a surprise."""


class Search:
    """Chooses sizes by what they are worth, whatever it is that is measured.

    Args:
        parameters: of the policy.
    """

    def __init__(self, parameters: KalmanKgParameters) -> None:
        self._p = parameters
        self._bounds: Bounds | None = None
        self._curves = Curves((1,), parameters.drift)
        self._noise = Wandering(parameters.noise_sd, parameters.walk_sd, parameters.noise_floor)
        self._news = ""
        self._odd = 0
        self._known: set[int] = set()
        self._size = 0
        self._run = 0
        self._settled = False
        self._left = float(parameters.most_changes)

    def forget(self, why: str) -> None:
        """Go back to what is believed before anything is measured; `why` is reported next time."""
        self._curves.forget()
        self._noise.move()
        self._odd = self._run = 0
        self._settled = False
        self._news = f"{why}: earlier measurements are discarded. "

    def loosen(self) -> None:
        """Something else moved the level: what is known of differences stays."""
        self._curves.loosen(LOOSE_SD**2)
        self._noise.move()

    def step(self, seen: Observation, value: float) -> Decision:
        """Learn from an interval and choose the next size.

        Args:
            seen: size and bounds.
            value: the logarithm of what is to be as large as possible.
        """
        if seen.bounds != self._bounds:
            self._bounds = seen.bounds
            self._curves = Curves(candidates(seen.bounds), self._p.drift)
            self._settled = False
        # Another hand may have set a size in between.
        near = min(self._curves.sizes, key=lambda size: (abs(size - seen.size), size))
        self._left = min(self._left + 1 / self._p.gap, self._p.most_changes)
        self._run = max(0, self._run - 1)
        self._learn(near, value, 1 / seen.ops)
        if self._run:
            return Decision(seen.size, "exploring", f"{near} is measured longer.", probing=True)
        if self._settled and round(seen.at_s / self._p.interval_s) % self._p.slot:
            return Decision(seen.size, "settled", f"{self._take_news()}{near} is kept for now.")
        chosen = self._choose(near)
        self._settled = chosen.size == near
        self._left -= not self._settled
        return chosen if chosen.size != near else replace(chosen, size=seen.size)

    def _take_news(self) -> str:
        news, self._news = self._news, ""
        return news

    def _learn(self, size: int, value: float, counted: float) -> None:
        noise = self._noise
        noise.least = counted
        self._curves.elapse(noise.walk)
        difference, variance = self._curves.surprise(size, value, noise.noise)
        odd = variance < BLIND and abs(difference) > self._p.threshold * sqrt(variance)
        if odd and size != self._size:
            self._curves.split(self._p.kept, jumped=False)
        elif odd:
            sign = 1 if difference > 0 else -1
            if self._odd != sign:
                # Either a change, which the next interval will confirm, or nothing to learn from.
                self._odd = sign
                return
            self._curves.split(self._p.kept, jumped=True)
            noise.move()
            self._settled = False
            self._run = 0
            self._news = "The program entered a new phase. "
        self._odd = 0
        self._size = size
        noise.update(size, value)
        self._curves.take_in(size, value, noise.noise)

    def _choose(self, size: int) -> Decision:
        curves, p = self._curves, self._p
        here = curves.sizes.index(size)
        means = curves.means
        worths = means - p.margin
        worths[here] += p.margin
        gains, counts = curves.gradients(worths, self._noise.noise, self._noise.walk, p.lookahead)
        price = p.price * (p.most_changes / self._left) ** 2 if self._left >= 1 else inf
        values = worths + p.horizon * gains - price / counts
        values[here] = worths[here] + p.horizon * gains[here]
        self._known.add(size)
        sizes, known = np.array(curves.sizes), np.array(sorted(self._known))
        steps = np.abs(np.log2(sizes[:, None] / known)).min(axis=1)
        near = (steps <= p.max_step) | (np.abs(sizes[:, None] - known).min(axis=1) <= 1)
        at = int(np.argmax(np.where(near, values, -np.inf)))
        if values[at] <= values[here]:
            at = here
        if at != here:
            self._run = int(counts[at])
        chosen, news = curves.sizes[at], self._take_news()
        more = float(means[at] - means[here])
        if chosen == size:
            reason = f"{size} is expected to be the best; no other size is worth a trial."
            if curves.best != size:
                reason = f"{curves.best} may be better than {size}, but not by enough to move."
            return Decision(size, "settled", news + reason)
        if more > 0:
            reason = f"{chosen} is expected to do {100 * more:.1f} % more than {size}."
        else:
            reason = f"{chosen} is uncertain, and may be better than {size}."
        return Decision(chosen, "exploring", news + reason, probing=True)


class KalmanKg:
    """The policy without its dip gate."""

    def __init__(self, parameters: KalmanKgParameters) -> None:
        self._search = Search(parameters)

    def observe(self, seen: Observation) -> Decision:
        """Learn from an interval and choose."""
        if not is_measured(seen):
            return Decision(seen.bounds.clamp(seen.size), "holding", f"{NOT_COUNTED}.")
        if seen.probing_elsewhere:
            return Decision(seen.size, "waiting", WAITS_ITS_TURN)
        return self._search.step(seen, log(seen.progress))

    def restart(self, reason: str) -> None:
        """Forget what is believed about the sizes."""
        self._search.forget(f"The search restarts ({reason})")


def candidates(bounds: Bounds) -> list[int]:
    """Sizes that are thought of: all of them, or where they are many some, as far apart as log2."""
    if len(bounds.sizes) <= MOST_SIZES:
        return list(bounds.sizes)
    ratio = (bounds.high / bounds.low) ** (1 / (MOST_SIZES - 1))
    return sorted({bounds.clamp(round(bounds.low * ratio**at)) for at in range(MOST_SIZES)})


def is_measured(seen: Observation) -> bool:
    """Whether the interval has a progress, at a size that there may be."""
    return is_usable(seen) and seen.ops > 0 and seen.size in seen.bounds.sizes
