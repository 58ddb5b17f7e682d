"""What the close codes of the backend mean for the collector."""

from dataclasses import dataclass

from tidscope_wire.generated.close_code import CloseCode
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode as StandardCode

from tidscope_collector.uplink.backoff import LONGEST_WAIT_S

REPLACED_WAIT_S = 30.0
"""Two collectors of one host would take turns in throwing each other out."""


@dataclass(frozen=True)
class CloseReason:
    """Why a connection ended.

    Attributes:
        text: for the log: what happened and what to do.
        wait_s: least time to wait; trying at once again would end the same way.
        refused: whether a message was refused, and would be again.
    """

    text: str
    wait_s: float = 0.0
    refused: bool = False


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


def close_reason(error: ConnectionClosed) -> CloseReason:
    """Judge how a connection ended."""
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
