"""The 99th percentile of response times, from a histogram by powers of two. Pure."""

from collections.abc import Sequence

LOWEST_BITS = 10
"""Entry b of a histogram is of times below 2^(b+10) ns."""
MIN_JOBS = 100
"""Of fewer jobs the 99th percentile is the longest of them."""
PART = 0.99
MAX_ALIKE = 0.5
"""Where more of the jobs are in one entry, it is not seen where in it the percentile is."""


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
