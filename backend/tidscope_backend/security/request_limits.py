"""Bounds on request bodies, and on viewers' costly reads, which must not delay operators."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.security.authenticator import Principal, principal_of
from tidscope_backend.security.rights import is_costly
from tidscope_backend.web import send_problem


class BodyLimit:
    """ASGI middleware that reads small bodies before the route, and refuses large ones.

    Args:
        app: inner application.
        max_bytes: maximum bytes of other bodies.
        streamed: paths with larger bodies, each with its bound. These bodies are streamed; beyond
            the bound, the route's read fails.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int, streamed: Mapping[str, int] | None = None
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._streamed = streamed or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a problem document."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        larger = self._streamed.get(scope["path"]) if scope["method"] == "POST" else None
        max_bytes = self._max_bytes if larger is None else larger
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > max_bytes:
            await send_problem(_too_large(max_bytes), scope, receive, send)
            return
        if larger is not None:
            await self._app(scope, _counted(receive, max_bytes), send)
            return
        messages: list[Message] = []
        size = 0
        more = True
        while more:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
            if size > max_bytes:
                await send_problem(_too_large(max_bytes), scope, receive, send)
                return

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)


def _counted(receive: Receive, max_bytes: int) -> Receive:
    """Pass messages through up to a number of bytes, then fail."""
    size = 0

    async def counting() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > max_bytes:
            raise _too_large(max_bytes)
        return message

    return counting


def _too_large(max_bytes: int) -> ProblemError:
    return refusal(
        "too-large",
        f"the request body is larger than {max_bytes} bytes",
        "no request of this interface needs that much; see /openapi.json",
    )


EACH = 2
"""Maximum concurrent costly reads of one viewer, until the answer has been sent."""
ALL = 3
"""Maximum costly reads of all viewers; fewer than the threads that read runs (store/disk.py)."""
WAITING = 8
"""Maximum waiting reads of one viewer."""


@dataclass
class _Viewer:
    """Running and waiting reads of one viewer."""

    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EACH))
    reads: int = 0


class ReadLimit:
    """ASGI middleware behind the access control. Operators are not limited.

    Args:
        app: inner application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._all = asyncio.Semaphore(ALL)
        self._viewers: dict[str, _Viewer] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on in turn, or refuse it if too many wait."""
        if scope["type"] != "http" or not is_costly(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        principal = principal_of(scope)
        if principal.grant == "operator":
            await self._app(scope, receive, send)
            return
        try:
            async with self._turn(principal):
                await self._app(scope, receive, send)
        except ProblemError as refused:
            await send_problem(refused, scope, receive, send)

    @asynccontextmanager
    async def _turn(self, principal: Principal) -> AsyncIterator[None]:
        key = principal.address if principal.session is None else principal.session.id
        viewer = self._viewers.setdefault(key, _Viewer())
        if viewer.reads >= EACH + WAITING:
            raise refusal(
                "too-many-actions",
                f"{viewer.reads} reads of this session are under way already",
                "wait for their answers",
                retry_after="1",
            )
        viewer.reads += 1
        try:
            async with viewer.turn, self._all:
                yield
        finally:
            viewer.reads -= 1
            if not viewer.reads:
                del self._viewers[key]
