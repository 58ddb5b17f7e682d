"""Evidence of a proof: pairs of blocks, confidence intervals, and the verdict they allow. Pure.

Someone who looks at an ordinary interval again and again, and stops as soon as it leaves out zero,
finds differences where there are none. The intervals of `mean_interval` hold at all times together:
the probability that any of them ever leaves out the mean is at most 5 %. They come from the mixture
of t statistics of T. L. Lai, "On confidence sequences", The Annals of Statistics 4 (1976), with a
normal prior of the mean in units of the standard deviation: H. Wang and A. Ramdas, "Anytime-valid
t-tests and confidence sequences for Gaussian means with unknown variance", Sequential Analysis 44
(2025). The values are assumed to be independent and normally distributed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

ALPHA = 0.05

PRIOR = 4.0
"""Variance of the prior: differences of about two standard deviations are found soonest."""

LOWEST_BITS = 10
"""Entry b of a histogram is of times below 2^(b+10) ns."""

MIN_JOBS = 100
"""Minimum number of jobs. With fewer, the 99th percentile is just the longest job."""

PART = 0.99

MAX_ALIKE = 0.5
"""Maximum share of jobs in one entry. Beyond it, the percentile within the entry is unknown."""

MIN_PAIRS = 3

WIDEST = 0.05
"""Difference below which the two are the same once the time has passed."""


class Interval(NamedTuple):
    """A mean and its interval, infinite while the values say nothing."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"{self.mean:+.1%} so far"
        return f"{self.mean:+.1%} [{self.low:+.1%}, {self.high:+.1%}]"


def mean_interval(values: Sequence[float], alpha: float = ALPHA) -> Interval:
    """The mean of values, and where the mean of their distribution is.

    Args:
        values: in the order in which they came.
        alpha: greatest probability that any of the intervals leaves out the mean.

    Raises:
        ValueError: there are no values.
    """
    n = len(values)
    if not n:
        raise ValueError("the mean of no values")
    mean = math.fsum(values) / n
    half = _half_width(values, mean, alpha)
    return Interval(mean, mean - half, mean + half)


def _half_width(values: Sequence[float], mean: float, alpha: float) -> float:
    n = len(values)
    freedom = n - 1
    if not freedom:
        return math.inf
    shrink = 1 + n * PRIOR
    most = math.exp((math.log(shrink) / 2 - math.log(alpha)) * 2 / n)
    if most >= shrink:
        return math.inf
    variance = math.fsum((value - mean) ** 2 for value in values) / freedom
    t_squared = freedom * (most - 1) / (1 - most / shrink)
    return math.sqrt(t_squared * variance / n)


def add_up(histograms: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The sum of histograms, as long as the longest."""
    longest = max(map(len, histograms), default=0)
    return tuple(sum(one[b] for one in histograms if b < len(one)) for b in range(longest))


def p99(counts: Sequence[int]) -> float | None:
    """The 99th percentile, seconds; None of fewer than 100 jobs, or if the entry has most of them.

    Within an entry times count as spread evenly over their logarithms: two blocks whose percentile
    is in the same entry differ by where in it.
    """
    total = sum(counts)
    if total < MIN_JOBS:
        return None
    left = PART * total
    for b, count in enumerate(counts):
        if count and left <= count:
            if count > MAX_ALIKE * total:
                return None
            return float(2 ** (b + LOWEST_BITS - 1 + left / count)) / 1e9
        left -= count
    return float(2 ** (len(counts) + LOWEST_BITS - 1)) / 1e9


Verdict = Literal["open", "better", "worse", "same", "harmful", "unsettled"]
"""How a proof stands.

`same`: the difference is smaller than what is asked for, or than WIDEST once the time has passed;
or the policy keeps the program's own size. `unsettled`: the time has passed, and neither a
difference nor its absence is shown.
"""


@dataclass(frozen=True, slots=True)
class ProofSettings:
    """When a proof ends.

    Attributes:
        block_s: how long a block is measured, seconds.
        most_s: how long the whole may take.
        smallest: relative difference below which the two are the same.
        loss: share of the work that may be lost before it is stopped.
        learning_s: work that may be lost besides, once, before the policy has learned, in seconds
            of what the program does without it.
        most_learning_s: how long it may take to learn; what it does later is measured.
        seed: of the order of blocks.
    """

    block_s: float = 20.0
    most_s: float = 900.0
    smallest: float = 0.01
    loss: float = 0.05
    learning_s: float = 15.0
    most_learning_s: float = 120.0
    seed: int = 1


@dataclass(slots=True)
class Block:
    """Intervals of one side in a row, of those that count.

    Attributes:
        tested: whether the policy steers in it.
        seconds: measured.
        ops: operations in them.
        responses: jobs by response time, as an observation has them.
        moved: whether it had another size than the program's own.
    """

    tested: bool
    seconds: float = 0.0
    ops: float = 0.0
    responses: tuple[int, ...] = ()
    moved: bool = False

    def add(self, seconds: float, ops: float, responses: tuple[int, ...] = ()) -> None:
        """Add an interval."""
        self.seconds += seconds
        self.ops += ops
        self.responses = add_up((self.responses, responses))

    def lost(self, reference: float) -> float:
        """Seconds of work that it did less than at so many operations a second."""
        return self.seconds - self.ops / reference if reference > 0 else 0.0

    @property
    def progress(self) -> float:
        """Operations a second; 0 before the first interval."""
        return self.ops / self.seconds if self.seconds else 0.0


@dataclass
class ProofRecord:
    """All pairs of a proof.

    Attributes:
        settings: when it ends.
        ratios: natural logarithms of progress with the policy over progress without, a pair each.
        p99_ratios: the same of the 99th percentile of response times, of pairs that have it.
        discarded: pairs in which a side did nothing, or the program entered another phase.
        elapsed_s: since the first interval, what does not count included.
        charged_s: work that was surely lost while the policy steered, in seconds of what the
            program does without; below 0 where it did more.
        reference: operations per second of the last block without steering; 0 before it.
        since: what the policy did since then.
        learning: what the policy did before it had learned: it is in no pair.
        learning_lost_s: work lost in that, by the reference of that time.
        unmoved: last pairs in a row in which the policy kept the program's own size.
    """

    settings: ProofSettings
    ratios: list[float] = field(default_factory=list)
    p99_ratios: list[float] = field(default_factory=list)
    discarded: int = 0
    elapsed_s: float = 0.0
    charged_s: float = 0.0
    reference: float = 0.0
    since: Block = field(default_factory=lambda: Block(tested=True))
    learning: Block = field(default_factory=lambda: Block(tested=True))
    learning_lost_s: float = 0.0
    unmoved: int = 0

    def learn(self, seconds: float, ops: float) -> None:
        """Add an interval in which the policy had not learned yet."""
        self.learning.add(seconds, ops)
        if self.reference > 0:
            self.learning_lost_s += seconds - ops / self.reference

    def add_pair(self, tested: Block, against: Block) -> None:
        """Add two blocks next to each other."""
        if tested.ops > 0 and against.ops > 0:
            self.ratios.append(math.log(tested.progress / against.progress))
            self.unmoved = 0 if tested.moved else self.unmoved + 1
            slow, reference = p99(tested.responses), p99(against.responses)
            if slow and reference:
                self.p99_ratios.append(math.log(slow / reference))
        else:
            self.discarded += 1

    def charge(self, reference: float) -> None:
        """The policy does not steer any more: charge it with what it lost since it began.

        A program's level changes by itself, too. So only what is less than both before and after is
        a loss, and only what is more than both is a gain.

        Args:
            reference: what the program does without it now, operations a second.
        """
        low, high = sorted((self.reference, reference))
        self.charged_s += self.since.lost(min(max(self.since.progress, low), high))
        self.since, self.reference = Block(tested=True), reference

    @property
    def lost_s(self) -> float:
        """Work lost, with what is not sure yet: compared with the last reference."""
        return self.charged_s + self.since.lost(self.reference)

    @property
    def gain(self) -> Interval | None:
        """Relative gain of progress by the policy; None before the first pair."""
        return relative_mean(self.ratios) if self.ratios else None

    @property
    def p99(self) -> Interval | None:
        """Change of the 99th percentile of response times by the policy, relative; None: none is
        known."""
        return relative_mean(self.p99_ratios) if self.p99_ratios else None

    @property
    def most_lost_s(self) -> float:
        """How much may be lost.

        A share of the time so far, at least of two pairs: a loss of a moment is none. Besides, what
        it cost to learn: that is paid once.
        """
        settings = self.settings
        learning_s = min(max(0.0, self.learning_lost_s), settings.learning_s)
        return settings.loss * max(self.elapsed_s, 4 * settings.block_s) + learning_s

    @property
    def verdict(self) -> Verdict:
        """Verdict of the pairs so far."""
        if self.charged_s > self.most_lost_s:
            return "harmful"
        gain = self.gain
        if gain is not None and len(self.ratios) >= MIN_PAIRS:
            if gain.low > 0:
                return "better"
            if gain.high < 0:
                return "worse"
            if max(-gain.low, gain.high) < self._smallest or self.unmoved >= MIN_PAIRS:
                return "same"
        return "unsettled" if self._is_over else "open"

    @property
    def _is_over(self) -> bool:
        return self.elapsed_s >= self.settings.most_s

    @property
    def _smallest(self) -> float:
        """Relative difference below which the two are the same."""
        smallest = self.settings.smallest
        return max(smallest, WIDEST) if self._is_over else smallest


def relative_mean(ratios: Sequence[float], alpha: float = ALPHA) -> Interval:
    """The mean of natural logarithms of ratios as a relative difference, with its interval.

    Raises:
        ValueError: there are no ratios.
    """
    return Interval(*map(_relative, mean_interval(ratios, alpha)))


def _relative(ratio: float) -> float:
    return math.inf if ratio > 700 else math.expm1(ratio)
