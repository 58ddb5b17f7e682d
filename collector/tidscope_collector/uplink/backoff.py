"""How long to wait before connecting again. Pure: seconds in, seconds out."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 5.0
STEADY_S = 5.0
"""A connection that held for so long was a good one."""


class Backoff:
    """Doubles from try to try, and starts again after a connection that was welcomed.

    Welcomed connections that end soon, one after the other, are no reason to hurry either: then
    the wait doubles from one to the next.
    """

    def __init__(self) -> None:
        self._next = FIRST_WAIT_S
        self._hasty = 0

    def wait_s(self, held_s: float | None, at_least_s: float = 0.0) -> float:
        """Seconds to wait now, before chance is put in.

        Args:
            held_s: how long the connection held since the welcome; None if there was none.
            at_least_s: what the reason for the end asks for.
        """
        if held_s is not None:
            self._hasty = 0 if held_s >= STEADY_S else self._hasty + 1
            self._next = FIRST_WAIT_S * 2.0 ** min(max(0, self._hasty - 1), 10)
        wait = min(self._next, LONGEST_WAIT_S)
        self._next = min(2 * self._next, LONGEST_WAIT_S)
        return max(wait, at_least_s)
