"""Store and analyses behind the routes of traces."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar
from urllib.parse import parse_qs

from fastapi import Request, Response
from pydantic import BaseModel
from tidscope_traces.spans.reading import LATEST_NS
from tidscope_wire.generated.models import TraceDetail, TraceEndpoints, TracesReceived
from tidscope_wire.problems import refusal

from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk, SharedReads
from tidscope_backend.traces.analyst import TraceAnalyst
from tidscope_backend.traces.joining.places import Places
from tidscope_backend.traces.queries import FindRun, SpanQueries, Wanted
from tidscope_backend.traces.receiving.receiver import Receiving
from tidscope_backend.traces.span_store import SpanStore

A = TypeVar("A")
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)
MakePlaces = Callable[[], Coroutine[None, None, Places]]
RUN = "^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$"


def parse_tag(text: str | None) -> tuple[str, str] | None:
    """Parse KEY=VALUE. Raises ProblemError if the text has another form."""
    if text is None or not text:
        return None
    key, equals, value = text.partition("=")
    if not equals:
        raise refusal("bad-request", f"tag {text!r} has no =", "tag takes KEY=VALUE")
    return key, value


class TraceService:
    """Store and analyses behind the routes of traces. Registered as `app.state.traces`.

    Args:
        store: span store.
        received: state of the receivers.
        make_places: where processes are and were measured; to be made on the event loop.
        find_run: returns when a run was recorded and which target; raises ProblemError.
        disk: threads in which spans are read and written.
    """

    def __init__(
        self,
        store: SpanStore,
        received: Receiving,
        make_places: MakePlaces,
        find_run: FindRun,
        disk: Disk,
    ) -> None:
        self._store = store
        self._received = received
        self._make_places = make_places
        self._find_run = find_run
        self._disk = disk
        self._queries = SpanQueries(store.read)
        self.analyst = TraceAnalyst(self._queries)
        self._shared: SharedReads[str] = SharedReads()
        # One analysis at a time: each takes a core and memory. Viewers have a separate queue.
        self._turns = {True: asyncio.Lock(), False: asyncio.Lock()}
        self._importing = asyncio.Lock()

    async def answer(self, request: Request, read: Callable[[], M]) -> Response:
        """Compute one answer at a time; concurrent identical requests share it."""
        turn = self._turns[principal_of(request.scope).sees_arguments]

        async def computed() -> str:
            async with turn:
                return (await self._disk.read(read)).model_dump_json()

        text = await self._shared.get((request.url.path, request.url.query), computed)
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def endpoints(self, since_ns: int | None, until_ns: int | None) -> TraceEndpoints:
        """Return the operations at which requests enter, and what was received."""

        def found() -> TraceEndpoints:
            counts = self._store.counts
            return TraceEndpoints(
                endpoints=self._queries.endpoints(since_ns, until_ns),
                received=TracesReceived(
                    spans=counts.stored,
                    traces=self._queries.count(),
                    dropped=counts.dropped,
                    rejected=counts.rejected,
                    expired=counts.expired,
                    bytes=self._store.bytes(),
                    refused=self._received.refused,
                    http_port=self._received.http_port,
                    grpc_port=self._received.grpc_port,
                ),
            )

        return await self._disk.read(found)

    async def detail(self, trace_id: str) -> TraceDetail:
        """Return one trace, joined with threads. Raises ProblemError if it is unknown."""
        places = await self._make_places()
        return await self._disk.read(self.analyst.detail, trace_id, places)

    @asynccontextmanager
    async def only_import(self) -> AsyncIterator[None]:
        """Enclose an import. Raises ProblemError if another one is under way."""
        if self._importing.locked():
            raise refusal(
                "too-many-actions",
                "traces are being brought in already",
                "wait until they are done",
            )
        async with self._importing:
            yield

    async def write(self, read: Callable[[A, SpanStore], R], given: A) -> R:
        """Read spans into the store, in a thread of the disk."""
        return await self._disk.write(read, given, self._store)

    async def parse(self, service: str, operation: str, text: str) -> Wanted:
        """Parse a trace set of an endpoint from a separate query string.

        Raises:
            ProblemError: the text is not a trace set, or the run is unknown.
        """
        given = {name: values[-1] for name, values in parse_qs(text).items()}
        try:
            since, until = (
                int(given[one]) if one in given else None for one in ("since_ns", "until_ns")
            )
            low, high = float(given.get("low", 0)), float(given.get("high", 100))
            if not 0 <= low <= high <= 100 or any(
                one is not None and not 0 <= one < LATEST_NS for one in (since, until)
            ):
                raise ValueError
            run = given.get("run")
            if run is not None and not re.fullmatch(RUN, run):
                raise ValueError
        except ValueError:
            raise refusal(
                "bad-request",
                f"{text!r} is not a set of traces",
                "it takes since_ns=..&until_ns=..&run=..&low=..&high=..&tag=KEY=VALUE, encoded",
            ) from None
        tag = parse_tag(given.get("tag"))
        wanted = Wanted(service, operation, since, until, tag=tag, low=low, high=high)
        return await self.within(wanted, run)

    async def within(self, wanted: Wanted, run: str | None) -> Wanted:
        """Keep the traces of a run: begun in its time span, with a span of one of its processes.

        Raises:
            ProblemError: the run is unknown.
        """
        if run is None:
            return wanted
        window = await self._find_run(run)
        since = max(window.since_ns, wanted.since_ns or 0)
        until = min(window.until_ns, LATEST_NS if wanted.until_ns is None else wanted.until_ns)
        return replace(wanted, since_ns=since, until_ns=until, processes=window.processes)
