"""How probable it is that a trace has the chains that it has, and has no others.

A chain is there with a probability of its own, given its caller's chain is: a tree of independent
choices, as those of a program that makes a call or does not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.vectors import Times

ROOT = -1
PRIOR = 0.5
"""Counted to both choices (H. Jeffreys): what was never seen is not impossible."""


@dataclass(frozen=True, slots=True)
class Presence:
    """Surprise: twice the negative logarithm of a probability.

    Attributes:
        parents: of each chain its caller's, or ROOT.
        there: surprise that a chain is there, given its caller's.
        missing: that it is not.
        beneath: the sum of `missing` over the chains that a chain calls.
    """

    parents: Sequence[int]
    there: NDArray[np.float64]
    missing: NDArray[np.float64]
    beneath: NDArray[np.float64]

    def surprise(self, times: Times) -> float:
        """Of all choices of a trace."""
        places = list(times)
        called = [place for place in places if self.parents[place] != ROOT]
        return float(
            self.beneath[places].sum() + self.there[called].sum() - self.missing[called].sum()
        )

    def strangest(self, times: Times) -> int:
        """The chain whose presence surprises most, or that lacks the most surprising call."""
        most = {place: self.there[place] for place in times}
        lacking = dict.fromkeys(times, 0.0)
        for place, parent in enumerate(self.parents):
            if parent in lacking and place not in times:
                lacking[parent] = max(lacking[parent], self.missing[place])
        return max(times, key=lambda place: max(most[place], lacking[place]))


def learn_presence(rows: Sequence[Times], parents: Sequence[int]) -> Presence:
    """What is usual.

    Args:
        rows: of each trace, its chains; with a chain all callers' are there.
        parents: of each chain its caller's, or ROOT.
    """
    counts = Counter(place for times in rows for place in times)
    own = np.array([counts[place] for place in range(len(parents))], np.float64)
    chances = np.array(
        [len(rows) if parent == ROOT else counts[parent] for parent in parents], np.float64
    )
    there = -2 * np.log((own + PRIOR) / (chances + 2 * PRIOR))
    missing = -2 * np.log((chances - own + PRIOR) / (chances + 2 * PRIOR))
    beneath = np.zeros(len(parents))
    for place, parent in enumerate(parents):
        if parent != ROOT:
            beneath[parent] += missing[place]
    return Presence(parents, there, missing, beneath)
