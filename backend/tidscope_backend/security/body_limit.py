"""A bound on request bodies, whether their length is announced or not."""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.responses import send_problem


class BodyLimit:
    """ASGI middleware. Reads the body before the route does: it is small or refused.

    Args:
        app: what stands behind it.
        max_bytes: the bound.
        streamed: paths whose bodies may be larger, each with its bound. These are handed on as
            they come; where one becomes too large on its way, the route's reading of it fails.
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
    """The same messages, until they hold too many bytes."""
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
