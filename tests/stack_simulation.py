"""Simulated threads whose stays are sampled at random; their time in code is known. For tests."""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from tidscope_backend.stacks.estimate import Estimate, Strata, Units, estimate

Lengths = Literal["equal", "exponential", "log-normal", "alternating"]
PARENT = np.array([-1, 0, 0, 0, 0, 1, 1], np.int64)
"""A root, four functions, and two that the first of these calls."""
BELOW = dict(enumerate([(0,), (1, 0), (2, 0), (3, 0), (4, 0)])) | {
    5: (5, 1, 0),
    6: (6, 1, 0),
}
WINDOW = 10.0


class Simulated(NamedTuple):
    """One simulation.

    Attributes:
        found: the estimate.
        truth: time below each node.
        exact: time of each thread.
    """

    found: Estimate
    truth: npt.NDArray[np.float64]
    exact: npt.NDArray[np.float64]


def simulate(
    chance: np.random.Generator,
    lengths: Lengths,
    *,
    threads: int,
    stays: int,
    weights: tuple[int, ...],
) -> Simulated:
    """Let threads wait in functions, and sample each wait with a probability of one in a weight.

    Args:
        chance: source of randomness.
        lengths: distribution of the lengths of stays; those of two functions differ up to 25-fold.
        threads: number of threads.
        stays: about so many stays of each thread.
        weights: they take turns over the window.
    """
    truth, exact = np.zeros(len(PARENT)), np.zeros(threads)
    sampled: list[Units] = []
    for thread in range(threads):
        leaf, length = _stays(chance, lengths, stays)
        begin = np.cumsum(length) - length
        inside = np.clip(np.minimum(begin + length, WINDOW) - begin, 0, None)
        exact[thread] = inside.sum()
        for node, path in BELOW.items():
            truth[list(path)] += inside[leaf == node].sum()
        turn = (np.minimum(begin / WINDOW, 0.999) * 3 * len(weights)).astype(np.int64)
        weight = np.array(weights)[turn % len(weights)]
        seen = (chance.random(len(leaf)) < 1 / weight) & (inside > 0)
        sampled.append(
            Units(
                leaf[seen],
                (inside * weight)[seen],
                (1 - 1 / weight)[seen],
                np.full(int(seen.sum()), thread, np.int64),
            )
        )
    units = Units(
        np.concatenate([one.node for one in sampled]),
        np.concatenate([one.value for one in sampled]),
        np.concatenate([one.factor for one in sampled]),
        np.concatenate([one.stratum for one in sampled]),
    )
    found = estimate(units, Strata(exact, np.zeros(threads, np.int64)), PARENT)
    return Simulated(found, truth, exact)


def _stays(
    chance: np.random.Generator, lengths: Lengths, stays: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    count = stays * 2
    if lengths == "alternating":
        leaf = np.arange(count) % 2 + 2
        return leaf, np.where(leaf == 2, 1.9, 0.1) * WINDOW / stays
    means = chance.choice([0.2, 1.0, 5.0], 4)
    often = chance.dirichlet(np.ones(4))
    function = chance.choice(4, count, p=often)
    mean = means[function] * WINDOW / stays / (often @ means)
    leaf = np.where(function == 0, chance.choice([1, 5, 6], count), function + 1)
    if lengths == "equal":
        return leaf, mean
    if lengths == "exponential":
        return leaf, chance.exponential(mean)
    return leaf, mean * chance.lognormal(-0.5, 1, count)
