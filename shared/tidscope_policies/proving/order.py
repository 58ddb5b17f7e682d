"""In which order the two blocks of a pair come: at random, the same for the same seed."""

_MASK = (1 << 64) - 1


def policy_first(seed: int, pair: int) -> bool:
    """Whether the block with the policy comes first in a pair, counted from 0.

    Never in the first pair: what the program does by itself has to be known before anything else
    can be called a loss. The bits are those of splitmix64 (G. L. Steele, D. Lea and C. H. Flood,
    "Fast splittable pseudorandom number generators", OOPSLA 2014).
    """
    if not pair:
        return False
    mixed = (seed + pair * 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
    return bool((mixed ^ mixed >> 31) & 1)
