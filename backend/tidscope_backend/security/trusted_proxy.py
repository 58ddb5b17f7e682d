"""A proxy in front of the backend: from its address, and from no other, forwarded headers count."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

SCHEMES = {"http": "ws", "https": "wss"}
Address = IPv4Address | IPv6Address


class TrustedProxy:
    """ASGI middleware: puts the client and the scheme that a trusted proxy names into the scope.

    Args:
        app: what stands behind it.
        networks: of the proxies, such as 10.0.0.0/8; empty: no forwarded header is believed.
    """

    def __init__(self, app: ASGIApp, networks: Iterable[str]) -> None:
        self._app = app
        self._networks = [ip_network(network) for network in networks]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, as the proxy received it."""
        if scope["type"] in ("http", "websocket") and scope.get("client"):
            peer = _parse(str(scope["client"][0]))
            if peer is not None and self._is_trusted(peer):
                scope = {**scope, **self._forwarded(scope)}
        await self._app(scope, receive, send)

    def _forwarded(self, scope: Scope) -> Scope:
        headers = Headers(scope=scope)
        found: Scope = {}
        # Proxies append: what stands before the last of them could come from anybody.
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
    # A socket for both families sees IPv4 peers so.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
