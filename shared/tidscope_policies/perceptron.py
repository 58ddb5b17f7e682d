"""Hashed perceptrons, which learn yes or no from a few integers.

Source: Z. Zhang and others, A prediction system service (2022-2023), which applies the perceptron
of branch predictors (D. Jimenez and C. Lin, Dynamic branch prediction with perceptrons, 2001) to
systems software: `predict`, `update`, `reset`. Each of up to 16 features has a table of 1024 small
integer weights. The value of a feature selects one weight, and the sign of the sum is the answer.

Correction: in the literal source, an update adds to the weights regardless of the answer, and the
sum only grows. Here updates are signed, and happen only if the prediction was wrong or uncertain,
as in the perceptron's rule.

`tidscope_predict.h` and the Go client compute the same; `tests/contract/predictions.json` verifies
all three.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

MAX_FEATURES = 16
ENTRIES = 1024
WEIGHTS = MAX_FEATURES * ENTRIES
MAX_LIMIT = 127
MAX_THRESHOLD = MAX_FEATURES * MAX_LIMIT
FEATURES_WANTED = f"want 1 to {MAX_FEATURES}"

_WORD = (1 << 64) - 1
_MULTIPLIER = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio, which scatters consecutive numbers (D. Knuth, vol. 3, 6.4)."""
_SHIFT = 64 - 10
_FNV_BASIS, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


class Weights(Protocol):
    """Interface of 16 tables of 1024 signed bytes, concatenated."""

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, weight: int, /) -> None: ...


class Rule(NamedTuple):
    """Learning rule.

    Attributes:
        threshold: minimum distance of a certain sum from 0.
        limit: bound on the absolute value of a weight.
    """

    threshold: int = 8
    limit: int = 31


def check_rule(rule: Rule) -> Rule:
    """Return the rule if it is within bounds.

    Raises:
        ValueError: a value is out of bounds.
    """
    if not 0 <= rule.threshold <= MAX_THRESHOLD:
        raise ValueError(f"threshold {rule.threshold}: want 0 to {MAX_THRESHOLD}")
    if not 1 <= rule.limit <= MAX_LIMIT:
        raise ValueError(f"limit {rule.limit}: want 1 to {MAX_LIMIT}")
    return rule


def places_of(features: Sequence[int]) -> list[int]:
    """Return the index of each feature's weight; features are taken modulo 2^64.

    Raises:
        ValueError: there are no features, or more than 16.
    """
    if not 1 <= len(features) <= MAX_FEATURES:
        raise ValueError(f"{len(features)} features: {FEATURES_WANTED}")
    return [
        table + ((feature * _MULTIPLIER & _WORD) >> _SHIFT)
        for table, feature in zip(range(0, WEIGHTS, ENTRIES), features, strict=False)
    ]


def predict(weights: Weights, features: Sequence[int]) -> int:
    """Return the sum of the weights: above 0 yes, below 0 no, 0 undecided.

    Raises:
        ValueError: no features, or more than 16.
    """
    return sum_of(weights, places_of(features))


def sum_of(weights: Weights, places: Iterable[int]) -> int:
    """Return the sum of the weights at known indices."""
    return sum([weights[place] for place in places])


def update(weights: Weights, rule: Rule, features: Sequence[int], *, answer: bool) -> int:
    """Learn an answer. Return the prediction before learning.

    Raises:
        ValueError: no features, or more than 16.
    """
    places = places_of(features)
    total = sum_of(weights, places)
    if (total > 0) == answer and abs(total) > rule.threshold:
        return total
    step = 1 if answer else -1
    for place in places:
        weights[place] = min(max(weights[place] + step, -rule.limit), rule.limit)
    return total


def reset(weights: Weights, features: Sequence[int]) -> None:
    """Reset the weights of these features.

    Raises:
        ValueError: no features, or more than 16.
    """
    for place in places_of(features):
        weights[place] = 0


def named(text: str) -> int:
    """Return a feature for a name (FNV-1a of its UTF-8, 64 bits)."""
    value = _FNV_BASIS
    for byte in text.encode():
        value = (value ^ byte) * _FNV_PRIME & _WORD
    return value - (1 << 64) if value >> 63 else value


def rounded(number: int) -> int:
    """Round a number to its first digit, to merge similar numbers into one feature: 1234 is
    1000.
    """
    size = abs(number)
    power = 1
    while size // power >= 10:
        power *= 10
    nearest = (size + power // 2) // power * power
    return -nearest if number < 0 else nearest


class Predictor:
    """A model private to this process.

    Args:
        rule: learning rule.

    Raises:
        ValueError: the rule is out of bounds.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = check_rule(rule)
        self._weights = bytearray(WEIGHTS)
        self._view = memoryview(self._weights).cast("b")

    def predict(self, features: Sequence[int]) -> int:
        """Return the sum of the weights: above 0 yes, below 0 no, 0 undecided.

        Raises:
            ValueError: no features, or more than 16.
        """
        return predict(self._view, features)

    def update(self, features: Sequence[int], *, answer: bool) -> None:
        """Learn an answer.

        Raises:
            ValueError: no features, or more than 16.
        """
        update(self._view, self._rule, features, answer=answer)

    def load(self, weights: bytes) -> None:
        """Replace the weights by 16 tables of 1024 signed bytes.

        Raises:
            ValueError: the size is wrong.
        """
        if len(weights) != WEIGHTS:
            raise ValueError(f"{len(weights)} weights: want {WEIGHTS}")
        self._weights[:] = weights

    def reset(self, features: Sequence[int] | None = None) -> None:
        """Reset the weights of these features; without features all weights.

        Raises:
            ValueError: no features in the list, or more than 16.
        """
        if features is None:
            self._weights[:] = bytes(WEIGHTS)
        else:
            reset(self._view, features)
