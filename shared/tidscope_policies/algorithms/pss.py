"""pss: ask a perceptron whether one thread more is better.

Source: Z. Zhang and others, A prediction system service (2022-2023). Every interval the predictor
(perceptron.py, with its corrections) is asked "would growing help?" with the size,
what was done last and what came of it as features; the size moves by one that way. The next
interval tells whether that was right. The predictor may be one that other processes teach, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

from tidscope_policies.contract import (
    NOT_COUNTED,
    Decision,
    Observation,
    is_usable,
)
from tidscope_policies.parameters import Parameters, parameter
from tidscope_policies.perceptron import Predictor, Rule

DOWN, UP = -1, 1
TREND_STEP = 0.02
"""Width of the classes that a relative change of progress is reported in."""
MAX_TREND = 5


class Learner(Protocol):
    """Learner of yes-or-no answers: private (perceptron.py), or shared by tidscope_predictd."""

    def predict(self, features: Sequence[int], /) -> int:
        """Return a number above 0 for yes, below 0 for no, 0 for undecided."""
        ...

    def update(self, features: Sequence[int], /, *, answer: bool) -> None:
        """Learn the right answer."""
        ...

    def reset(self) -> None:
        """Forget everything."""
        ...


@dataclass(frozen=True)
class PssParameters(Parameters):
    """Parameters of the policy `pss`."""

    threshold: int = parameter(8, 0, 500, "", "sum of weights at which an answer is certain")
    limit: int = parameter(31, 1, 127, "", "largest weight")
    rest: int = parameter(1, 0, 60, "intervals", "pause after a step, so that its effect is seen")


class Pss:
    """Policy of steps of one, in the predicted direction.

    Args:
        parameters: the policy's parameters.
        learner: the predictor; None for a private one.
    """

    def __init__(self, parameters: PssParameters, learner: Learner | None = None) -> None:
        self._p = parameters
        self._predictor = learner or Predictor(Rule(parameters.threshold, parameters.limit))
        self._asked: tuple[int, ...] | None = None
        self._before: float | None = None
        self._direction = DOWN
        self._trend = 0
        self._rest = 0
        self._why = ""

    def observe(self, seen: Observation) -> Decision:
        """Learn from the last step and make the next one."""
        size = seen.bounds.clamp(seen.size)
        if not is_usable(seen):
            self._asked = self._before = None
            return Decision(size, "holding", f"{NOT_COUNTED}.", deferred=True)
        if self._asked is not None and self._before is not None:
            better = seen.progress > self._before
            self._predictor.update(self._asked, answer=better == (self._direction == UP))
            if self._before > 0 and seen.progress > 0:
                steps = round(log(seen.progress / self._before) / TREND_STEP)
                self._trend = min(max(steps, -MAX_TREND), MAX_TREND)
            self._rest = self._p.rest
        self._before, self._asked = seen.progress, None
        if self._rest > 0:
            self._rest -= 1
            return Decision(size, "resting", f"Holding {size} to measure its effect.")
        return self._step(seen)

    def restart(self, reason: str) -> None:
        """Forget everything learnt."""
        self._predictor.reset()
        self._asked = self._before = None
        self._trend, self._rest = 0, 0
        self._why = f"The weights are reset: {reason}. "

    def _step(self, seen: Observation) -> Decision:
        up = self._direction == UP
        trends = 2 * MAX_TREND + 1
        features = (
            seen.size,
            2 * seen.size + up,
            2 * self._trend + up,
            trends * seen.size + self._trend,
        )
        score = self._predictor.predict(features)
        if score:
            self._direction = UP if score > 0 else DOWN
        notice, self._why = self._why, ""
        size = seen.bounds.clamp(seen.size + self._direction)
        if size == seen.size:
            self._direction = -self._direction
            size = seen.bounds.clamp(seen.size + self._direction)
            why = "the bound is reached, so the direction reverses"
        elif score:
            why = f"the sum of weights, {score}, says {'up' if score > 0 else 'down'}"
        else:
            why = "nothing is known about this size, so the direction stays"
        self._asked = features if size != seen.size else None
        word = "stepping up" if self._direction == UP else "stepping down"
        return Decision(size, word, f"{notice}{why[:1].upper()}{why[1:]}: {size} is next.")
