"""Tickets: what a browser shows for a download, where it cannot send a header."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass

TICKET_SECONDS = 10.0
MAX_TICKETS = 256


@dataclass(frozen=True)
class _Ticket:
    session_id: str
    path: str
    expires_s: float


class Tickets:
    """Each is good once, for one path of one session, for some seconds.

    Args:
        clock: seconds, monotonic.
        most: how many wait to be used; the oldest give way.
    """

    def __init__(self, clock: Callable[[], float], most: int = MAX_TICKETS) -> None:
        self._clock = clock
        self._most = most
        self._waiting: dict[str, _Ticket] = {}

    def issue(self, session_id: str, path: str) -> str:
        """Make a ticket for a path, which may have a query."""
        now = self._clock()
        self._waiting = {key: kept for key, kept in self._waiting.items() if kept.expires_s > now}
        while len(self._waiting) >= self._most:
            del self._waiting[next(iter(self._waiting))]
        ticket = secrets.token_urlsafe(32)
        self._waiting[_digest(ticket)] = _Ticket(session_id, path, now + TICKET_SECONDS)
        return ticket

    def redeem(self, ticket: str, path: str) -> str | None:
        """Use a ticket up.

        Args:
            ticket: as it was issued.
            path: that is asked for, with its query but for the ticket.

        Returns:
            The id of its session; None if it is not good for this path now.
        """
        found = self._waiting.pop(_digest(ticket), None)
        if found is None or found.expires_s <= self._clock() or found.path != path:
            return None
        return found.session_id


def _digest(ticket: str) -> str:
    return hashlib.sha256(ticket.encode()).hexdigest()
