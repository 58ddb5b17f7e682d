"""Which sizes a sweep measures, and in which order.

Every round measures all sizes once, in a random order of its own. The level of a program wanders:
rounds let sizes be compared within short times, and a random order keeps a drift within a round
from looking like an effect of the size.
"""

from collections.abc import Sequence

from tidscope_policies.contract import Bounds
from tidscope_policies.proving.order import shuffled


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
    """The sizes of a round, counted from 0.

    The first one begins with the size at the start: what the program does there has to be known
    before anything else can be called a loss.
    """
    found = shuffled(sizes, seed, turn)
    if turn == 0 and start in found:
        found.remove(start)
        found.insert(0, start)
    return found
