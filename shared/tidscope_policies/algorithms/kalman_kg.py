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

from collections import deque
from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np

from tidscope_policies.algorithms.belief import Belief, Prior
from tidscope_policies.algorithms.change import ChangeDetector, NoiseMeter
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

    length_scale: float = parameter(
        0.8, 0.1, 5.0, "doublings", "how far sizes resemble each other; larger: smoother curves"
    )
    sd: float = parameter(0.13, 0.01, 1.0, "", "relative difference of progress between sizes")
    drift: float = parameter(
        1e-5, 0.0, 0.1, "", "share of the initial uncertainty added an interval"
    )
    keep: float = parameter(0.92, 0.0, 0.999, "", "share of a disturbance left an interval later")
    disturbance_sd: float = parameter(0.01, 0.0, 0.5, "", "relative size of slow disturbances")
    noise_sd: float = parameter(0.03, 0.001, 0.3, "", "initial relative noise of an interval")
    noise_floor: float = parameter(0.01, 0.001, 0.3, "", "smallest relative noise assumed")
    horizon: float = parameter(40.0, 0.0, 10000.0, "intervals", "how long a measurement is useful")
    lookahead: int = parameter(
        8, 1, 32, "intervals", "longest run of measurements that a trial plans for"
    )
    margin: float = parameter(0.007, 0.0, 1.0, "", "relative gain below which the size stays")
    slack: float = parameter(0.5, 0.0, 5.0, "sd", "surprise that is no evidence of a change")
    threshold: float = parameter(9.0, 1.0, 100.0, "sd", "sum of surprises that means a change")
    max_step: int = parameter(2, 1, 32, "sizes", "largest step of a trial, in candidate sizes")


MOST_SIZES = 32
"""Sizes thought of; the work of a decision grows with their square."""
MOST_NOISE_SD = 0.3
SURE = 2.0
"""Standard deviations that make sure of a difference."""
LOOSE_SD = 0.05
"""How much the level is thought to move when another program's size changes."""
BLIND = 1.0
"""Variance above which the level is not known yet, so that nothing is a surprise."""
MOST_SURPRISE = 5.0
"""In standard deviations: one interval alone is never a change of phase."""
EXPECTED = 2.0
"""In standard deviations: what the surprise at a new size becomes when the belief is widened."""
MOST_SD = 1.5
"""Sizes are not thought to differ more, as a logarithm."""
MOST_REMEMBERED = 256
"""Measurements that a widened belief is made from."""
OUTLIER = 4.0
"""In standard deviations: surprises above are not learnt from."""


class Search:
    """Chooses sizes by what they are worth, whatever it is that is measured.

    Args:
        parameters: of the policy.
    """

    def __init__(self, parameters: KalmanKgParameters) -> None:
        self._p = parameters
        self._prior = Prior(
            parameters.length_scale,
            parameters.sd,
            parameters.drift,
            parameters.keep,
            parameters.disturbance_sd,
        )
        self._bounds: Bounds | None = None
        self._belief = Belief((1,), self._prior)
        self._detector = ChangeDetector(parameters.slack, parameters.threshold)
        self._noise = NoiseMeter(parameters.noise_sd, parameters.noise_floor, MOST_NOISE_SD)
        self._news = ""
        self._measured: deque[tuple[int, float]] = deque(maxlen=MOST_REMEMBERED)

    def forget(self, why: str) -> None:
        """Go back to what is believed before anything is measured; `why` is reported next time."""
        self._belief.widen(self._p.sd)
        self._measured.clear()
        self._detector.reset()
        self._news = f"{why}: earlier measurements are discarded. "

    def loosen(self) -> None:
        """Something else moved the level: what is known of differences stays."""
        self._belief.loosen(LOOSE_SD)

    def step(self, seen: Observation, value: float) -> Decision:
        """Learn from an interval and choose the next size.

        Args:
            seen: size and bounds.
            value: the logarithm of what is to be as large as possible.
        """
        if seen.bounds != self._bounds:
            self._bounds = seen.bounds
            self._belief = Belief(candidates(seen.bounds), self._prior)
            self._measured.clear()
        # Another hand may have set a size in between.
        near = min(self._belief.sizes, key=lambda size: (abs(size - seen.size), size))
        self._learn(near, value)
        chosen = self._choose(near)
        return chosen if chosen.size != near else replace(chosen, size=seen.size)

    def _learn(self, size: int, value: float) -> None:
        self._belief.elapse()
        noise = self._noise.variance
        difference, variance = self._belief.surprise(size, value, noise)
        if variance < BLIND:
            sds = difference / sqrt(variance)
            new = all(size != known for known, _ in self._measured)
            if new and abs(sds) > OUTLIER:
                self._widen(difference, variance)
            elif self._detector.update(min(max(sds, -MOST_SURPRISE), MOST_SURPRISE)):
                self.forget("The program entered a new phase")
            elif abs(sds) > OUTLIER:
                # Either a change, which the next interval will confirm, or nothing to learn from.
                return
            else:
                self._noise.update(difference)
        self._measured.append((size, value))
        self._belief.take_in(size, value, noise)

    def _widen(self, difference: float, variance: float) -> None:
        """Sizes differ more than was thought: believe so, and learn all again."""
        sd = self._belief.sd * max(1.0, abs(difference) / (EXPECTED * sqrt(variance)))
        self._belief.widen(min(sd, MOST_SD))
        for size, value in self._measured:
            self._belief.elapse()
            self._belief.take_in(size, value, self._noise.variance)
        self._belief.elapse()

    def _choose(self, size: int) -> Decision:
        belief, p = self._belief, self._p
        here = belief.sizes.index(size)
        worths = belief.means - p.margin
        worths[here] += p.margin
        gains = belief.knowledge_gradients(worths, self._noise.variance, p.lookahead)
        values = worths + p.horizon * gains
        low, high = max(0, here - p.max_step), min(len(values), here + p.max_step + 1)
        at = low + int(np.argmax(values[low:high]))
        if values[at] <= values[here]:
            # Nothing near is worth a try; what is surely better may lie further away.
            far = int(np.argmax(worths))
            sure = worths[far] - worths[here] > SURE * belief.doubt(far, here)
            at = far if sure else here
        chosen, news = belief.sizes[at], self._news
        self._news = ""
        more = float(belief.means[at] - belief.means[here])
        if chosen == size:
            reason = f"{size} is expected to be the best; no other size is worth a trial."
            if belief.best != size:
                reason = f"{belief.best} may be better than {size}, but not by enough to move."
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
