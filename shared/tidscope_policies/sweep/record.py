"""What a sweep has measured so far, and what follows from it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tidscope_policies.sweep.size_curve import SizeCurve, SweepError, fit

MIN_ROUNDS = 4
"""Fewer give no interval."""

Verdict = Literal["open", "decided", "harmful", "unsettled"]
"""How a sweep stands.

`decided`: the knee is known. `unsettled`: the time has passed, or no other size can be set.
"""


@dataclass(frozen=True, slots=True)
class SweepSettings:
    """What is measured, and when it ends.

    Attributes:
        block_s: how long a size is measured in a round, seconds.
        most_s: how long the whole may take.
        loss: share of the work of that time that may be lost before it is stopped.
        most_sizes: so many sizes are measured, and the one at the start.
        seed: of the order of sizes.
    """

    block_s: float = 2.0
    most_s: float = 300.0
    loss: float = 0.2
    most_sizes: int = 8
    seed: int = 1


@dataclass
class SweepRecord:
    """All rounds of a sweep.

    Attributes:
        settings: when it ends.
        start: size before it.
        sizes: that are measured in the next round.
        dropped: sizes that are measured no more, since they are surely worse than the best.
        refused: sizes that could not be brought into effect.
        rounds: operations a second by size, of each round.
        discarded: rounds that do not count.
        elapsed_s: since the first interval, what does not count included.
        lost_s: work lost at other sizes than the one at the start, in seconds of what the program
            does there; below 0 where it did more.
        usual: operations a second of the last block at the start's size; 0 before it.
        curve: of the rounds so far; None before the second one.
    """

    settings: SweepSettings
    start: int
    sizes: list[int]
    dropped: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    rounds: list[dict[int, float]] = field(default_factory=list)
    discarded: int = 0
    elapsed_s: float = 0.0
    lost_s: float = 0.0
    usual: float = 0.0
    curve: SizeCurve | None = None

    def add_round(self, found: Mapping[int, float]) -> None:
        """Add what one round measured, and leave out what needs to be measured no more."""
        if all(found.get(size, 0.0) > 0 for size in self.sizes):
            self.rounds.append(dict(found))
        else:
            self.discarded += 1
        try:
            self.curve = fit(self._known_rounds(), self.start, self.dropped)
        except SweepError:
            return
        if len(self.rounds) >= MIN_ROUNDS:
            worse = {*self.curve.worse} - {self.start}
            self.dropped |= worse
            self.sizes = [size for size in self.sizes if size not in worse]

    def refuse(self, size: int) -> None:
        """A size cannot be brought into effect: measure it no more."""
        self.refused.add(size)
        self.sizes = [one for one in self.sizes if one != size]

    def add_loss(self, seconds: float, ops: float) -> None:
        """Count an interval at another size than that at the start."""
        if self.usual > 0:
            self.lost_s += seconds - ops / self.usual

    @property
    def is_harmful(self) -> bool:
        """Whether more was lost than may be."""
        return self.lost_s > self.settings.loss * self.settings.most_s

    @property
    def verdict(self) -> Verdict:
        """What the rounds show."""
        if self.is_harmful:
            return "harmful"
        if self.curve is not None and self.curve.is_decided and len(self.rounds) >= MIN_ROUNDS:
            return "decided"
        measurable = {*self.sizes, *self.dropped}
        if len(measurable) < 2 or self.elapsed_s >= self.settings.most_s:
            return "unsettled"
        return "open"

    def _known_rounds(self) -> list[dict[int, float]]:
        return [
            {size: value for size, value in found.items() if size not in self.refused}
            for found in self.rounds
        ]
