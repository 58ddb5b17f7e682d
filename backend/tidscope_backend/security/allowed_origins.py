"""Which Host and Origin headers are ours: the guard against DNS rebinding and foreign pages."""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class AllowedOrigins:
    """Hosts and origins under which this backend is served.

    Args:
        bound: address that is listened on.
        allow_hosts: more host names, without port.
        allow_origins: more origins, such as that of a proxy that ends TLS.
    """

    def __init__(
        self, bound: str, allow_hosts: Iterable[str] = (), allow_origins: Iterable[str] = ()
    ) -> None:
        self._any_address = _is_wildcard(bound)
        self._hosts = LOOPBACK | {bound.lower()} | {name.lower() for name in allow_hosts}
        self._origins = frozenset(origin.rstrip("/").lower() for origin in allow_origins)

    def is_host(self, header: str | None) -> bool:
        """Whether a Host header names us.

        Bound to all addresses, any IP literal does: a rebinding attack needs a name.
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
        """Whether an Origin header names the page that was served under this Host header.

        Args:
            origin: the header.
            scheme: of the request, http or https (or ws, wss).
            host: the Host header, which `is_host` has passed.
        """
        web = {"ws": "http", "wss": "https"}.get(scheme, scheme)
        return origin.lower() in {f"{web}://{host}".lower(), *self._origins}


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_wildcard(bound: str) -> bool:
    return not bound or (_is_address(bound) and ip_address(bound).is_unspecified)
