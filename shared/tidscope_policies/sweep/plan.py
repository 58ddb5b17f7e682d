"""Which sizes a sweep measures, and in which order.

Every round measures all sizes once, in an order of its own. The level of a program wanders: rounds
let sizes be compared within short times, and an order that goes up in one round and down in the
next keeps a steady drift from looking like an effect of the size.
"""

from tidscope_policies.contract import Bounds


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


def order(sizes: list[int], rounds: int) -> list[list[int]]:
    """The sizes of each round, up and down by turns, each pair of rounds from another place on."""
    found = []
    for at in range(rounds):
        begin = (at // 2) * len(sizes) // max(1, (rounds + 1) // 2)
        turned = sizes[begin:] + sizes[:begin]
        found.append(turned if at % 2 == 0 else turned[::-1])
    return found
