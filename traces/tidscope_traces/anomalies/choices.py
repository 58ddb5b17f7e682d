"""Rare choices of a trace: which calls it makes, in which order, and whether the calls fail.

A call is present, fails, repeats or follows another with a fixed probability, given its caller. A
rare feature is abnormal only if a normal rare path would occur more often. A few abnormal traces
with the same fault therefore do not hide each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, log, pi, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.vectors import ROOT, Chains, Entries, Floats, Ints, places_by

P_VALUE = 0.0005
"""Share of normal traces that one measure calls improbable; value from the source."""
TAIL = 0.2
"""Share of normal traces, with the greatest values, to which the distribution's tail is fitted."""
FAR = 30.0
"""Standard deviations beyond which the tail is approximated: its probability would underflow."""
CLOSE = 1e-6
"""Tolerance of the search for a deviation, in standard deviations."""
Values = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit above which a measure is abnormal.

    Attributes:
        value: value that normal traces exceed with probability P_VALUE.
        excess: mean excess of an exponential tail, in the unit of the measure.
    """

    value: float
    excess: float

    def surprise(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the negative log probability that a reference trace exceeds a value."""
        return np.asarray(np.maximum(0.0, (values - self.value) / self.excess - log(P_VALUE)))


def tailed(values: Values, least: float) -> Limit:
    """Fit the limit of a measure with an exponential tail.

    The mean excess over the tail's least value is estimated by the median excess, so that half of
    the tail may be abnormal. Source: peaks over a threshold (J. Pickands, 1975). The shape matches
    sums and maxima of squared normal deviations, and logarithms of probabilities.

    Args:
        values: values of reference traces, at least one.
        least: minimum of the mean excess, for the case of equal values.
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
    """Return the negative logarithm of a normal distribution's upper tail."""
    if deviations > FAR:
        return deviations * deviations / 2 + log(deviations * sqrt(2 * pi))
    return -log(erfc(deviations / sqrt(2)) / 2)


Kind = Literal["unseen", "missing", "failed", "repeated", "reordered", "improbable"]

MIN_RATE = 0.02
"""Minimum share of normal paths among the traces that could take them."""
MIN_TIMES = 4.0
"""Minimum mean number of occurrences; fewer traces cannot show that a path is rare."""
OWN_SHARE, OTHER_SHARE = 0.01, 0.005
"""Share of eligible traces above which a feature is not rare, in the set itself and in earlier
ones.

The set's share is higher, because the set includes abnormal traces.
"""
UNSEEN_FACTOR = 0.5
"""Factor on these shares for calls.

Normal requests take a rare path more often than they skip a common call, fail in a new way or
change the order.
"""
OWN_DOUBT, OTHER_DOUBT = 0.2, 0.02
"""Acceptable probability that a normal path is this rare."""
AT_ONCE_SHARE = 0.05
"""Share of traces with two ordered calls above which running them at once is normal."""
OWN_CROWD, OTHER_CROWD = 0.025, 0.01
"""Share of reference traces above which a kind of rarity is normal for the endpoint."""
MIN_CROWD = 8
"""Minimum number of traces in a crowd."""
MAX_COUNTED = 64
"""Number of traces above which a feature is not rare."""
PRIOR = 0.5
"""Pseudo-count for both outcomes (H. Jeffreys): an unseen feature is not impossible."""


@dataclass(frozen=True, slots=True)
class Events:
    """Rare features of traces, one entry each.

    Attributes:
        trace: index of the trace.
        feature: chain of callers with the feature.
        surprise: negative log probability that a normal path is this rare.
    """

    trace: Ints
    feature: Ints
    surprise: Floats

    def most(self, traces: int) -> Floats:
        """Return the greatest surprise of each trace, 0 for none."""
        most = np.zeros(traces)
        np.maximum.at(most, self.trace, self.surprise)
        return most

    def above(self, limit: Limit) -> "Events":
        """Return the entries beyond a limit, with their surprise relative to it."""
        beyond = self.surprise > limit.value
        return Events(
            self.trace[beyond], self.feature[beyond], limit.surprise(self.surprise[beyond])
        )


NOTHING = Events(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Choices:
    """Statistics of choices in reference traces.

    Attributes:
        chains: chains of callers, the features.
        traces: number of reference traces.
        counts: number of traces with each chain.
        chances: number of traces with the chain's caller.
        failures: number of traces in which the chain failed.
        median_most: median number of calls at once.
        more, fewer: traces with more, or fewer, calls at once, by chain.
        orders, at_once: traces with the second chain after the first, and with both, by pair of
            chains.
    """

    chains: Chains
    traces: int
    counts: Ints
    chances: Ints
    failures: Ints
    median_most: Ints
    more: "Tally"
    fewer: "Tally"
    orders: "Tally"
    at_once: "Tally"

    def events(self, entries: Entries, less: int, own: bool) -> dict[Kind, Events]:
        """Return the rare features of traces, by kind.

        Args:
            entries: entries of the traces.
            less: number subtracted from all counts; 1 judges each reference trace by the others.
            own: whether the traces are the reference traces.
        """
        feature, trace = entries.feature, entries.trace
        parents = np.array(self.chains.parents, np.int64)
        called = parents[feature] != ROOT
        chances = self.chances[feature] - less
        # All descendants of an unseen chain are unseen.
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

    def crowd(self, reference: Events, own: bool) -> float:
        """Return the surprise that too many reference traces reach, as the new minimum.

        Args:
            reference: rare features of one kind in the reference traces.
            own: whether the traces are the reference traces.
        """
        share = OWN_CROWD if own else OTHER_CROWD
        share = max(share, MIN_CROWD / self.traces)
        return float(np.quantile(reference.most(self.traces), 1 - share))

    def varied(self) -> NDArray[np.bool_]:
        """Return True for chains that often have more calls at once than the median."""
        return np.asarray(self.more.totals > np.maximum(1, OWN_SHARE * self.counts))

    def _missing(self, entries: Entries, less: int, own: bool) -> Events:
        """Return calls that a trace lacks although nearly all eligible traces make them."""
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
        """Return calls whose number at once is higher, or lower, than in nearly all traces."""
        median = self.median_most[entries.feature]
        sign = 1 if tally is self.more else -1
        odd = (median > 0) & (sign * (entries.most - median) > 0)
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
        # Calls at once are in sequence by chance if one of them is short.
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
        """Return the surprise of a count among eligible traces; 0 if not rare."""
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
        """Return the surprise of each trace by all its choices: their negative log probability."""
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
    """Number of traces per key; a key is a chain or a pair of chains."""

    def __init__(self, keys: NDArray[np.int64], features: int) -> None:
        self._features = features
        self.keys, self.counts = np.unique(keys, return_counts=True)

    @property
    def totals(self) -> Ints:
        """Return totals by chain, for single-chain keys."""
        totals = np.zeros(self._features, np.int64)
        totals[self.keys] = self.counts
        return totals

    def of(self, first: Ints, second: Ints) -> Ints:
        """Return the total of each pair of chains."""
        if not len(self.keys):
            return np.zeros(len(first), np.int64)
        keys = first * self._features + second
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.counts[places], 0)


def learn_choices(chains: Chains, entries: Entries) -> Choices:
    """Learn the choices of reference traces, most of which are normal.

    Args:
        chains: all features, including those of traces to be judged.
        entries: entries of the traces.
    """
    features = len(chains)
    feature = entries.feature
    counts = np.bincount(feature, minlength=features)
    parents = np.array(chains.parents, np.int64)
    chances = np.where(parents == ROOT, entries.traces, counts[parents])
    order = np.lexsort((entries.most, feature))
    begins = np.cumsum(counts) - counts
    middle = np.where(counts > 0, begins + (counts - 1) // 2, 0)
    median_most = np.where(counts > 0, entries.most[order][middle], 0) if len(order) else counts
    median = median_most[feature]
    first, second, after = entries.orders
    return Choices(
        chains,
        entries.traces,
        counts,
        chances,
        np.bincount(feature[entries.failed > 0], minlength=features),
        median_most,
        Tally(feature[entries.most > median], features),
        Tally(feature[entries.most < median], features),
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
