"""Closing a WebSocket with a code of ours and a reason that fits."""

from contextlib import suppress
from typing import TYPE_CHECKING

from tidscope_wire.generated.close_code import CloseCode

if TYPE_CHECKING:
    from fastapi import WebSocket

MAX_REASON_BYTES = 123
"""A close frame holds 125 bytes, two of them the code (RFC 6455, section 5.5)."""


class CloseError(Exception):
    """The connection has to be closed.

    Attributes:
        code: of the schemas.
        reason: names what was wrong.
    """

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def fit_reason(reason: str) -> str:
    """Cut a reason so that it fits into a close frame."""
    encoded = reason.encode()
    if len(encoded) <= MAX_REASON_BYTES:
        return reason
    return encoded[: MAX_REASON_BYTES - 3].decode(errors="ignore") + "…"


async def close(socket: "WebSocket", code: CloseCode, reason: str) -> None:
    """Close; a peer that has gone already is as good as closed."""
    # A collector's session needs the errors above without the server.
    from fastapi import WebSocketDisconnect

    with suppress(RuntimeError, WebSocketDisconnect):
        await socket.close(code, fit_reason(reason))
