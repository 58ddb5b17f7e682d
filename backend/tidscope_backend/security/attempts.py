"""Counts wrong tokens, to limit guessing."""

from collections import OrderedDict
from collections.abc import Callable


class FailedAttempts:
    """How many wrong tokens each address has shown lately. Bounded, whoever comes.

    Args:
        limit: wrong ones within the window before an address has to wait.
        window_seconds: after so long without one the count starts again.
        addresses: how many addresses are remembered.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        limit: int = 10,
        window_seconds: float = 30,
        addresses: int = 1024,
    ) -> None:
        self._clock = clock
        self._limit = limit
        self._window = window_seconds
        self._addresses = addresses
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait_seconds(self, address: str) -> float:
        """How long an address has to wait before its next try; 0 if it need not."""
        count, last = self._failures.get(address, (0, 0.0))
        left = last + self._window - self._clock()
        return left if count >= self._limit and left > 0 else 0.0

    def record_failure(self, address: str) -> None:
        """Count a wrong token of an address."""
        now = self._clock()
        count, last = self._failures.pop(address, (0, now))
        self._failures[address] = (count + 1 if now - last < self._window else 1, now)
        while len(self._failures) > self._addresses:
            self._failures.popitem(last=False)
