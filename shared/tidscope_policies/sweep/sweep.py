"""A policy that measures sizes, each for a block in every round, and ends by itself.

The first interval of a block is left out, because the change of the size is still felt in it. So is
one in which another size than the wanted one was in effect. At the end the program has its own size
again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tidscope_policies.contract import WAITS_ITS_TURN, Bounds, Decision, Observation, is_usable
from tidscope_policies.proving.proof import shuffled
from tidscope_policies.sweep.size_curve import KNEE, SizeCurve, SweepError, fit

INTERVAL_S = 0.5

LATE_S = 4.0
"""A block may take so much longer than three of its length; then its size cannot be had."""

MIN_OPS = 0.5
"""Operations assumed for a block without any: a logarithm needs a positive number."""

MIN_ROUNDS = 4
"""Fewer give no interval."""

Verdict = Literal["open", "decided", "harmful", "unsettled"]
"""How a sweep stands.

`decided`: the knee is known. `unsettled`: the time has passed, or no other size can be set.
"""


@dataclass(frozen=True, slots=True)
class SweepSettings:
    """Settings of a sweep: the sizes measured, and when it ends.

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
        reference: operations a second of the last block at the start's size; 0 before it.
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
    reference: float = 0.0
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
        if self.reference > 0:
            self.lost_s += seconds - ops / self.reference

    @property
    def is_harmful(self) -> bool:
        """True if more work was lost than allowed."""
        return self.lost_s > self.settings.loss * self.settings.most_s

    @property
    def verdict(self) -> Verdict:
        """Verdict of the rounds so far."""
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


class Sweep:
    """Measures operations a second against size.

    Args:
        settings: what is measured, and when it ends.
    """

    def __init__(self, settings: SweepSettings) -> None:
        self._settings = settings
        self._record: SweepRecord | None = None
        self._began_s = 0.0
        self._turn = 0
        self._queue: list[int] = []
        self._found: dict[int, float] = {}
        self._missed: dict[int, int] = {}
        self._begin_block()
        self.verdict: Verdict = "open"

    @property
    def record(self) -> SweepRecord | None:
        """Measurements so far, or None before the first interval."""
        return self._record

    def observe(self, seen: Observation) -> Decision:
        """Measure an interval, and go on to the next size when its block is long enough."""
        record = self._record or self._begin(seen)
        record.elapsed_s = seen.at_s - self._began_s
        if is_usable(seen) and seen.size != record.start:
            record.add_loss(seen.elapsed_s, seen.ops)
        if seen.probing_elsewhere:
            self._begin_block()
            self.verdict = record.verdict
            if self.verdict == "open":
                return Decision(record.start, "sweep, waiting", WAITS_ITS_TURN, deferred=True)
        else:
            self._measure(record, seen)
            self.verdict = record.verdict
        if self.verdict != "open":
            return Decision(record.start, "sweep ended", describe_sweep(record), release=True)
        size = self._queue[0]
        state = f"sweep, round {self._turn + 1}, size {size}"
        return Decision(size, state, describe_sweep(record), probing=True)

    def restart(self, reason: str) -> None:
        """The program may have changed: discard the round under way; `reason` says why."""
        record = self._record
        if record is not None and self.verdict == "open" and (self._found or self._seconds):
            record.discarded += 1
            self._begin_round(record)

    def _begin(self, seen: Observation) -> SweepRecord:
        settings, bounds = self._settings, seen.bounds
        start = bounds.clamp(seen.size)
        sizes = choose_sizes(bounds, settings.most_sizes)
        record = SweepRecord(settings, start, sorted({*sizes, start}))
        self._record, self._began_s = record, seen.at_s - seen.elapsed_s
        self._begin_round(record)
        return record

    def _begin_round(self, record: SweepRecord) -> None:
        self._found = {}
        self._queue = order(record.sizes, record.start, self._settings.seed, self._turn)
        self._begin_block()

    def _begin_block(self) -> None:
        self._fresh = True
        self._seconds = self._ops = self._spent_s = 0.0

    def _measure(self, record: SweepRecord, seen: Observation) -> None:
        size = self._queue[0]
        self._spent_s += seen.elapsed_s
        if is_usable(seen) and not self._fresh and seen.size == size:
            self._seconds += seen.elapsed_s
            self._ops += seen.ops
        self._fresh = False
        if self._seconds >= self._settings.block_s:
            self._end_block(record, size)
        elif self._spent_s > 3 * self._settings.block_s + LATE_S:
            self._miss(record, size)

    def _end_block(self, record: SweepRecord, size: int) -> None:
        if size == record.start:
            record.reference = self._ops / self._seconds
            self._found[size] = record.reference
        else:
            self._found[size] = max(MIN_OPS, self._ops) / self._seconds
        self._go_on(record)

    def _miss(self, record: SweepRecord, size: int) -> None:
        """A size did not come into effect, or no interval at it counted."""
        self._missed[size] = self._missed.get(size, 0) + 1
        if self._missed[size] > 1 and size != record.start:
            record.refuse(size)
        self._go_on(record)

    def _go_on(self, record: SweepRecord) -> None:
        self._queue.pop(0)
        if self._queue:
            self._begin_block()
            return
        record.add_round(self._found)
        self._turn += 1
        self._begin_round(record)


def choose_sizes(bounds: Bounds, most: int) -> list[int]:
    """Sizes to measure: all there are, or `most` of them, evenly spaced in log2.

    Raises:
        ValueError: `most` is below 2.
    """
    if most < 2:
        raise ValueError(f"{most} sizes: want at least 2")
    if len(bounds.sizes) <= most:
        return list(bounds.sizes)
    ratio = (bounds.high / bounds.low) ** (1 / (most - 1))
    return sorted({bounds.clamp(round(bounds.low * ratio**at)) for at in range(most)})


def order(sizes: Sequence[int], start: int, seed: int, turn: int) -> list[int]:
    """Return the sizes of a round in a random order of its own; rounds are counted from 0.

    The level of a program wanders. Rounds let sizes be compared within short times, and a random
    order keeps a drift within a round from looking like an effect of the size. The first round
    begins with the size at the start: throughput there must be known before anything else can be
    called a loss.
    """
    found = shuffled(sizes, seed, turn)
    if turn == 0 and start in found:
        found.remove(start)
        found.insert(0, start)
    return found


def describe_sweep(record: SweepRecord) -> str:
    """How a sweep stands, one to three sentences."""
    curve, said = record.curve, []
    match record.verdict:
        case "harmful":
            most = record.settings.loss * record.settings.most_s
            said.append(
                f"Stopped: other sizes than {record.start} lost {record.lost_s:.1f} s of work in "
                f"{record.elapsed_s:.0f} s, more than the {most:.1f} s that may be lost."
            )
        case "unsettled" if curve is None:
            said.append(f"No curve after {record.elapsed_s:.0f} s.")
        case "unsettled":
            said.append(f"The knee is not settled after {record.elapsed_s:.0f} s.")
        case _:
            pass
    if curve is None:
        said.append(f"{_rounds(len(record.rounds))} measured.")
    else:
        said.append(_knee(curve, record))
    if record.refused:
        names = ", ".join(str(size) for size in sorted(record.refused))
        said.append(f"Cannot be set: {names}.")
    return " ".join(said)


def _knee(curve: SizeCurve, record: SweepRecord) -> str:
    known = {point.size: point.ops_per_s for point in curve.points}
    text = f"{curve.knee} is the smallest size within {KNEE:.0%} of the best"
    if curve.knee_from != curve.knee_to:
        text += f" so far (from {curve.knee_from} to {curve.knee_to} is possible)"
    text += f": {known[curve.knee]:,.4g} operations a second"
    if curve.gain is not None and curve.knee != record.start:
        text += f", {curve.gain} against size {record.start}"
    return f"{text}, after {_rounds(len(record.rounds))}."


def _rounds(count: int) -> str:
    return f"{count} round{'' if count == 1 else 's'}"


PoolKind = Literal["go", "go-pool", "python", "java", "rust"]

LINES: dict[PoolKind, str] = {
    "go": "GOMAXPROCS={size}",
    "go-pool": "tidscope.NewPool(name, {size})",
    "python": "ThreadPoolExecutor(max_workers={size})",
    "java": "Executors.newFixedThreadPool({size})",
    "rust": "Pool::new(name, {size})",
}


def line(template: str, size: int) -> str:
    """Return the line that sets a size for good: an environment variable, or a constructor.

    Args:
        template: one of `LINES`, or what the program says itself.
        size: the size.

    Raises:
        ValueError: the size is below 1.
    """
    if size < 1:
        raise ValueError(f"size {size}: want at least 1")
    return template.replace("{size}", str(size))
