"""Access control: Host, Origin and right of every request, before routing."""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.connections.connection import connection_of
from tidscope_backend.responses import method_not_allowed, not_found, send_problem
from tidscope_backend.security.allowed_origins import AllowedOrigins
from tidscope_backend.security.authenticator import (
    WHERE,
    Authenticator,
    Principal,
    set_principal,
)
from tidscope_backend.security.collector_access import set_authority
from tidscope_backend.security.credentials import accepted_protocol
from tidscope_backend.security.rights import SOCKET, Right, grants, is_guarded, rights_of
from tidscope_backend.websocket_close import fit_reason

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class AccessMiddleware:
    """ASGI middleware. It decides by the table of rights, and what is not listed is refused.

    The page's own files are for everybody, so that the page can ask for the token.

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
            if scope["type"] == "http":
                await send_problem(refused, scope, receive, send)
            else:
                await _refuse_socket(refused, scope, receive, send)
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
        method = SOCKET if scope["type"] == "websocket" else scope["method"]
        if not is_guarded(path):
            return
        rights, connection = rights_of(path), connection_of(scope)
        right = rights.get("GET" if method == "HEAD" else method)
        if right == "collector":
            connection.authenticate(False)
            set_authority(scope, self._authenticator.authenticate_collector(scope))
            connection.authenticate(True)
            self._check_origin(scope, headers, host)
            return
        self._check_origin(scope, headers, host)
        if right == "public":
            return
        connection.authenticate(False)
        principal = self._authenticator.authenticate(scope)
        connection.authenticate(True)
        if not rights:
            raise not_found(path)
        if right is None:
            raise method_not_allowed(method, path, ", ".join(sorted(rights)))
        _check_right(principal, right)
        set_principal(scope, principal)

    def _check_origin(self, scope: Scope, headers: Mapping[str, str], host: str) -> None:
        if scope["type"] == "http" and scope["method"] in SAFE:
            return
        origin = headers.get("origin")
        if origin is None:
            # No browser leaves it out here; who sends an Authorization header is none.
            if "authorization" not in headers:
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


def _check_right(principal: Principal, right: Right) -> None:
    if grants(principal.grant, right):
        return
    if principal.grant == "metrics":
        raise refusal(
            "unauthenticated", "the metrics token only reads /metrics", f"show the token: {WHERE}"
        )
    raise refusal(
        "view-only",
        "this session was opened with the token that only lets watch",
        "open the other address that `tidscope up` printed",
    )


async def _refuse_socket(refused: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    """Accept and close: a browser tells its page the code only of an accepted connection."""
    kind = refused.problem.type.rpartition(":")[2]
    code = CloseCode.UNAUTHENTICATED
    if kind.startswith("forbidden"):
        code = CloseCode.FORBIDDEN_ORIGIN
    elif kind == "too-many-attempts":
        code = CloseCode.TOO_MANY
    await receive()
    await send({"type": "websocket.accept", "subprotocol": accepted_protocol(scope)})
    reason = fit_reason(refused.problem.detail)
    await send({"type": "websocket.close", "code": int(code), "reason": reason})
