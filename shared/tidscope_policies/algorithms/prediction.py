"""A small prediction service: hashed perceptrons that learn yes or no from named features.

Source: Z. Zhang and others, A prediction system service (2022-2023), which takes the perceptron of
branch predictors (D. Jimenez and C. Lin, Dynamic branch prediction with perceptrons, 2001) to
systems software: `predict`, `update`, `reset`. Each of up to 16 features has a table of 1024 small
integer weights; the value of a feature picks one of them, and the sign of their sum is the answer.

Corrected: taken literally, an update adds to the weights whatever the answer should have been, and
the sum only grows. Here it is signed: towards yes, or towards no, and only where the answer was
wrong or not sure, as in the perceptron's rule.

Pure and of general use: one predictor serves several questions when its features say which.
"""

from collections.abc import Sequence
from zlib import crc32

MOST_FEATURES = 16
TABLE = 1024


class Predictor:
    """Weights, and what they say.

    Args:
        features: how many features each question has, 16 at most.
        threshold: a sum this far from 0 is sure.
        limit: weights stay between minus this and this.

    Raises:
        ValueError: too many features, or none.
    """

    def __init__(self, features: int, threshold: int, limit: int = 31) -> None:
        if not 1 <= features <= MOST_FEATURES:
            raise ValueError(f"{features} features: want 1 to {MOST_FEATURES}")
        self._threshold, self._limit = threshold, limit
        self._weights = [[0] * TABLE for _ in range(features)]

    def predict(self, features: Sequence[object]) -> int:
        """The sum of the weights: above 0 yes, below 0 no, 0 undecided.

        Args:
            features: values with a stable `repr`: numbers, strings, tuples of them.

        Raises:
            ValueError: their number is wrong.
        """
        return sum(
            table[place] for table, place in zip(self._weights, self._places(features), strict=True)
        )

    def update(self, features: Sequence[object], *, answer: bool) -> None:
        """Learn what the answer was.

        Raises:
            ValueError: the number of features is wrong.
        """
        total = self.predict(features)
        if (total > 0) == answer and abs(total) > self._threshold:
            return
        step = 1 if answer else -1
        for table, place in zip(self._weights, self._places(features), strict=True):
            table[place] = min(max(table[place] + step, -self._limit), self._limit)

    def reset(self) -> None:
        """Forget everything."""
        for table in self._weights:
            table[:] = [0] * TABLE

    def _places(self, features: Sequence[object]) -> list[int]:
        if len(features) != len(self._weights):
            raise ValueError(f"{len(features)} features: want {len(self._weights)}")
        # crc32 and not hash(): that of a string differs from one process to the next.
        return [crc32(repr(value).encode()) % TABLE for value in features]
