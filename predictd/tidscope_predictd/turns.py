"""Turns of clients that wait: users take turns, and so do the clients of each user. Pure."""

from collections.abc import Hashable
from typing import Generic, TypeVar

Waiting = TypeVar("Waiting", bound=Hashable)


class Turns(Generic[Waiting]):
    """A fair queue: however many clients a user has, each round serves one request of it."""

    def __init__(self) -> None:
        # Both dictionaries are ordered: the first user, and its first client, are next.
        self._of_user: dict[int, dict[Waiting, None]] = {}

    def __bool__(self) -> bool:
        """True if anybody waits."""
        return bool(self._of_user)

    def add(self, user: int, client: Waiting) -> None:
        """Let a client wait; one that waits keeps its place."""
        self._of_user.setdefault(user, {}).setdefault(client)

    def take(self) -> Waiting | None:
        """Return the client whose turn it is, which waits no more; None if none waits."""
        if not self._of_user:
            return None
        user = next(iter(self._of_user))
        clients = self._of_user.pop(user)
        client = next(iter(clients))
        del clients[client]
        if clients:
            self._of_user[user] = clients
        return client

    def remove(self, user: int, client: Waiting) -> None:
        """Forget a client that has gone. Idempotent."""
        clients = self._of_user.get(user, {})
        clients.pop(client, None)
        if not clients:
            self._of_user.pop(user, None)
