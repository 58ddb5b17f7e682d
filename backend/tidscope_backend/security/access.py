"""Access control before routing: proxy, Host, Origin and right of every request.

Checking Host and Origin prevents DNS rebinding and cross-site requests. Forwarded headers count
only from the address of a trusted proxy.
"""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.connections.connection import connection_of, fit_reason
from tidscope_backend.security.authenticator import (
    WHERE,
    Authenticator,
    Principal,
    accepted_protocol,
    set_principal,
)
from tidscope_backend.security.collector_access import set_authority
from tidscope_backend.security.rights import SOCKET, Right, grants, is_guarded, rights_of
from tidscope_backend.web import method_not_allowed, not_found, send_problem

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class AllowedOrigins:
    """Hosts and origins of this backend.

    Args:
        bound: listening address.
        allow_hosts: further host names, without port.
        allow_origins: further origins, such as a proxy's that terminates TLS.
    """

    def __init__(
        self, bound: str, allow_hosts: Iterable[str] = (), allow_origins: Iterable[str] = ()
    ) -> None:
        self._any_address = _is_wildcard(bound)
        self._hosts = LOOPBACK | {bound.lower()} | {name.lower() for name in allow_hosts}
        self._origins = frozenset(origin.rstrip("/").lower() for origin in allow_origins)

    def is_host(self, header: str | None) -> bool:
        """Return True if a Host header names this backend.

        Any IP literal is accepted if the backend listens on all addresses: a rebinding attack needs
        a name.
        """
        if not header:
            return False
        try:
            name = urlsplit(f"//{header}").hostname
        except ValueError:
            return False
        if name is None or "@" in header or "/" in header:
            return False
        return name in self._hosts or (self._any_address and _is_address(name))

    def is_origin(self, origin: str, scheme: str, host: str) -> bool:
        """Return True if an Origin header matches the page served under this Host header.

        Args:
            origin: the Origin header.
            scheme: scheme of the request, http or https (or ws, wss).
            host: the Host header, already checked by `is_host`.
        """
        web = {"ws": "http", "wss": "https"}.get(scheme, scheme)
        return origin.lower() in {f"{web}://{host}".lower(), *self._origins}


class AccessMiddleware:
    """ASGI middleware that applies the table of rights; unlisted routes are refused.

    The page's files are public, so that the page can ask for the token.

    Args:
        app: inner application.
        origins: allowed hosts and origins.
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
            # Browsers always send the header here; a client with an Authorization header is no
            # browser.
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
    """Accept and close: a browser reveals the close code of accepted connections only."""
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


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_wildcard(bound: str) -> bool:
    return not bound or (_is_address(bound) and ip_address(bound).is_unspecified)


SCHEMES = {"http": "ws", "https": "wss"}
Address = IPv4Address | IPv6Address


class TrustedProxy:
    """ASGI middleware that copies the client and scheme named by a trusted proxy into the scope.

    Args:
        app: inner application.
        networks: networks of the proxies, such as 10.0.0.0/8; if empty, no forwarded header is
            trusted.
    """

    def __init__(self, app: ASGIApp, networks: Iterable[str]) -> None:
        self._app = app
        self._networks = [ip_network(network) for network in networks]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with the proxy's view of the client."""
        if scope["type"] in ("http", "websocket") and scope.get("client"):
            peer = _parse(str(scope["client"][0]))
            if peer is not None and self._is_trusted(peer):
                scope = {**scope, **self._forwarded(scope)}
        await self._app(scope, receive, send)

    def _forwarded(self, scope: Scope) -> Scope:
        headers = Headers(scope=scope)
        found: Scope = {}
        # Proxies append, so any value before the last may be forged.
        scheme = headers.getlist("x-forwarded-proto")[-1:]
        if scheme and scheme[0].lower() in SCHEMES:
            web = scheme[0].lower()
            found["scheme"] = SCHEMES[web] if scope["type"] == "websocket" else web
        hops = [hop for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]
        for hop in reversed(hops):
            address = _parse(hop)
            if address is None:
                break
            found["client"] = (str(address), 0)
            if not self._is_trusted(address):
                break
        return found

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    # A socket for both address families reports IPv4 peers in mapped form.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
