"""Which calls a trace makes, in which order, and whether they fail: what is rare of that.

A call is there, fails, is repeated or comes after another with a probability of its own, given its
caller is there. What few traces have is abnormal only if a normal rare path would have been taken
more often: so that few abnormal traces with the same fault do not hide each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, log, pi, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.vectors import ROOT, Chains, Entries, Floats, Ints, places_by

P_VALUE = 0.0005
"""Share of normal traces that one measure calls improbable; the value is the source's."""
TAIL = 0.2
"""Share of normal traces, the greatest values, to which the tail of the distribution is fitted."""
FAR = 30.0
"""Standard deviations beyond which the tail is approximated: its probability underflows."""
CLOSE = 1e-6
"""Tolerance of the search for a deviation, in standard deviations."""
Values = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Limit:
    """Value above which a measure is abnormal.

    Attributes:
        value: normal traces exceed this value with probability P_VALUE.
        excess: mean excess of an exponential tail, in the unit of the measure.
    """

    value: float
    excess: float

    def surprise(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Negative logarithm of how probable it is that a usual trace has more."""
        return np.asarray(np.maximum(0.0, (values - self.value) / self.excess - log(P_VALUE)))


def tailed(values: Values, least: float) -> Limit:
    """The limit of a measure whose great values become exponentially rarer.

    Their mean excess over the least of them is estimated by the median excess, so that half of the
    tail may be abnormal. Source: peaks over a threshold (J. Pickands, 1975), with the shape that
    sums and maxima of squares of normal deviations, and logarithms of probabilities, have.

    Args:
        values: of usual traces, at least one.
        least: the mean excess is not less: values may all be the same.
    """
    high = float(np.quantile(values, 1 - TAIL))
    above = np.asarray(values)[np.asarray(values) > high] - high
    excess = max(least, float(np.median(above)) / log(2) if len(above) else 0.0)
    return Limit(high + excess * log(TAIL / P_VALUE), excess)


def in_deviations(surprise: float) -> float:
    """Convert a surprise to standard deviations above the mean; 0 in the lower half."""
    low, high = 0.0, sqrt(2 * surprise)
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if _upper(middle) < surprise else (low, middle)
    return low


def _upper(deviations: float) -> float:
    """Negative logarithm of a normal distribution's upper tail."""
    if deviations > FAR:
        return deviations * deviations / 2 + log(deviations * sqrt(2 * pi))
    return -log(erfc(deviations / sqrt(2)) / 2)


Kind = Literal["unseen", "missing", "failed", "repeated", "reordered", "improbable"]

MIN_RATE = 0.02
"""Normal paths are taken by at least this part of the traces that could take them."""
MIN_TIMES = 4.0
"""And at least this often, in the mean: few traces do not say what is rare."""
OWN_SHARE, OTHER_SHARE = 0.01, 0.005
"""Of those that could, more than this part has what is not rare: of the set's own traces, whose
abnormal ones count, and of earlier ones."""
UNSEEN_FACTOR = 0.5
"""Of these shares for calls: normal requests take a rare path more often than they skip a usual
call, fail in a new way or change their order."""
OWN_DOUBT, OTHER_DOUBT = 0.2, 0.02
"""How probable it may be that a normal path is taken so seldom."""
AT_ONCE_SHARE = 0.05
"""Of the traces with two calls in their usual order, more have them at once if that is normal."""
OWN_CROWD, OTHER_CROWD = 0.025, 0.01
"""If more of the usual traces have something rare of a kind, this is normal for the endpoint."""
MIN_CROWD = 8
"""Traces; fewer are no crowd."""
MAX_COUNTED = 64
"""Traces; what more have is not rare."""
PRIOR = 0.5
"""Counted to both choices (H. Jeffreys): what was never seen is not impossible."""


@dataclass(frozen=True, slots=True)
class Events:
    """Something rare in traces, one entry each.

    Attributes:
        trace: place of the trace.
        feature: the chain that it is of.
        surprise: negative logarithm of how probable it is that a normal path is so rare.
    """

    trace: Ints
    feature: Ints
    surprise: Floats

    def most(self, traces: int) -> Floats:
        """The greatest surprise of each trace, 0 for none."""
        most = np.zeros(traces)
        np.maximum.at(most, self.trace, self.surprise)
        return most

    def above(self, limit: Limit) -> "Events":
        """Those beyond a limit, with their surprise by it."""
        beyond = self.surprise > limit.value
        return Events(
            self.trace[beyond], self.feature[beyond], limit.surprise(self.surprise[beyond])
        )


NOTHING = Events(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Choices:
    """What choices are usual.

    Attributes:
        chains: features.
        traces: how many said what is usual.
        counts: of them, those that have each chain.
        chances: those that have its caller's.
        failures: those in which it failed.
        usual_most: median of how often it is called at once.
        more, fewer: by chain, traces in which it is called more, or less, often at once.
        orders, at_once: by two chains, traces with the second after the first, and with both.
    """

    chains: Chains
    traces: int
    counts: Ints
    chances: Ints
    failures: Ints
    usual_most: Ints
    more: "Tally"
    fewer: "Tally"
    orders: "Tally"
    at_once: "Tally"

    def events(self, entries: Entries, less: int, own: bool) -> dict[Kind, Events]:
        """What is rare in traces, by kind.

        Args:
            entries: of the traces.
            less: subtracted from all counts: 1 judges usual traces by the others.
            own: the traces are those that say what is usual.
        """
        feature, trace = entries.feature, entries.trace
        parents = np.array(self.chains.parents, np.int64)
        called = parents[feature] != ROOT
        chances = self.chances[feature] - less
        # Below an unseen chain all are.
        seen = called & (chances > 0)
        unseen = self._rare(
            trace[seen],
            feature[seen],
            self.counts[feature[seen]] - less,
            chances[seen],
            own,
            UNSEEN_FACTOR,
        )
        failed = entries.failed > 0
        fails = self._rare(
            trace[failed],
            feature[failed],
            self.failures[feature[failed]] - less,
            self.counts[feature[failed]] - less,
            own,
        )
        return {
            "unseen": unseen,
            "failed": fails,
            "missing": _joined(
                self._missing(entries, less, own), self._counted(entries, less, own, self.fewer)
            ),
            "repeated": self._counted(entries, less, own, self.more),
            "reordered": self._reordered(entries, less, own),
        }

    def crowd(self, usual: Events, own: bool) -> float:
        """What surprises must exceed, as too many of the usual traces have as much.

        Args:
            usual: what is rare in them, of one kind.
            own: as in `events`.
        """
        share = OWN_CROWD if own else OTHER_CROWD
        share = max(share, MIN_CROWD / self.traces)
        return float(np.quantile(usual.most(self.traces), 1 - share))

    def varied(self) -> NDArray[np.bool_]:
        """True for chains that are often called more than usually at once."""
        return np.asarray(self.more.totals > np.maximum(1, OWN_SHARE * self.counts))

    def _missing(self, entries: Entries, less: int, own: bool) -> Events:
        """Calls that nearly all make that could, and that a trace does not."""
        lacking = self.chances - self.counts
        parents = np.array(self.chains.parents, np.int64)
        nearly = np.flatnonzero(
            (parents != ROOT)
            & (self.counts > 0)
            & (self._surprise(lacking - less, self.chances - less, own) > 0)
        )
        have = places_by(entries.feature, {*nearly.tolist(), *parents[nearly].tolist()})
        found = [NOTHING]
        for feature in nearly.tolist():
            without = np.setdiff1d(
                entries.trace[have[self.chains.parents[feature]]], entries.trace[have[feature]]
            )
            if len(without):
                same = np.full(len(without), feature)
                found.append(
                    self._rare(without, same, lacking[same] - less, self.chances[same] - less, own)
                )
        return _joined(*found)

    def _counted(self, entries: Entries, less: int, own: bool, tally: "Tally") -> Events:
        """Calls that are made more, or less, often at once than they nearly always are."""
        usual = self.usual_most[entries.feature]
        sign = 1 if tally is self.more else -1
        odd = (usual > 0) & (sign * (entries.most - usual) > 0)
        feature, trace = entries.feature[odd], entries.trace[odd]
        nearly = self._surprise(tally.totals[feature] - less, self.counts[feature] - less, own) > 0
        feature, trace = feature[nearly], trace[nearly]
        return self._rare(
            trace, feature, tally.totals[feature] - less, self.counts[feature] - less, own
        )

    def _reordered(self, entries: Entries, less: int, own: bool) -> Events:
        after = entries.orders[2] > 0
        first, second = entries.orders[:2, after]
        count = self.orders.of(first, second) - less
        against = self.orders.of(second, first)
        at_once = self.at_once.of(first, second) + self.at_once.of(second, first)
        # Calls at once are one after the other by chance, when one of them is short.
        count = np.where(at_once <= AT_ONCE_SHARE * against, count, against)
        return self._rare(entries.order_trace[after], second, count, count + against, own)

    def _rare(
        self,
        trace: Ints,
        feature: Ints,
        count: Ints,
        chances: Ints,
        own: bool,
        factor: float = 1.0,
    ) -> Events:
        surprise = self._surprise(count, chances, own, factor)
        rare = surprise > 0
        return Events(trace[rare], feature[rare], surprise[rare])

    def _surprise(self, count: Ints, chances: Ints, own: bool, factor: float = 1.0) -> Floats:
        """Of so few among so many that could; 0 for what is not rare."""
        rate = max(MIN_RATE, MIN_TIMES / max(1, self.traces))
        share = factor * (OWN_SHARE if own else OTHER_SHARE)
        most = np.minimum(MAX_COUNTED, np.maximum(int(own), (share * chances).astype(np.int64)))
        mean = rate * np.maximum(chances, 0)
        term = np.ones(len(mean))
        total = np.ones(len(mean))
        for number in range(1, int(count[count <= most].max(initial=0)) + 1):
            term = term * mean / number
            total = np.where(number <= count, total + term, total)
        surprise = mean - np.log(total)
        doubt = OWN_DOUBT if own else OTHER_DOUBT
        return np.where((count <= most) & (surprise > -np.log(doubt)), surprise, 0.0)

    def total(self, entries: Entries, less: int) -> Floats:
        """Surprise of each trace by all its choices: negative logarithm of their probability."""
        parents = np.array(self.chains.parents, np.int64)
        chances = self.chances.astype(np.float64)
        missing = -np.log((self.chances - self.counts + PRIOR) / (chances + 2 * PRIOR))
        called = parents != ROOT
        beneath = np.bincount(parents[called], missing[called], len(parents))
        feature = entries.feature
        own = np.maximum(0, self.counts[feature] - less)
        above = np.maximum(0, self.chances[feature] - less)
        there = -np.log((own + PRIOR) / (above + 2 * PRIOR)) - missing[feature]
        there = np.where(called[feature] & (above > 0), there, 0.0)
        beneath_own = np.where(own > 0, beneath[feature], 0.0)
        total: Floats = np.bincount(entries.trace, there + beneath_own, entries.traces).astype(
            np.float64
        )
        return total


class Tally:
    """How many traces have each key, a chain or two of them."""

    def __init__(self, keys: NDArray[np.int64], features: int) -> None:
        self._features = features
        self.keys, self.counts = np.unique(keys, return_counts=True)

    @property
    def totals(self) -> Ints:
        """By chain, for keys that are one."""
        totals = np.zeros(self._features, np.int64)
        totals[self.keys] = self.counts
        return totals

    def of(self, first: Ints, second: Ints) -> Ints:
        """By two chains."""
        if not len(self.keys):
            return np.zeros(len(first), np.int64)
        keys = first * self._features + second
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.counts[places], 0)


def learn_choices(chains: Chains, entries: Entries) -> Choices:
    """What is usual of the choices of traces, most of which are normal.

    Args:
        chains: all features, those of traces that will be judged too.
        entries: of the traces.
    """
    features = len(chains)
    feature = entries.feature
    counts = np.bincount(feature, minlength=features)
    parents = np.array(chains.parents, np.int64)
    chances = np.where(parents == ROOT, entries.traces, counts[parents])
    order = np.lexsort((entries.most, feature))
    begins = np.cumsum(counts) - counts
    middle = np.where(counts > 0, begins + (counts - 1) // 2, 0)
    usual_most = np.where(counts > 0, entries.most[order][middle], 0) if len(order) else counts
    usual = usual_most[feature]
    first, second, after = entries.orders
    return Choices(
        chains,
        entries.traces,
        counts,
        chances,
        np.bincount(feature[entries.failed > 0], minlength=features),
        usual_most,
        Tally(feature[entries.most > usual], features),
        Tally(feature[entries.most < usual], features),
        *(
            Tally(first[chosen] * features + second[chosen], features)
            for chosen in (after > 0, after == 0)
        ),
    )


def _joined(*some: Events) -> Events:
    return Events(
        np.concatenate([one.trace for one in some]),
        np.concatenate([one.feature for one in some]),
        np.concatenate([one.surprise for one in some]),
    )
