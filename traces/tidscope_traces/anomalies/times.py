"""Improbability of a trace's times and of its numbers of calls.

Each chain has a median and a spread to either side, from several quantiles. For a chain that is
mostly fast and sometimes slow, the spread reaches to the slow values. Rarity beyond the spread is
estimated over all chains of the endpoint, which together have many values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from tidscope_traces.anomalies.vectors import Entries, Floats, Ints

MIN_VALUES, MIN_PART = 20, 0.2
"""Minimum traces with a chain, absolute and as a share, for statistics of its times."""
BEYOND = 5
"""Minimum values beyond a quantile, for its estimate."""
LEVELS = ((0.75, 0.6745), (0.9, 1.2816), (0.95, 1.6449), (0.98, 2.0537))
"""Quantiles, with their position in a normal distribution, in standard deviations."""
HEAVINESS = (1.25, 1.8)
"""Ratios of the last quantile's spread to the first's; 1 for a normal distribution.

Chains with similar ratios share a tail.
"""
MIN_SPREAD = 0.05
"""Minimum spread of logarithms of times; clocks and schedulers vary by this much."""
MIN_COUNT_SPREAD = 0.15
"""Minimum spread of square roots of counts."""
FLOOR_SHARE = 0.05
"""Share of the mean of chains' median times; times far below are equivalent."""
OWN_SHARE, OTHER_SHARE = 0.006, 0.003
"""Share of traces with a chain above which a deviation is not rare, in the set and in earlier ones.

A call that stalls in one request of a hundred does so normally.
"""
COMPARABLE = 0.6
"""Minimum ratio of two similar deviations."""
DOUBTFUL = 4.0
"""Surprise above which similar deviations are counted."""
SHALLOW, DEEP = 0.1, 0.005
"""Shares of all values between which the slope of the tail is fitted."""
MIN_DEEP = 15
STEEPEST, FLATTEST = (2.0, 1.2, 1.0), 0.5
"""Range of a tail's power, the steepest by heaviness: 2 is normal, 1 exponential.

The logarithm of the tail's probability falls with this power of the deviation.
"""


@dataclass(frozen=True, slots=True)
class Tail:
    """Tail of deviations: the negative log of their probability, for similar chains.

    Attributes:
        least: value exceeded by a share SHALLOW of the deviations.
        power: power of the deviation.
        scale: scale of that power.
    """

    least: float
    power: float
    scale: float

    def surprise(self, deviations: Floats) -> Floats:
        """Return the surprise of deviations; 0 for deviations outside the tail."""
        away = np.maximum(deviations, self.least)
        beyond = self.scale * (away**self.power - self.least**self.power)
        return np.where(deviations > self.least, beyond - log(SHALLOW), 0.0)


@dataclass(frozen=True, slots=True)
class Spreads:
    """Medians of a value, and spreads above, by chain; NaN if too few traces have a value.

    Attributes:
        medians, above: medians and spreads by chain.
        heaviness: index into HEAVINESS of the great values, in reference spreads.
        begins, counts: start and number of each chain's values in `ordered`.
        ordered: reference values, by chain and size.
    """

    medians: Floats
    above: Floats
    heaviness: Ints
    begins: Ints
    counts: Ints
    ordered: Floats

    def like(self, feature: int, deviation: float) -> int:
        """Return the number of reference traces with a similar deviation."""
        begin = self.begins[feature]
        own = self.ordered[begin : begin + self.counts[feature]]
        value = self.medians[feature] + COMPARABLE * deviation * self.above[feature]
        return len(own) - int(np.searchsorted(own, value))

    def deviations(self, feature: Ints, values: Floats) -> Floats:
        """Return deviations in spreads above the median; NaN if unknown."""
        return np.asarray((values - self.medians[feature]) / self.above[feature])


def spread(entries: Entries, values: Floats, features: int, least: float) -> Spreads:
    """Return medians and spreads of values.

    Args:
        entries: entries of traces, most of which are normal.
        values: value of each entry.
        features: number of chains.
        least: minimum spread.
    """
    feature = entries.feature
    counts = np.bincount(feature, minlength=features)
    ordered = values[np.lexsort((values, feature))]
    begins = np.cumsum(counts) - counts
    known = counts >= max(MIN_VALUES, MIN_PART * entries.traces)
    medians = np.full(features, np.nan)
    above = np.full(features, np.nan)
    if not known.any():
        return Spreads(medians, above, np.zeros(features, np.int64), begins, counts, ordered)
    medians[known] = _at(ordered, begins[known], counts[known], 0.5)
    above[known] = least
    spread = np.full(features, least)
    last = np.full(features, least)
    for level, deviations in LEVELS:
        usable = known & (counts * (1 - level) >= BEYOND - 1e-9)
        own = (_at(ordered, begins[usable], counts[usable], level) - medians[usable]) / deviations
        above[usable] = np.maximum(above[usable], own)
        last[usable] = np.maximum(own, least)
        if level == LEVELS[0][0]:
            spread[usable] = np.maximum(own, least)
    heaviness = np.searchsorted(HEAVINESS, last / spread)
    return Spreads(medians, above, heaviness, begins, counts, ordered)


def _at(ordered: Floats, begins: Ints, counts: Ints, level: float) -> Floats:
    """Return quantiles of runs of ordered values."""
    exact = level * (counts - 1)
    low = np.floor(exact).astype(np.int64)
    high = np.minimum(low + 1, counts - 1)
    part = exact - low
    return np.asarray(ordered[begins + low] * (1 - part) + ordered[begins + high] * part)


def fit_tail(deviations: Floats, steepest: float) -> Tail:
    """Fit the tail of deviations of all chains, few of which are abnormal."""
    known = np.sort(deviations[np.isfinite(deviations)])
    if len(known) < 2 * MIN_DEEP:
        return Tail(1.2816, 1.0, 2.0)
    deep = min(SHALLOW / 4, max(DEEP, MIN_DEEP / len(known)))
    between = (SHALLOW * deep) ** 0.5
    first, second, third = (
        max(0.1 * (number + 1), float(np.quantile(known, 1 - share)))
        for number, share in enumerate((SHALLOW, between, deep))
    )
    second, third = max(second, first * 1.01), max(third, second * 1.01, first * 1.02)
    # Logarithms of probabilities fall as far from the first to the second as to the third.
    low, high = FLATTEST, steepest
    for _ in range(40):
        power = (low + high) / 2
        if third**power - second**power > second**power - first**power:
            high = power
        else:
            low = power
    power = (low + high) / 2
    return Tail(first, power, log(SHALLOW / deep) / (third**power - first**power))


@dataclass(frozen=True, slots=True)
class Times:
    """Reference statistics of times and of numbers of calls.

    Attributes:
        floor_ns: times far below are equivalent.
        slower, faster: spreads of logarithms of times, and of their negatives.
        slow, fast: tails of `slower` and `faster`, by heaviness.
        more: spreads of square roots of the number of calls.
        varied: chains with a varying number of calls.
    """

    floor_ns: float
    slower: Spreads
    faster: Spreads
    slow: Sequence[Tail]
    fast: Sequence[Tail]
    more: Spreads
    varied: np.ndarray

    def surprises(self, entries: Entries, less: int, own: bool) -> Floats:
        """Return the surprise of the time of each entry, longer or shorter than the reference.

        Args:
            entries: entries of the judged traces.
            less: number subtracted from all counts, as in `Choices.events`.
            own: whether the traces are the reference traces.
        """
        values = np.log(entries.longest_ns + self.floor_ns)
        return np.maximum(
            _surprise(self.slower, self.slow, entries.feature, values, less, own),
            _surprise(self.faster, self.fast, entries.feature, -values, less, own),
        )

    def repeated(self, entries: Entries) -> Floats:
        """Return the surprise of additional calls, for chains with a varying number."""
        away = self.more.deviations(entries.feature, np.sqrt(entries.most))
        away = np.where(self.varied[entries.feature] & (away > 0), away, 0.0)
        return away * away / 2 + np.log1p(away)


def learn_times(entries: Entries, features: int, varied: np.ndarray) -> Times:
    """Learn the times of reference traces, most of which are normal.

    Args:
        entries: entries of the traces.
        features: number of chains.
        varied: whether each chain's number of calls varies.
    """
    feature = entries.feature
    raw = spread(entries, entries.longest_ns.astype(np.float64), features, 1.0)
    known = raw.medians[np.isfinite(raw.medians)]
    floor_ns = 1000 + FLOOR_SHARE * (float(np.mean(known)) if len(known) else 0.0)
    values = np.log(entries.longest_ns + floor_ns)
    slower = spread(entries, values, features, MIN_SPREAD)
    faster = spread(entries, -values, features, MIN_SPREAD)
    return Times(
        floor_ns,
        slower,
        faster,
        _tails(slower, feature, values),
        _tails(faster, feature, -values),
        spread(entries, np.sqrt(entries.most), features, MIN_COUNT_SPREAD),
        varied,
    )


def _tails(spreads: Spreads, feature: Ints, values: Floats) -> list[Tail]:
    """Return the tail of each heaviness."""
    deviations = spreads.deviations(feature, values)
    heaviness = spreads.heaviness[feature]
    return [
        fit_tail(deviations[heaviness == one], steepest) for one, steepest in enumerate(STEEPEST)
    ]


def _surprise(
    spreads: Spreads, tails: Sequence[Tail], feature: Ints, values: Floats, less: int, own: bool
) -> Floats:
    deviations = spreads.deviations(feature, values)
    heaviness = spreads.heaviness[feature]
    surprise = np.select(
        [heaviness == one for one in range(len(tails))],
        [tail.surprise(deviations) for tail in tails],
    )
    share = OWN_SHARE if own else OTHER_SHARE
    for place in np.flatnonzero(surprise > DOUBTFUL).tolist():
        chain = int(feature[place])
        like = spreads.like(chain, float(deviations[place])) - less
        if like > max(int(own), int(share * spreads.counts[chain])):
            surprise[place] = DOUBTFUL
    return surprise
