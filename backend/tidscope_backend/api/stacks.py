"""/api/v1/targets/{target_id}/stacks and /api/v1/runs/{run}/stacks: flame graphs.

Take stacks for a while, and ask for flame graphs, places, differences and files of other tools.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel
from tidscope_wire.generated.models import (
    StackDifference,
    StackGraph,
    StackPlaces,
    StackRequest,
    StackSide,
    Target,
)
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import ASK_COLLECTOR, FIND_ATTACHED, READ_RUN, raises
from tidscope_backend.hidden_arguments import target_without
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.security.audit import continues_logged, note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.stacks.differences import SECOND_NS, Side, stack_difference
from tidscope_backend.stacks.exports import Exported, folded, otlp, pprof
from tidscope_backend.stacks.selection import DEFAULT_NS, Selection, Window
from tidscope_backend.stacks.service import flame_of, graph, places, why_not
from tidscope_backend.stacks.sources import LiveSource, RunSource, StackSource
from tidscope_backend.store.disk import Disk, SharedReads, damage_text
from tidscope_backend.web import binary

MAX_TIDS, MAX_NAMES = 1_000, 64
MAX_NAME = 200
Time = Annotated[int | None, Query(ge=0, lt=2**62, description="Nanoseconds since attach.")]
Last = Annotated[int, Query(ge=1, lt=2**62, description="Nanoseconds of a window without a begin.")]
Tid = Annotated[int, Query(ge=1, lt=2**32)]
Tids = Annotated[list[Tid] | None, Query(max_length=MAX_TIDS)]
Names = Annotated[
    list[Annotated[str, Query(max_length=MAX_NAME)]] | None, Query(max_length=MAX_NAMES)
]
Lock = Annotated[str | None, Query(max_length=MAX_NAME, description="Number or name.")]
SourceName = Annotated[str, Query(pattern="^(target|run):[-a-z0-9]{1,80}$")]
Format = Literal["folded", "pprof", "otlp"]
KINDS: dict[Format, tuple[str, str]] = {
    "folded": ("folded.txt", "text/plain; charset=utf-8"),
    "pprof": ("pb.gz", "application/octet-stream"),
    "otlp": ("otlp.json", "application/json"),
}
"""Ending of the file's name, and media type."""
Find = Callable[[], StackSource]
"""Makes a source; called in a thread of the disk. Raises ProblemError."""


def selection(
    from_ns: Time = None,
    to_ns: Time = None,
    last_ns: Last = DEFAULT_NS,
    tid: Tids = None,
    role: Names = None,
    state: Names = None,
    lock: Lock = None,
    side: StackSide = "threads",
) -> Selection:
    """Return the selection of a request's query. Raises ProblemError."""
    asked = Selection(
        Window(from_ns, to_ns, last_ns),
        frozenset(tid or ()),
        frozenset(role or ()),
        frozenset(state or ()),
        lock_of(lock),
        side,
    )
    asked.check()
    return asked


def lock_of(text: str | None) -> int | str | None:
    """Return the number of a lock, or its name if the text is no number."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 10
    return int(text) if text is not None and is_number else text


def _prefixed(prefix: str) -> Callable[..., Selection]:
    """Make a dependency that reads a selection from a query's members with a prefix."""

    def own(
        from_ns: Annotated[int | None, Query(alias=f"{prefix}_from_ns", ge=0, lt=2**62)] = None,
        to_ns: Annotated[int | None, Query(alias=f"{prefix}_to_ns", ge=0, lt=2**62)] = None,
        tid: Annotated[list[Tid] | None, Query(alias=f"{prefix}_tid", max_length=MAX_TIDS)] = None,
        role: Annotated[
            list[str] | None, Query(alias=f"{prefix}_role", max_length=MAX_NAMES)
        ] = None,
        state: Annotated[
            list[str] | None, Query(alias=f"{prefix}_state", max_length=MAX_NAMES)
        ] = None,
        lock: Annotated[str | None, Query(alias=f"{prefix}_lock", max_length=MAX_NAME)] = None,
        side: Annotated[StackSide, Query(alias=f"{prefix}_side")] = "threads",
    ) -> Selection:
        return selection(from_ns, to_ns, DEFAULT_NS, tid, role, state, lock, side)

    return own


def _window(from_ns: Time = None, to_ns: Time = None, last_ns: Last = DEFAULT_NS) -> Window:
    return Window(from_ns, to_ns, last_ns)


Asked = Annotated[Selection, Depends(selection)]
AskedWindow = Annotated[Window, Depends(_window)]
Before = Annotated[Selection, Depends(_prefixed("before"))]
After = Annotated[Selection, Depends(_prefixed("after"))]


@dataclass(frozen=True)
class StackSources:
    """Finds sources of stacks.

    Attributes:
        registry: hosts and targets.
        live: makes the source of a target; for the event loop.
        open_run: opens a run; blocks, and raises ProblemError.
    """

    registry: HostRegistry
    live: Callable[[Target], LiveSource]
    open_run: Callable[[str], RunSource]

    def of_target(self, target_id: str, request: Request) -> Find:
        """Return the source of a target. Raises ProblemError."""
        target = self.registry.require(target_id)
        sees = principal_of(request.scope).sees_arguments
        source = self.live(target if sees else target_without(target))
        return lambda: source

    def of_run(self, run: str) -> Find:
        """Return the source of a run; errors come later."""
        return lambda: self.open_run(run)

    def named(self, name: str, request: Request) -> Find:
        """Return the source with a name such as run:ID."""
        kind, _, number = name.partition(":")
        return self.of_run(number) if kind == "run" else self.of_target(number, request)


class _Answers:
    """Answers of one kind at a time; concurrent equal requests share one."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._shared: SharedReads[bytes] = SharedReads()
        # Each answer takes a core and memory. Viewers have a separate queue.
        self._turns = {True: asyncio.Lock(), False: asyncio.Lock()}

    async def model(self, request: Request, find: Callable[[], BaseModel]) -> Response:
        """Answer with a model."""
        text = await self.content(request, lambda: find().model_dump_json().encode())
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def content(self, request: Request, find: Callable[[], bytes]) -> bytes:
        """Compute an answer in a thread of the disk."""
        sees = principal_of(request.scope).sees_arguments

        def read() -> bytes:
            try:
                return find()
            except (OSError, ValueError) as error:
                detail = f"the run cannot be read: {damage_text(error)}"
                raise refusal("bad-run", detail, "the list of runs marks damaged ones") from None

        async def computed() -> bytes:
            async with self._turns[sees]:
                return await self._disk.read(read)

        return await self._shared.get((request.url.path, request.url.query, sees), computed)


def stack_sampling_router(registry: HostRegistry, links: CollectorLinks) -> APIRouter:
    """Make the route that has stacks taken."""
    routes = APIRouter(tags=["stacks"])

    @routes.post(
        "/targets/{target_id}/stacks",
        summary="Take stacks for a while; repeat it while somebody looks",
        openapi_extra=raises(
            *FIND_ATTACHED, *ASK_COLLECTOR, "no-stacks", "not-permitted", "unknown-host"
        ),
    )
    async def sample(target_id: str, body: StackRequest, request: Request) -> Target:
        note(request.scope, seconds=f"{body.seconds:g}")
        target = registry.require_attached(target_id)
        until_us = None if target.stacks is None else target.stacks.until_unix_us
        now_us = time.time_ns() // 1000 + registry.clock_ahead_us(target.host)
        if until_us is not None and until_us > now_us:
            continues_logged(request.scope)
        actor = principal_of(request.scope).actor
        reply = await links.pick(target.host).sample_stacks(target_id, body.seconds, actor)
        return reply.target

    return routes


def stacks_router(sources: StackSources, disk: Disk) -> APIRouter:
    """Make the routes that read.

    Args:
        sources: finds targets and runs.
        disk: threads in which answers are computed.
    """
    routes = APIRouter(tags=["stacks"])
    answers = _Answers(disk)

    @routes.get(
        "/targets/{target_id}/stacks",
        summary="Flame graph of a selection of a target's time",
        response_model=StackGraph,
        openapi_extra=raises("unknown-target", "bad-request"),
    )
    async def of_target(target_id: str, asked: Asked, request: Request) -> Response:
        find = sources.of_target(target_id, request)
        return await answers.model(request, lambda: graph(find(), asked))

    @routes.get(
        "/runs/{run}/stacks",
        summary="Flame graph of a selection of a run's time",
        response_model=StackGraph,
        openapi_extra=raises(*READ_RUN, "bad-request"),
    )
    async def of_run(run: str, asked: Asked, request: Request) -> Response:
        find = sources.of_run(run)
        return await answers.model(request, lambda: graph(find(), asked))

    @routes.get(
        "/targets/{target_id}/stacks/places",
        summary="Code of a target's locks and threads",
        response_model=StackPlaces,
        openapi_extra=raises("unknown-target", "bad-request"),
    )
    async def places_of_target(target_id: str, request: Request, window: AskedWindow) -> Response:
        find = sources.of_target(target_id, request)
        return await answers.model(request, lambda: places(find(), window))

    @routes.get(
        "/runs/{run}/stacks/places",
        summary="Code of a run's locks and threads",
        response_model=StackPlaces,
        openapi_extra=raises(*READ_RUN, "bad-request"),
    )
    async def places_of_run(run: str, request: Request, window: AskedWindow) -> Response:
        find = sources.of_run(run)
        return await answers.model(request, lambda: places(find(), window))

    @routes.get(
        "/stacks/difference",
        summary="Difference of two flame graphs, per second of their windows",
        response_model=StackDifference,
        openapi_extra=raises("unknown-target", *READ_RUN, "bad-request"),
    )
    async def difference(
        request: Request, before: SourceName, after: SourceName, first: Before, second: After
    ) -> Response:
        one, other = (sources.named(name, request) for name in (before, after))
        return await answers.model(
            request, lambda: stack_difference(_side(one(), first), _side(other(), second))
        )

    return routes


def _side(source: StackSource, asked: Selection) -> Side:
    found, made = flame_of(source, asked)
    seconds = (found.to_ns - found.from_ns) / SECOND_NS
    label = asked.described(source.label)
    return Side(label, seconds, made, why_not(source, found, made))


def stack_export_router(sources: StackSources, disk: Disk) -> APIRouter:
    """Make the routes of files of other tools."""
    routes = APIRouter(tags=["stacks"])
    answers = _Answers(disk)
    files: dict[int | str, dict[str, Any]] = {
        200: binary(*(media_type for _, media_type in KINDS.values()))
    }

    async def export(
        request: Request, find: Find, name: str, asked: Selection, format: Format
    ) -> Response:
        content = await answers.content(request, lambda: exported(find(), asked, format))
        ending, media_type = KINDS[format]
        headers = {
            "Content-Disposition": f'attachment; filename="stacks-{name}.{ending}"',
            "Cache-Control": "no-store",
        }
        return Response(content, media_type=media_type, headers=headers)

    @routes.get(
        "/targets/{target_id}/stacks/export",
        summary="Flame graph of a target as folded text, pprof, or OTLP profiles (experimental)",
        response_class=Response,
        responses=files,
        openapi_extra=raises("unknown-target", "bad-request"),
    )
    async def of_target(
        target_id: str,
        asked: Asked,
        request: Request,
        format: Format = "folded",
        experimental: bool = False,
    ) -> Response:
        check_format(format, experimental=experimental)
        find = sources.of_target(target_id, request)
        return await export(request, find, target_id, asked, format)

    @routes.get(
        "/runs/{run}/stacks/export",
        summary="Flame graph of a run as folded text, pprof, or OTLP profiles (experimental)",
        response_class=Response,
        responses=files,
        openapi_extra=raises(*READ_RUN, "bad-request"),
    )
    async def of_run(
        run: str,
        asked: Asked,
        request: Request,
        format: Format = "folded",
        experimental: bool = False,
    ) -> Response:
        check_format(format, experimental=experimental)
        return await export(request, sources.of_run(run), run, asked, format)

    return routes


def check_format(format: Format, *, experimental: bool) -> None:
    """Check that an experimental format was asked for as such. Raises ProblemError."""
    if format == "otlp" and not experimental:
        raise refusal(
            "bad-request",
            "OTLP profiles are in development, so files may not open elsewhere",
            "add experimental=true, or use pprof",
        )


def exported(source: StackSource, asked: Selection, format: Format) -> bytes:
    """Return a flame graph as a file. Raises ProblemError if there is none."""
    found, made = flame_of(source, asked)
    why = why_not(source, found, made)
    if made is None or why:
        raise refusal("bad-request", why.rstrip("."), "choose another window or selection")
    if format == "folded":
        return "".join(f"{line}\n" for line in folded(made)).encode()
    begin = source.target.attached_unix_us * 1000 + found.from_ns
    whole = Exported(made, begin, found.to_ns - found.from_ns, asked.described(source.label))
    return pprof(whole) if format == "pprof" else otlp(whole)
