"""Orders that look random, and are the same for the same seed."""

from collections.abc import Sequence

_MASK = (1 << 64) - 1


def mixed(seed: int, at: int) -> int:
    """64 bits of splitmix64, the `at`-th of a seed (G. L. Steele, D. Lea and C. H. Flood, "Fast
    splittable pseudorandom number generators", OOPSLA 2014)."""
    bits = (seed + at * 0x9E3779B97F4A7C15) & _MASK
    bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & _MASK
    return bits ^ bits >> 31


def policy_first(seed: int, pair: int) -> bool:
    """Whether the block with the policy comes first in a pair, counted from 0.

    Never in the first pair: what the program does by itself has to be known before anything else
    can be called a loss.
    """
    return bool(pair and mixed(seed, pair) & 1)


def shuffled(values: Sequence[int], seed: int, turn: int) -> list[int]:
    """Values in the order of a turn, each order as likely as any other."""
    keys = [mixed(mixed(seed, turn + 1), at + 1) for at in range(len(values))]
    return [value for _, value in sorted(zip(keys, values, strict=True))]
