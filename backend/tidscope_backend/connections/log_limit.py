"""A bound on log lines that a peer can provoke."""

import logging
from collections.abc import Callable

PERIOD_SECONDS = 60.0


class LogLimit(logging.Filter):
    """Passes one line of a kind in each period; the next one says how many were left out.

    A kind is a message before its arguments are filled in. Lines with a traceback all pass.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._passed_s: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is logged."""
        if record.exc_info or not isinstance(record.msg, str):
            return True
        kind, now = record.msg, self._clock()
        passed = self._passed_s.get(kind)
        if passed is not None and now - passed < PERIOD_SECONDS:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return False
        self._passed_s[kind] = now
        left_out = self._left_out.pop(kind, 0)
        if left_out:
            record.msg = f"{record.getMessage()} ({left_out} more like it since the last such line)"
            record.args = None
        return True
