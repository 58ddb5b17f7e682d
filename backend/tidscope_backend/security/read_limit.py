"""A bound on costly reads of viewers, so that they never keep operators waiting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Receive, Scope, Send
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.responses import send_problem
from tidscope_backend.security.authenticator import Principal, principal_of
from tidscope_backend.security.rights import is_costly

EACH = 2
"""Costly reads of one viewer at once, until the answer has been sent."""
ALL = 3
"""Of all viewers: fewer than the threads that read files of runs (store/disk.py)."""
WAITING = 8
"""Of one viewer, waiting for their turn."""


@dataclass
class _Viewer:
    """One viewer's reads, running and waiting."""

    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EACH))
    reads: int = 0


class ReadLimit:
    """ASGI middleware behind the access control. Operators are not limited.

    Args:
        app: what stands behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._all = asyncio.Semaphore(ALL)
        self._viewers: dict[str, _Viewer] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it is its turn, or refuse it where too many wait."""
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
