"""Exact seconds divided over code by sampled stays, with 95 % intervals. Pure.

A stay is sampled with a known probability, so one sample stands for `weight` stays like it. The
time of a stratum (one thread in one state) is exact; samples only divide it. docs/stacks.md has the
formulas.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidscope_backend.stacks.intervals import Floats, Z, t_ratio, wilson

Ints = npt.NDArray[np.int64]
MIN_SAMPLES = 10
"""Strata with fewer samples share a variance with others of their pool: one alone shows none."""
MAX_LEVERAGE = 0.9
"""Maximum part of one sample in its group, as variances account for it."""
ROUNDING = 1e-12
"""Variance of a share that is no more than rounding errors."""
UNKNOWN = -1
"""Node of a sample without a known stack."""


class Units(NamedTuple):
    """Samples, n of them, each in one stratum.

    Attributes:
        node: [n], innermost node, or UNKNOWN.
        value: [n], time within the window that the sample stands for before calibration: its
            weight times its overlap. Any unit, because only shares count.
        factor: [n], part of the variance that remains: 1 - 1/weight, and 1 for samples of a clock.
        stratum: [n], index of the stratum.
    """

    node: Ints
    value: Floats
    factor: Floats
    stratum: Ints


class Strata(NamedTuple):
    """Exact times, s of them.

    Attributes:
        exact_ns: [s], time by the ledger.
        pool: [s], strata that behave alike, such as those of one state.
    """

    exact_ns: Floats
    pool: Ints


class Estimate(NamedTuple):
    """Times of k nodes. Nanoseconds.

    Attributes:
        ns: [k], time below a node.
        self_ns: [k], time in which the node is the innermost.
        low_ns: [k], lower end of the 95 % interval of `ns`.
        high_ns: [k], upper end.
        samples: [k], samples below a node.
        exact_ns: time of all strata.
        unseen_ns: time without a known stack, in no node.
        absent_high_ns: upper end of the interval of a node without a sample.
    """

    ns: Floats
    self_ns: Floats
    low_ns: Floats
    high_ns: Floats
    samples: Ints
    exact_ns: float
    unseen_ns: float
    absent_high_ns: float


def estimate(units: Units, strata: Strata, parent: Ints, first_stage: float = np.inf) -> Estimate:
    """Divide the time of strata over the nodes of a tree.

    Args:
        units: the samples.
        strata: exact times.
        parent: [k], parent of each node, smaller than the node; -1 for a root.
        first_stage: effective number of waits for which `units` were chosen, where these waits are
            samples themselves.
    """
    units = with_time(units)
    time = calibrated(units, strata)
    known = units.node != UNKNOWN
    group = _groups(units, strata)
    groups = _of_groups(units, time, group, first_stage)
    sums = _climb(units, time, group, parent, groups)
    exact = float(strata.exact_ns.sum())
    low, high, absent = _intervals(groups, sums, first_stage)
    own = _sum(units.node[known], time[known], len(parent))
    seen = float(time[known].sum())
    return Estimate(
        ns=sums.ns,
        self_ns=own,
        low_ns=np.clip(np.minimum(low, sums.ns), 0, exact),
        high_ns=np.clip(np.maximum(high, sums.ns), 0, exact),
        samples=sums.samples,
        exact_ns=exact,
        unseen_ns=max(0.0, exact - seen),
        absent_high_ns=min(absent, exact),
    )


def with_time(units: Units) -> Units:
    """Return the samples that stand for any time."""
    there = units.value > 0
    return Units(units.node[there], units.value[there], units.factor[there], units.stratum[there])


def calibrated(units: Units, strata: Strata) -> Floats:
    """Return the time that each sample stands for; those of a stratum add up to its exact time.

    A ratio of two sums is biased where few samples of unequal length are in a stratum. Tin's
    correction (1965) removes the largest part of the bias.
    """
    count = len(strata.exact_ns)
    value = _sum(units.stratum, units.value, count)
    share = units.value / value[units.stratum]
    squares = _sum(units.stratum, units.factor * share**2, count)
    corrected = share * (1 + units.factor * share - squares[units.stratum])
    return strata.exact_ns[units.stratum] * corrected


def _groups(units: Units, strata: Strata) -> Ints:
    """Return the variance group of each sample: its stratum, its pool, or all small ones together.

    Group 0 is of strata in which every stay was sampled, so it has no variance.
    """
    count = len(strata.exact_ns)
    uncertain = np.bincount(units.stratum, units.factor > 0, count) > 0
    enough = np.bincount(units.stratum, minlength=count) >= MIN_SAMPLES
    pools = int(strata.pool.max(initial=0)) + 1
    in_pool = uncertain[units.stratum] & ~enough[units.stratum]
    pool_counts = np.bincount(strata.pool[units.stratum[in_pool]], minlength=pools)
    pooled = np.where(pool_counts[strata.pool] >= MIN_SAMPLES, 2 + strata.pool, 1)
    by_stratum = np.where(enough, 2 + pools + np.arange(count), pooled)
    codes = np.where(uncertain, by_stratum, 0)[units.stratum]
    # Group 0 exists even if no stratum is certain.
    return np.unique(np.concatenate([[0], codes]), return_inverse=True)[1][1:].astype(np.int64)


class _Sums(NamedTuple):
    """Sums of samples below nodes.

    Attributes:
        ns: [k].
        uncertain_ns: [k], the part of groups with variance.
        variance: [k], of `ns`: the sum of one term a sample.
        fourth: [k], the sum of the squares of these terms.
        unanimous: [k], the sum of `_Groups.unanimous` of groups that are below the node whole.
        samples: [k].
    """

    ns: Floats
    uncertain_ns: Floats
    variance: Floats
    fourth: Floats
    unanimous: Floats
    samples: Ints


class _Pairs(NamedTuple):
    """Sums by group and node: time, its square times the factor, that squared, and samples."""

    code: Ints
    ns: Floats
    square: Floats
    fourth: Floats
    samples: Floats

    @property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The sums."""
        return self.ns, self.square, self.fourth, self.samples


def _climb(units: Units, time: Floats, group: Ints, parent: Ints, groups: "_Groups") -> _Sums:
    """Add samples up from the innermost nodes to the roots, one level of the tree after another."""
    nodes = len(parent)
    depth = depths(parent)
    known = units.node != UNKNOWN
    square = _squares(units, time, group)
    ns, uncertain, variance, fourth, unanimous = np.zeros((5, nodes))
    samples = np.zeros(nodes, np.int64)
    sums = _Sums(ns, uncertain, variance, fourth, unanimous, samples)
    columns = (time, square, square**2, np.ones(len(time)))
    leaves = _summed(group[known] * nodes + units.node[known], *(one[known] for one in columns))
    level = depth[leaves.code % nodes] if nodes else np.empty(0, np.int64)
    above = _summed(np.empty(0, np.int64), *np.empty((len(columns), 0)))
    for at in range(int(depth.max(initial=-1)), -1, -1):
        here = level == at
        pairs = _summed(
            np.concatenate([leaves.code[here], above.code]),
            *(
                np.concatenate([one[here], two])
                for one, two in zip(leaves.columns, above.columns, strict=True)
            ),
        )
        node, of = pairs.code % nodes, pairs.code // nodes
        _add(sums, pairs, node, of, groups)
        up = parent[node]
        goes = up >= 0
        above = _summed((of * nodes + up)[goes], *(column[goes] for column in pairs.columns))
    return sums


def _add(sums: _Sums, pairs: _Pairs, node: Ints, of: Ints, groups: "_Groups") -> None:
    """Add complete pairs of one level to the sums of their nodes.

    A sample's term is its residual from the share of its group, squared: below the node the rest of
    that share, elsewhere the share.
    """
    share = np.divide(pairs.ns, groups.ns[of], out=np.zeros_like(pairs.ns), where=pairs.ns > 0)
    inside, outside = (1 - share) ** 2, share**2
    square = inside * pairs.square + outside * np.maximum(groups.square[of] - pairs.square, 0)
    fourth = inside**2 * pairs.fourth + outside**2 * np.maximum(groups.fourth[of] - pairs.fourth, 0)
    np.add.at(sums.ns, node, pairs.ns)
    np.add.at(sums.uncertain_ns, node, np.where(of > 0, pairs.ns, 0))
    np.add.at(sums.variance, node, square)
    np.add.at(sums.fourth, node, fourth)
    np.add.at(sums.unanimous, node, np.where(share > 1 - ROUNDING, groups.unanimous[of], 0))
    np.add.at(sums.samples, node, pairs.samples.astype(np.int64))


class _Groups(NamedTuple):
    """Sums of all samples by group, as in _Pairs.

    Attributes:
        unanimous: how far a share of 0 or 1 may be off by Wilson's interval, in time, squared.
    """

    ns: Floats
    square: Floats
    fourth: Floats
    unanimous: Floats


def _of_groups(units: Units, time: Floats, group: Ints, first_stage: float) -> _Groups:
    length = int(group.max(initial=0)) + 1
    square = _squares(units, time, group)
    ns, squares, fourth = (_sum(group, column, length) for column in (time, square, square**2))
    spread = _sum(group, units.factor * time**2, length)
    # One by the number of equal samples that would vary alike.
    inverse = np.divide(spread, ns**2, out=np.zeros_like(ns), where=ns > 0) + 1 / first_stage
    return _Groups(ns, squares, fourth, (ns * Z**2 * inverse / (1 + Z**2 * inverse)) ** 2)


def _squares(units: Units, time: Floats, group: Ints) -> Floats:
    return units.factor * time**2 / (1 - _leverage(time, group)) ** 2


def _leverage(time: Floats, group: Ints) -> Floats:
    """Return the part of each sample in its group.

    A sample pulls the share of its group towards itself, so its residual is too small by this part
    (jackknife).
    """
    whole = _sum(group, time, int(group.max(initial=0)) + 1)[group]
    part = np.divide(time, whole, out=np.zeros_like(time), where=whole > 0)
    return np.minimum(part, MAX_LEVERAGE)


def _summed(code: Ints, *columns: Floats) -> _Pairs:
    codes, place = np.unique(code, return_inverse=True)
    ns, square, fourth, samples = (_sum(place, column, len(codes)) for column in columns)
    return _Pairs(codes, ns, square, fourth, samples)


def _sum(place: Ints, values: Floats, length: int) -> Floats:
    return np.bincount(place, values, length).astype(np.float64)


def _intervals(groups: _Groups, sums: _Sums, first_stage: float) -> tuple[Floats, Floats, float]:
    """Return both ends of the intervals, and the upper end of a node without samples.

    Wilson's interval of a share, for as many samples as a simple random sample of equal variance
    has, with Student's t for variances that few samples determine (Korn and Graubard, 1998). Where
    the samples of each group agree, the variance is 0. Then Wilson's intervals of the groups are
    combined: squares of their distances add up.
    """
    every = slice(None if np.isfinite(first_stage) else 1, None)
    below = sums.ns if np.isfinite(first_stage) else sums.uncertain_ns
    whole = float(groups.ns[every].sum())
    unanimous = float(groups.unanimous[every].sum())
    if whole <= 0:
        return sums.ns, sums.ns, 0.0
    share = np.clip(below / whole, 0, 1)
    binomial = share * (1 - share)
    variance = (sums.variance + sums.unanimous / Z**2) / whole**2 + binomial / first_stage
    differ = (sums.variance > ROUNDING * whole**2) & (binomial > ROUNDING)
    number = np.divide(binomial, variance, out=np.ones_like(share), where=differ)
    freedom = np.full_like(share, np.inf)
    np.divide(sums.variance**2, sums.fourth, out=freedom, where=differ)
    low, high = wilson(share, number / t_ratio(freedom) ** 2)
    down = np.where(differ, below - low * whole, np.sqrt(sums.unanimous))
    rest = np.maximum(unanimous - sums.unanimous, 0)
    up = np.where(differ, high * whole - below, np.sqrt(rest))
    return sums.ns - down, sums.ns + up, float(np.sqrt(unanimous))


def depths(parent: Ints) -> Ints:
    """Return the depth of each node, 0 for roots."""
    depth = np.zeros(len(parent), np.int64)
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            depth[node] = depth[above] + 1
    return depth
