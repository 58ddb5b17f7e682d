"""Who may send spans, who sends them, and what senders are answered in common."""

import hmac
from typing import NamedTuple

from tidscope_backend.connections.peer import Peer, PeerLookup
from tidscope_backend.traces.batches import Batch

SCHEME = "bearer "


class Sender(NamedTuple):
    """The other end of a connection.

    Attributes:
        user: local user who owns it, or its address.
        port: of the connection.
    """

    user: Peer
    port: int


Address = tuple[str, int]
"""Host and port."""


def sender_of(lookup: PeerLookup, client: Address, server: Address) -> Sender:
    """The sender at one end of a connection whose other end is a receiver."""
    return Sender(lookup.local(client, server), client[1])


def is_sender(authorization: str | None, token: str) -> bool:
    """Whether a request shows the token."""
    if authorization is None or authorization[: len(SCHEME)].lower() != SCHEME:
        return False
    shown = authorization[len(SCHEME) :].strip().encode("utf-8", "surrogatepass")
    return hmac.compare_digest(shown, token.encode())


def rejection_text(read: Batch) -> str:
    """Why spans were rejected, for the partial-success answer."""
    return f"{read.rejected} spans rejected: {'; '.join(read.reasons)}"
