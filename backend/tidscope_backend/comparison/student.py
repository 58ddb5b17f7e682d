"""The quantile of Student's t distribution that bounds a 95 % interval. Pure.

Source: NIST Digital Library of Mathematical Functions, 8.17: the regularised incomplete beta
function, by its continued fraction (8.17.22).
"""

import math
from functools import lru_cache

UPPER_TAIL = 0.025
"""Both tails of a 95 % interval leave 2.5 % each."""
_TINY = 1e-300
_STEPS = 10_000
"""More than either method needs."""


@lru_cache(maxsize=4096)
def t_quantile(freedom: float) -> float:
    """What Student's t exceeds with a probability of 2.5 %.

    Args:
        freedom: degrees of freedom, at least 1; need not be whole.

    Returns:
        Exact to 1e-9 of itself, for less than a thousand degrees to 1e-12.
    """
    t = 1.96 + 2.4 / freedom
    for _ in range(_STEPS):
        above = tail(t, freedom)
        # Newton's method for a power of the tail that is nearly a straight line.
        step = freedom * above / _density(t, freedom)
        step *= -math.expm1(math.log(above / UPPER_TAIL) / freedom)
        t -= step
        # Each step squares the error of the one before.
        if abs(step) < 1e-7 * t:
            break
    return t


def _density(t: float, freedom: float) -> float:
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale -= math.log(freedom * math.pi) / 2
    return math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))


def tail(t: float, freedom: float) -> float:
    """The probability that Student's t exceeds a value above 0."""
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function for x between 0 and 1."""
    if x > (a + 1) / (a + b + 2):
        # There the fraction converges slowly; the function's symmetry leads to where it is fast.
        return 1 - _incomplete_beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x)) / a
    return front / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, _STEPS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d or _TINY)
        c = 1 + term / c or _TINY
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
