"""Where a request carries a credential: header, list of subprotocols, or query."""

import re
from collections.abc import Mapping

from starlette.types import Scope

LIVE_PROTOCOL = "tidscope.v1"
SESSION_PROTOCOL = "tidscope.session."
"""A browser cannot give a WebSocket a header: behind this stands its session's credential."""
TICKET = "ticket"
CREDENTIAL = re.compile(r"tds_[A-Za-z0-9_-]{43}")
"""Form of a session's credential: unlike a token, a wrong one is not counted."""


def bearer(headers: Mapping[str, str]) -> str | None:
    """The credential of an Authorization header of kind Bearer, if there is one."""
    kind, _, credential = headers.get("authorization", "").partition(" ")
    return credential.strip() if kind.lower() == "bearer" and credential.strip() else None


def offered_session(subprotocols: list[str]) -> str | None:
    """The session's credential among the subprotocols that a WebSocket offers, if there is one."""
    for name in subprotocols:
        if name.startswith(SESSION_PROTOCOL):
            return name.removeprefix(SESSION_PROTOCOL)
    return None


def accepted_protocol(scope: Scope) -> str | None:
    """The subprotocol to accept of those that a WebSocket offers; a credential never is one."""
    return LIVE_PROTOCOL if LIVE_PROTOCOL in scope.get("subprotocols", []) else None


def ticket_in(scope: Scope) -> tuple[str, str] | None:
    """The ticket at the end of a request's query, and the address without it."""
    query, _, ticket = scope["query_string"].decode("latin-1").rpartition(f"{TICKET}=")
    if not ticket or (query and not query.endswith("&")):
        return None
    path = scope["raw_path"].decode("latin-1")
    return ticket, f"{path}?{query[:-1]}" if query else path
