"""The bounded way of received spans to the disk, which says when it is full."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from tidscope_traces.spans.reading import ReadSpans

from tidscope_backend.traces.span_store import SpanStore

MAX_REQUEST_BYTES = 16 * 1024 * 1024
"""Of one request, as it comes and once it is unpacked."""
MAX_WAITING_BYTES = 64 * 1024 * 1024
MAX_WAITING = 256
"""Requests that are being read or wait for their turn."""
RETRY_SECONDS = 1


class FullError(Exception):
    """So much waits already that no more is taken: the sender tries again later."""


class RefusedRequests(Protocol):
    """A count of requests."""

    refused: int


class Intake:
    """Requests are read and stored one after the other, in a thread of their own.

    Args:
        store: of spans.
        counts: where requests are counted that were asked to come again later.
    """

    def __init__(self, store: SpanStore, counts: RefusedRequests) -> None:
        self._store = store
        self._counts = counts
        self._thread = ThreadPoolExecutor(1, "span-intake")
        self._waiting = 0
        self._bytes = 0

    def check(self, size: int) -> None:
        """Whether a request of so many bytes would be taken now. Raises FullError."""
        if self._waiting >= MAX_WAITING or self._bytes + size > MAX_WAITING_BYTES:
            self._counts.refused += 1
            raise FullError

    async def take(self, data: bytes, read: Callable[[bytes], ReadSpans]) -> ReadSpans:
        """Read a request and store its spans; they are on the disk when this returns.

        Args:
            data: its body.
            read: makes spans of it; raises BadTracesError.

        Raises:
            FullError: too much waits already.
            BadTracesError: the body is none of its form.
            ProblemError: the disk cannot be written.
        """
        self.check(len(data))
        self._waiting += 1
        self._bytes += len(data)
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._stored, data, read)
        finally:
            self._waiting -= 1
            self._bytes -= len(data)

    def _stored(self, data: bytes, read: Callable[[bytes], ReadSpans]) -> ReadSpans:
        found = read(data)
        self._store.add(found.spans)
        self._store.reject(found.rejected)
        return found

    def close(self) -> None:
        """Finish what was taken."""
        self._thread.shutdown()
