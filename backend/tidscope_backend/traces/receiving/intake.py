"""The bounded way of received spans to the disk, which says when it is full."""

import asyncio
import hmac
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

from tidscope_traces.spans.reading import Bounds

from tidscope_backend.connections.connection import Peer, PeerLookup
from tidscope_backend.traces.batches import Batch
from tidscope_backend.traces.span_store import SpanStore

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
    """True if the Authorization header of a request carries the token."""
    if authorization is None or authorization[: len(SCHEME)].lower() != SCHEME:
        return False
    shown = authorization[len(SCHEME) :].strip().encode("utf-8", "surrogatepass")
    return hmac.compare_digest(shown, token.encode())


def rejection_text(read: Batch) -> str:
    """Why spans were rejected, for the partial-success answer."""
    return f"{read.rejected} spans rejected: {'; '.join(read.reasons)}"


MAX_REQUEST_BYTES = 16 * 1024 * 1024
"""Of one request, as it comes and once it is unpacked."""
MAX_WAITING_BYTES = 64 * 1024 * 1024
MAX_WAITING = 256
"""Requests that arrive, are being read or wait for their turn."""
RETRY_SECONDS = 1
AT_ONCE = 2
"""Requests that are read at the same time, each of another user."""
BOUNDS = Bounds.of(MAX_REQUEST_BYTES)
"""On the spans of one request."""

Read = Callable[[bytes, Bounds], Batch]


class FullError(Exception):
    """So much waits already that no more is taken: the sender tries again later."""


class RefusedRequests(Protocol):
    """A count of requests."""

    refused: int


class Room:
    """The room that one request takes in the intake, from its first byte to its answer."""

    def __init__(self, intake: "Intake", sender: Sender) -> None:
        self._intake = intake
        self.sender = sender
        self.size = 0

    def grow(self, size: int) -> None:
        """Take room for more bytes of the request, as unpacked. Raises FullError."""
        self._intake.reserve(self.sender, size)
        self.size += size


class Intake:
    """Requests are read and stored in threads of their own, two at once.

    Users take turns, and connections of a user do: whoever sends much waits for itself. A user may
    hold as much room as is left free, so that there is always some for the next one.

    Args:
        store: of spans.
        counts: where requests are counted that were asked to come again later.
    """

    def __init__(self, store: SpanStore, counts: RefusedRequests) -> None:
        self._store = store
        self._counts = counts
        self._threads = ThreadPoolExecutor(AT_ONCE, "span-intake")
        self._free = asyncio.Semaphore(AT_ONCE)
        # A lock lives as long as somebody holds or awaits it.
        self._turns: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()
        self._requests: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()

    @contextmanager
    def room(self, sender: Sender) -> Iterator[Room]:
        """Room for a request, which has not arrived yet. Raises FullError."""
        user = sender.user
        if self._requests[user] >= MAX_WAITING - self._requests.total():
            self._refuse()
        room = Room(self, sender)
        self._requests[user] += 1
        try:
            yield room
        finally:
            self._requests[user] -= 1
            self._bytes[user] -= room.size
            if not self._requests[user]:
                del self._requests[user], self._bytes[user]

    def reserve(self, sender: Sender, size: int) -> None:
        """Take bytes for a user. Raises FullError: it has as much as is left free."""
        if self._bytes[sender.user] + size > MAX_WAITING_BYTES - self._bytes.total():
            self._refuse()
        self._bytes[sender.user] += size

    async def take(self, room: Room, data: bytes, read: Read) -> Batch:
        """Read a request and store its spans; they are on the disk when this returns.

        Args:
            room: the request's.
            data: its body.
            read: makes spans of it; raises BadTracesError.

        Raises:
            BadTracesError: the body is none of its form.
            TooManyError: it holds more than BOUNDS.
            ProblemError: the disk cannot be written.
        """
        sender = room.sender
        async with self._turn(sender), self._turn(sender.user), self._free:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._stored, data, read)

    def close(self) -> None:
        """Finish what was taken."""
        self._threads.shutdown()

    def _turn(self, key: object) -> asyncio.Lock:
        lock = self._turns.get(key)
        if lock is None:
            lock = self._turns[key] = asyncio.Lock()
        return lock

    def _refuse(self) -> None:
        self._counts.refused += 1
        raise FullError

    def _stored(self, data: bytes, read: Read) -> Batch:
        found = read(data, BOUNDS)
        self._store.add_table(found.table)
        self._store.reject(found.rejected)
        return found
