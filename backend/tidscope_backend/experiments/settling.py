"""How policies settle before a measurement: bounds in decisions, and when a policy is at rest."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator
from tidscope_policies.contract import Bounds
from tidscope_policies.parameters import ParameterError
from tidscope_policies.registry import KEPT, POLICIES, Rehearsal, rehearse
from tidscope_wire.generated.models import Steering

from tidscope_backend.experiments.workload import RepeatError, StrictModel

DEFAULT = "default"
"""Pseudo-policy without actions: the program keeps its size."""
MAX_SIZE = 4096
LONGEST_SEARCH_S = 3600.0
"""Maximum search time of a policy, in seconds; slower policies never choose."""
LEAST_BOUND = 10
"""Default bound of a policy that never rests: at least so many decisions."""
LEAST_INTERVALS = 2
"""Minimum length of a measurement, in intervals of its policy."""
SILENT_S, SILENT_INTERVALS = 15.0, 5
"""A policy without a decision for the longer of these times has stopped working."""


class SteeringSpec(StrictModel):
    """Steering settings.

    `start`: with `warm-up`, a policy settles before the measurement; with `measurement`, what it
    loses while it searches counts. `settle`: maximum number of decisions before the measurement,
    by policy.
    """

    start: Literal["measurement", "warm-up"] = "warm-up"
    lower: int | None = Field(default=None, ge=1, le=MAX_SIZE)
    upper: int | None = Field(default=None, ge=1, le=MAX_SIZE)
    settle: dict[str, int] = Field(default_factory=dict)
    parameters: dict[str, dict[str, float]] = Field(default_factory=dict)

    @field_validator("parameters", mode="before")
    @classmethod
    def _whole_numbers_are_numbers(cls, found: Any) -> Any:
        if not isinstance(found, dict):
            return found
        return {
            policy: {
                name: float(value) if type(value) is int else value for name, value in one.items()
            }
            if isinstance(one, dict)
            else one
            for policy, one in found.items()
        }


@dataclass(frozen=True)
class SettlingRule:
    """How long one policy may settle.

    Attributes:
        decisions: maximum number of decisions before the measurement.
        interval_s: time between decisions.
        expected_s: time until a program with constant progress is at rest, or the maximum.
    """

    decisions: int
    interval_s: float
    expected_s: float


def settling_rules(
    policies: Sequence[str],
    sizes: Sequence[int | None],
    cores: Sequence[int],
    programs: int,
    steering: SteeringSpec,
    measure_s: float,
) -> dict[str, SettlingRule]:
    """Return the rule of each policy that settles before the measurement.

    Args:
        policies: values of the axis.
        sizes: initial sizes; None for the number of cores.
        cores: possible numbers of cores.
        programs: number of programs that are steered together.
        steering: settings of the file.
        measure_s: length of the measurement.

    Raises:
        ValueError: a policy cannot choose a size in time; the text begins with the key.
    """
    found = {}
    for policy in policies:
        if policy == DEFAULT:
            continue
        rehearsed = [
            _rehearsed(policy, size or one, one, programs, steering)
            for one in cores
            for size in sizes
        ]
        interval_s = POLICIES[policy].make(steering.parameters.get(policy)).interval_s
        choices = [one.chooses for one, _ in rehearsed]
        first = None if None in choices else max(one or 0 for one in choices)
        first_s = math.inf if first is None else first * interval_s
        if measure_s < LEAST_INTERVALS * interval_s:
            raise ValueError(
                f"time.measure_s: {measure_s:g}: {policy} decides every {interval_s:g} s; measure "
                f"for {LEAST_INTERVALS * interval_s:g} s, or set "
                f"steering.parameters.{policy}.interval_s"
            )
        if steering.start == "measurement":
            if first_s >= measure_s:
                raise ValueError(
                    f"time.measure_s: {measure_s:g}: {policy} chooses a size first "
                    f"{_after(first_s)} it begins to steer, with the measurement. Measure for "
                    'longer, let it settle before (steering.start = "warm-up"), or change '
                    f"steering.parameters.{policy}"
                )
            continue
        if first is None:
            raise ValueError(
                f"steering.parameters.{policy}: {policy} chooses a size first "
                f"{_after(first_s)} it begins to steer; narrow the bounds, or change them"
            )
        bound = steering.settle.get(policy) or max(_bound(one, sizes_) for one, sizes_ in rehearsed)
        if bound < first:
            raise ValueError(
                f"steering.settle.{policy}: {bound}: {policy} chooses a size first with decision "
                f"{first}; allow more"
            )
        rests = [min(one.rests or bound, bound) for one, _ in rehearsed]
        found[policy] = SettlingRule(bound, interval_s, max(rests) * interval_s)
    return found


def _rehearsed(
    policy: str, size: int, cores: int, programs: int, steering: SteeringSpec
) -> tuple[Rehearsal, int]:
    """Return a rehearsal, and the number of sizes within the bounds."""
    try:
        ready = POLICIES[policy].make(steering.parameters.get(policy))
        bounds = Bounds(steering.lower or 1, steering.upper or max(size, cores))
    except ParameterError as error:
        raise ValueError(f"steering.parameters.{policy}: {error}") from None
    except ValueError as error:
        raise ValueError(f"steering: {error}") from None
    rehearsal = rehearse(
        ready,
        bounds,
        bounds.clamp(size),
        cores=cores,
        programs=programs,
        within=int(LONGEST_SEARCH_S / ready.interval_s),
    )
    return rehearsal, len(bounds.sizes)


def _bound(found: Rehearsal, sizes: int) -> int:
    """Return the default bound.

    Twice the decisions to rest of a steady program. A policy that never rests gets as many as it
    needs to cross all sizes and come back.
    """
    return max(LEAST_BOUND, 2 * (sizes if found.rests is None else found.rests))


def _after(seconds: float) -> str:
    if math.isinf(seconds):
        return f"over {LONGEST_SEARCH_S:g} s after"
    return f"{seconds:g} s after"


class Settling:
    """Watches how the policies of a repeat settle.

    Args:
        policy: policy of the repeat.
        programs: names of the programs, by target.
        steering: returns the steering state of a target.
        rule: rule of the policy.
    """

    def __init__(
        self,
        policy: str,
        programs: Mapping[str, str],
        steering: Callable[[str], Steering | None],
        rule: SettlingRule,
    ) -> None:
        self._policy, self._steering, self._rule = policy, steering, rule
        self._watched = {target: _Watched(name) for target, name in programs.items()}
        self._silent_s = max(SILENT_S, SILENT_INTERVALS * rule.interval_s)

    def is_done(self) -> bool:
        """Return True if each policy is at rest, or has made as many decisions as it may.

        Raises:
            RepeatError: a policy does not work, or chose no size within its bound.
        """
        done = [self._is_done(target, one) for target, one in self._watched.items()]
        return all(done)

    @property
    def warnings(self) -> Iterator[str]:
        """Warnings about policies that are not at rest."""
        for one in self._watched.values():
            if one.kept < KEPT:
                yield (
                    f"Unsettled: {self._policy} still changed the size of {one.name} when the "
                    f"measurement began, after {one.decisions} decisions."
                )

    def _is_done(self, target: str, one: "_Watched") -> bool:
        now = acting(one.name, self._policy, self._steering(target))
        one.take_in(now)
        if one.kept >= KEPT:
            return True
        silent_s = time.monotonic() - one.changed_s
        if silent_s > self._silent_s:
            raise RepeatError(
                f"{self._policy} made no decision about {one.name} for {silent_s:.0f} s; its last "
                f"state: {now.state}. {now.reason}"
            )
        if now.decisions < self._rule.decisions:
            return False
        if now.chosen_unix_us is None:
            raise RepeatError(
                f"{self._policy} chose no size of {one.name} within {now.decisions} decisions "
                f"(steering.settle.{self._policy}); its last state: {now.state}. {now.reason}"
            )
        return True


class _Watched:
    """State of one program's policy."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.decisions, self.kept = 0, 0
        self.changed_s = time.monotonic()
        self._size: int | None = None

    def take_in(self, now: Steering) -> None:
        """Count consecutive decisions that chose the same size."""
        if now.decisions == self.decisions:
            return
        self.decisions, self.changed_s = now.decisions, time.monotonic()
        chose = now.chosen_unix_us is not None
        self.kept = self.kept + 1 if chose and now.size == self._size else 0
        self._size = now.size


def acting(program: str, policy: str, now: Steering | None) -> Steering:
    """Return the state of a policy that works. Raises RepeatError if it does not."""
    if now is None:
        raise RepeatError(f"{policy} no longer steered {program}")
    if now.problem is not None:
        raise RepeatError(f"{policy} could not steer {program} to the end: {now.problem}")
    return now
