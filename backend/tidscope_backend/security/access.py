"""Access control: Host, Origin and session of every request, before routing."""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.connections.connection import connection_of
from tidscope_backend.responses import send_problem
from tidscope_backend.security.allowed_origins import AllowedOrigins
from tidscope_backend.security.authenticator import Authenticator
from tidscope_backend.security.session import bearer
from tidscope_backend.websocket_close import fit_reason

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
COLLECTOR_PATH = "/ws/collector"
SESSION_PATH = "/api/v1/session"
GUARDED = ("/api", "/ws", "/docs", "/openapi.json", "/metrics")


class AccessMiddleware:
    """ASGI middleware.

    The page's own files need no session, so that the page can ask for the token; all data does.

    Args:
        app: what stands behind it.
        origins: hosts and origins that are served.
        authenticator: checks sessions.
    """

    def __init__(self, app: ASGIApp, origins: AllowedOrigins, authenticator: Authenticator) -> None:
        self._app = app
        self._origins = origins
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a problem document or a close code."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check(scope, headers)
        except ProblemError as refused:
            connection_of(scope).authenticate(False)
            if scope["type"] == "http":
                await send_problem(refused, scope, receive, send)
            else:
                await _refuse_socket(refused, receive, send)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        host = headers.get("host")
        if host is None or not self._origins.is_host(host):
            raise refusal(
                "forbidden-host",
                f"the request names the host {host!r}, which is not one of this backend's",
                "start the backend with --allow-host NAME to serve it under that name",
            )
        path: str = scope["path"]
        if scope["type"] == "websocket" and path == COLLECTOR_PATH:
            self._check_collector(headers)
            connection_of(scope).authenticate(True)
            self._check_origin(scope, headers, host)
            return
        self._check_origin(scope, headers, host)
        if is_guarded(path):
            role = self._authenticator.authenticate(headers, client_address(scope))
            connection_of(scope).authenticate(True)
            if role != "operator" and scope["type"] == "http" and scope["method"] not in SAFE:
                raise refusal(
                    "view-only",
                    "this session was opened with the token that only lets watch",
                    "open the other address that `tidscope up` printed",
                )

    def _check_collector(self, headers: Mapping[str, str]) -> None:
        if not self._authenticator.authenticate_collector(headers):
            raise refusal(
                "unauthenticated",
                "the collector's secret is missing or wrong",
                "give collector and backend the same TIDSCOPE_COLLECTOR_SECRET",
            )

    def _check_origin(self, scope: Scope, headers: Mapping[str, str], host: str) -> None:
        if scope["type"] == "http" and scope["method"] in SAFE:
            return
        origin = headers.get("origin")
        if origin is None:
            # No browser leaves it out here; who shows a Bearer credential is none.
            if bearer(headers) is None:
                raise refusal(
                    "forbidden-origin",
                    "the request has neither an Origin header nor an Authorization header",
                    "from a program, send `Authorization: Bearer TOKEN`",
                )
        elif not self._origins.is_origin(origin, scope["scheme"], host):
            raise refusal(
                "forbidden-origin",
                f"the request comes from {origin!r}, which is not where this backend's page is",
                "open the page from this backend, or start it with --allow-origin ORIGIN",
            )


def is_guarded(path: str) -> bool:
    """Whether a path needs a session: all but the page's files and the session route itself."""
    if path == SESSION_PATH:
        return False
    return any(path == prefix or path.startswith(prefix + "/") for prefix in GUARDED)


def client_address(scope: Scope) -> str:
    """Address of the peer."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def actor_of(scope: Scope) -> str:
    """Who asks, for the log of actions: page or program, and from where."""
    shown = bearer(Headers(scope=scope)) is not None
    return f"{'a program' if shown else 'the page'} at {client_address(scope)}"


async def _refuse_socket(refused: ProblemError, receive: Receive, send: Send) -> None:
    """Accept and close: a browser tells its page the code only of an accepted connection."""
    kind = refused.problem.type.rpartition(":")[2]
    code = CloseCode.UNAUTHENTICATED
    if kind.startswith("forbidden"):
        code = CloseCode.FORBIDDEN_ORIGIN
    elif kind == "too-many-attempts":
        code = CloseCode.TOO_MANY
    await receive()
    await send({"type": "websocket.accept"})
    reason = fit_reason(refused.problem.detail)
    await send({"type": "websocket.close", "code": int(code), "reason": reason})
