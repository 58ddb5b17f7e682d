"""The sizes that a search chooses from."""

from tidscope_policies.contract import Bounds

APART = 1.2
"""Ratio of sizes worth telling apart: near the best size closer ones do nearly the same."""
MAX_SIZES = 32
"""Maximum candidate sizes; the work of a decision grows with their square."""


def candidates(bounds: Bounds, apart: float = 1.0) -> list[int]:
    """Candidate sizes: all of them, or a selection evenly spaced in log2.

    Args:
        bounds: allowed sizes.
        apart: minimum ratio of neighbours, as far as whole numbers allow.
    """
    ratio = apart
    if len(bounds.sizes) > MAX_SIZES:
        ratio = max(ratio, (bounds.high / bounds.low) ** (1 / (MAX_SIZES - 1)))
    sizes = [bounds.low]
    while sizes[-1] < bounds.high:
        following = max(sizes[-1] + 1, round(sizes[-1] * ratio))
        sizes.append(min(following, bounds.high))
    return sizes
