"""A noise-free pool for tests of policies: progress is a function of the size, nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict, Unpack

from tidscope_policies.contract import (
    PART_S,
    Bounds,
    Decision,
    Observation,
    Part,
    Peers,
    Policy,
)
from tidscope_policies.registry import POLICIES

Curve = Callable[[int], float]
BOUNDS = Bounds(4, 16)
INTERVAL_S = 2.0


class Flags(TypedDict, total=False):
    """Flags of an observation."""

    moved_by_other: bool
    probing_elsewhere: bool
    paused: bool
    mean_wait_s: float | None
    jobs: int
    peers: Peers | None


def peak(best: int) -> Curve:
    """Progress that falls by 5 for each thread away from the best."""
    return lambda size: 1000.0 - 5.0 * abs(size - best)


def flat(_: int) -> float:
    """Progress that no size changes."""
    return 1000.0


def seen(
    progress: float, size: int, at: int = 1, bounds: Bounds = BOUNDS, interval_s: float = INTERVAL_S
) -> Observation:
    """An interval with an even progress, `at` counted from 1."""
    parts = tuple(Part(PART_S, progress * PART_S) for _ in range(round(interval_s / PART_S)))
    return Observation(
        at_s=at * interval_s,
        elapsed_s=interval_s,
        ops=progress * interval_s,
        size=size,
        bounds=bounds,
        parts=parts,
        mean_wait_s=None if progress <= 0 else (64 - size) / progress,
        jobs=round(progress * interval_s),
    )


@dataclass
class Pool:
    """A policy with a pool.

    Attributes:
        policy: decides.
        curve: progress by size; may be replaced while it runs.
        size: in effect.
        bounds: bounds of the pool.
        decisions: all so far.
    """

    policy: Policy
    curve: Curve
    size: int = 16
    bounds: Bounds = BOUNDS
    interval_s: float = INTERVAL_S
    decisions: list[Decision] = field(default_factory=list)

    def run(self, intervals: int, dips: Mapping[int, float] | None = None) -> list[int]:
        """Go on for some intervals.

        Args:
            intervals: number of intervals.
            dips: remaining share of the progress, by number of the interval (0 is the next one).

        Returns:
            The sizes decided.
        """
        return [self.step((dips or {}).get(at, 1.0)) for at in range(intervals)]

    def step(self, left: float = 1.0, **flags: Unpack[Flags]) -> int:
        """Go on for one interval; the size decided."""
        at = len(self.decisions) + 1
        reported = seen(self.curve(self.size) * left, self.size, at, self.bounds, self.interval_s)
        decided = self.policy.observe(replace(reported, **flags))
        self.decisions.append(decided)
        self.size = decided.size
        return decided.size

    @property
    def last(self) -> Decision:
        """The newest decision."""
        return self.decisions[-1]

    def states(self) -> list[str]:
        """States of the decisions."""
        return [decided.state for decided in self.decisions]


def pool(name: str, curve: Curve, in_force: int = 16, **parameters: float) -> Pool:
    """A pool steered by a policy of the registry, with all its decorators."""
    ready = POLICIES[name].make(parameters)
    return Pool(ready.policy, curve, in_force, interval_s=ready.interval_s)
