"""A bound on request bodies, whether their length is announced or not."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidscope_backend.problems import ProblemError, refusal
from tidscope_backend.responses import send_problem


class BodyLimit:
    """ASGI middleware. Reads the body before the route does: it is small or refused.

    Args:
        app: what stands behind it.
        max_bytes: the bound.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a problem document."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > self._max_bytes:
            await send_problem(self._too_large(), scope, receive, send)
            return
        messages: list[Message] = []
        size = 0
        more = True
        while more:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
            if size > self._max_bytes:
                await send_problem(self._too_large(), scope, receive, send)
                return

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)

    def _too_large(self) -> ProblemError:
        return refusal(
            "too-large",
            f"the request body is larger than {self._max_bytes} bytes",
            "no request of this interface needs that much; see /openapi.json",
        )
