"""Reconnecting: the backend's close codes, and how long to wait. Pure."""

from dataclasses import dataclass

from tidscope_wire.generated.close_code import CloseCode
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode as StandardCode

FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 5.0
STEADY_S = 5.0
"""Duration after which a connection counts as stable, in seconds."""
REPLACED_WAIT_S = 30.0
"""Wait after being replaced, in seconds. Otherwise two collectors of one host would replace each
other in turn."""
LONGEST_REFUSED_WAIT_S = 60.0
"""Longest wait after repeated refusals, in seconds, which end only when somebody acts."""
_HINTS = {
    CloseCode.UNAUTHENTICATED: "give both the same TIDSCOPE_COLLECTOR_SECRET",
    CloseCode.WRONG_HOST: "give each host its own secret: `tidscope hosts add NAME` at the backend",
    CloseCode.FORBIDDEN_ORIGIN: "start it with --allow-host NAME, or use an allowed host name",
    CloseCode.TIMED_OUT: "the hello did not reach it in time",
    CloseCode.REPLACED: "stop one of the two collectors",
    CloseCode.PROTOCOL_VERSION: "install the same version of tidscope for both",
    CloseCode.TOO_MANY: "stop those that are not needed",
}
_REFUSED = (CloseCode.BAD_MESSAGE, StandardCode.MESSAGE_TOO_BIG)


class Backoff:
    """Exponential backoff, reset by a welcomed connection.

    Welcomed connections that repeatedly end early also double the wait, and so do refusals.
    """

    def __init__(self) -> None:
        self._next = FIRST_WAIT_S
        self._hasty = self._refused = 0

    def wait_s(self, held_s: float | None, at_least_s: float = 0.0) -> float:
        """Return seconds to wait now, without jitter.

        Args:
            held_s: seconds since the welcome; None without a welcome.
            at_least_s: minimum wait demanded by the reason for the end.
        """
        if held_s is not None:
            self._hasty = 0 if held_s >= STEADY_S else self._hasty + 1
            self._next = FIRST_WAIT_S * 2.0 ** min(max(0, self._hasty - 1), 10)
        wait = min(self._next, LONGEST_WAIT_S)
        self._next = min(2 * self._next, LONGEST_WAIT_S)
        longer_s = min(at_least_s * 2.0**self._refused, LONGEST_REFUSED_WAIT_S)
        self._refused = min(self._refused + 1, 10) if at_least_s and held_s is None else 0
        return max(wait, longer_s)


@dataclass(frozen=True)
class CloseReason:
    """Reason for the end of a connection.

    Attributes:
        text: log text: what happened and what to do.
        wait_s: minimum wait in seconds; an earlier attempt would fail the same way.
        refused: True if a message was refused, and would be again.
    """

    text: str
    wait_s: float = 0.0
    refused: bool = False


def close_reason(error: ConnectionClosed) -> CloseReason:
    """Classify the end of a connection."""
    if error.rcvd is None:
        return CloseReason("the connection to the backend was lost")
    code, reason = error.rcvd.code, error.rcvd.reason
    if code in _REFUSED:
        text = f"the backend refused a message ({code}: {reason})"
        return CloseReason(text, LONGEST_WAIT_S, refused=True)
    known = next((one for one in CloseCode if one == code), None)
    if known is None:
        return CloseReason(
            f"the backend closed the connection ({code}{': ' if reason else ''}{reason})"
        )
    hint = _HINTS.get(known)
    text = f"the backend rejected the connection ({code}: {reason}){f'; {hint}' if hint else ''}"
    return CloseReason(text, REPLACED_WAIT_S if known is CloseCode.REPLACED else LONGEST_WAIT_S)
