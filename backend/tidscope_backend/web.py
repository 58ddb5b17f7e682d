"""The built page, security headers, and problem documents as HTTP answers."""

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from tidscope_wire.problems import MEDIA_TYPE, ProblemError, make_problem, refusal

from tidscope_backend.security.rights import is_guarded

IMMUTABLE = "public, max-age=31536000, immutable"
NOT_BUILT = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>tidscope</title>'
    "<h1>The page is not built</h1>"
    "<p>The backend runs, but the files of its page are not there. Run <code>make build</code> "
    "in the checkout (or <code>make up</code>, which does it), then reload.</p></html>"
)


def web_router(folder: Path) -> APIRouter:
    """Make the route, which serves every path that no other route matched.

    Args:
        folder: folder of the built page; files under assets/ have a hash in their name.
    """
    routes = APIRouter()

    @routes.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(path: str, request: Request) -> Response:
        if is_guarded(request.url.path) or path.startswith("api/"):
            raise not_found(request.url.path)
        file = _find(folder, path)
        if file is not None:
            hashed = path.startswith("assets/")
            cache = IMMUTABLE if hashed else "no-cache"
            return FileResponse(file, headers={"Cache-Control": cache})
        if "." in path.rpartition("/")[2]:
            # A missing file; serving the page instead would hide the error.
            raise not_found(request.url.path)
        index = folder / "index.html"
        if not index.is_file():
            return HTMLResponse(NOT_BUILT, status_code=503, headers={"Cache-Control": "no-store"})
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

    return routes


def _find(folder: Path, path: str) -> Path | None:
    """Return the file of a path, unless the path leads out of the folder."""
    if not path or "\0" in path:
        return None
    file = (folder / path).resolve()
    return file if file.is_relative_to(folder.resolve()) and file.is_file() else None


def problem_response(refused: ProblemError) -> Response:
    """Make the answer to a refused request."""
    headers = dict(refused.headers)
    if refused.problem.status == 401:
        headers.setdefault("WWW-Authenticate", "Bearer")
    return Response(
        refused.problem.model_dump_json(),
        status_code=refused.problem.status,
        media_type=MEDIA_TYPE,
        headers=headers,
    )


async def send_problem(refused: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer from a middleware."""
    await problem_response(refused)(scope, receive, send)


def binary(*media_types: str) -> dict[str, Any]:
    """Describe a request or response body that is a file of one of these media types."""
    schema = {"type": "string", "format": "binary"}
    return {
        "content": {
            media_type: {"schema": {} if media_type == "application/json" else schema}
            for media_type in media_types
        }
    }


def not_found(path: str) -> ProblemError:
    """Return the refusal of an unknown path."""
    return refusal("not-found", f"there is nothing at {path}", "/openapi.json lists what there is")


def method_not_allowed(method: str, path: str, allowed: str) -> ProblemError:
    """Return the refusal of a method that a path does not support.

    Args:
        method: method of the request.
        path: path of the request.
        allowed: supported methods, as for the Allow header; empty if unknown.
    """
    document = make_problem(
        "method-not-allowed",
        f"{path} does not take {method}",
        f"it takes {allowed}" if allowed else "/openapi.json lists what it takes",
    )
    return ProblemError(document, {"Allow": allowed} if allowed else {})


SECURITY_HEADERS = {
    # Styles in attributes: the charts' tooltips are built from markup with style="…".
    "content-security-policy": (
        "default-src 'self'; script-src 'self'; worker-src 'self'; connect-src 'self'; "
        "style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data: blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class SecurityHeaders:
    """ASGI middleware that adds security headers.

    Args:
        app: inner application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and complete the answer's headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, receive, complete)
