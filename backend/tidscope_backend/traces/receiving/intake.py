"""Bounded queue of received spans on their path to disk; refuses spans when full."""

import asyncio
import hmac
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

from tidscope_traces.spans.reading import Bounds

from tidscope_backend.connections.connection import Peer, PeerLookup
from tidscope_backend.traces.batches import Batch
from tidscope_backend.traces.span_store import SpanStore
from tidscope_backend.traces.thread_names import NamedThread, names_in

SCHEME = "bearer "


class Sender(NamedTuple):
    """The remote end of a connection.

    Attributes:
        user: local user of the connection, or the remote address.
        port: port of the connection.
    """

    user: Peer
    port: int


Address = tuple[str, int]
"""Host and port."""


def sender_of(lookup: PeerLookup, client: Address, server: Address) -> Sender:
    """Return the sender whose connection ends at a receiver."""
    return Sender(lookup.local(client, server), client[1])


def is_sender(authorization: str | None, token: str) -> bool:
    """Return True if the Authorization header of a request carries the token."""
    if authorization is None or authorization[: len(SCHEME)].lower() != SCHEME:
        return False
    shown = authorization[len(SCHEME) :].strip().encode("utf-8", "surrogatepass")
    return hmac.compare_digest(shown, token.encode())


def rejection_text(read: Batch) -> str:
    """Why spans were rejected, for the partial-success answer."""
    return f"{read.rejected} spans rejected: {'; '.join(read.reasons)}"


MAX_REQUEST_BYTES = 16 * 1024 * 1024
"""Maximum bytes of one request, both as received and unpacked."""
MAX_WAITING_BYTES = 64 * 1024 * 1024
MAX_WAITING = 256
"""Maximum requests that are arriving, being read, or queued."""
RETRY_SECONDS = 1
AT_ONCE = 2
"""Maximum concurrent reads, each of a different user."""
BOUNDS = Bounds.of(MAX_REQUEST_BYTES)
"""Bounds of the spans of one request."""

Read = Callable[[bytes, Bounds], Batch]


class FullError(Exception):
    """The queue is full; the sender should retry later."""


class RefusedRequests(Protocol):
    """A count of requests."""

    refused: int


class Room:
    """Room reserved by one request in the intake, from its first byte to its answer."""

    def __init__(self, intake: "Intake", sender: Sender) -> None:
        self._intake = intake
        self.sender = sender
        self.size = 0

    def grow(self, size: int) -> None:
        """Reserve room for more unpacked bytes of the request. Raises FullError."""
        self._intake.reserve(self.sender, size)
        self.size += size


class Intake:
    """Reads and stores requests in separate threads, two at once.

    Users take turns, as do the connections of a user, so a heavy sender delays only itself. A user
    may reserve at most the amount that is left free, so there is always room for another user.

    Args:
        store: store of spans.
        counts: counts requests refused with a retry.
        note: takes the threads that spans of a request name.
    """

    def __init__(
        self,
        store: SpanStore,
        counts: RefusedRequests,
        note: Callable[[Sequence[NamedThread]], None],
    ) -> None:
        self._store = store
        self._note = note
        self._counts = counts
        self._threads = ThreadPoolExecutor(AT_ONCE, "span-intake")
        self._free = asyncio.Semaphore(AT_ONCE)
        # A lock lives while it is held or awaited.
        self._turns: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()
        self._requests: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()

    @contextmanager
    def room(self, sender: Sender) -> Iterator[Room]:
        """Reserve a place for an arriving request. Raises FullError."""
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
        """Reserve bytes for a user. Raises FullError if the user has as much as is left free."""
        if self._bytes[sender.user] + size > MAX_WAITING_BYTES - self._bytes.total():
            self._refuse()
        self._bytes[sender.user] += size

    async def take(self, room: Room, data: bytes, read: Read) -> Batch:
        """Read a request and store its spans on disk.

        Args:
            room: room of the request.
            data: body of the request.
            read: parses spans from the body; raises BadTracesError.

        Raises:
            BadTracesError: the body is malformed.
            TooManyError: the body exceeds BOUNDS.
            ProblemError: the disk cannot be written.
        """
        sender = room.sender
        async with self._turn(sender), self._turn(sender.user), self._free:
            loop = asyncio.get_running_loop()
            batch, names = await loop.run_in_executor(self._threads, self._stored, data, read)
        self._note(names)
        return batch

    def close(self) -> None:
        """Finish accepted requests."""
        self._threads.shutdown()

    def _turn(self, key: object) -> asyncio.Lock:
        lock = self._turns.get(key)
        if lock is None:
            lock = self._turns[key] = asyncio.Lock()
        return lock

    def _refuse(self) -> None:
        self._counts.refused += 1
        raise FullError

    def _stored(self, data: bytes, read: Read) -> tuple[Batch, list[NamedThread]]:
        found = read(data, BOUNDS)
        self._store.add_table(found.table)
        self._store.reject(found.rejected)
        return found, names_in(found.table)
