"""Addresses of debuginfod servers, as an operator gives them. Pure."""

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

VARIABLE = "DEBUGINFOD_URLS"
"""Addresses of servers, separated by spaces, as debuginfod's own clients read it."""
MAX_SERVERS = 8


class BadServerError(ValueError):
    """An address is no server's; the text says why."""


def servers_of(given: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the servers to ask, in order.

    Args:
        given: addresses; an empty one stands for those of the environment.
        environ: environment of the command.

    Raises:
        BadServerError: an address is invalid, or there is none in the environment.
    """
    found: dict[str, None] = {}
    for one in given:
        addresses = [one] if one else environ.get(VARIABLE, "").split()
        if not addresses:
            raise BadServerError(f"{VARIABLE} is empty; give an address to --debuginfod")
        found |= {_server(address): None for address in addresses}
    if len(found) > MAX_SERVERS:
        raise BadServerError(f"{len(found)} debuginfod servers are named; at most {MAX_SERVERS}")
    return tuple(found)


def _server(address: str) -> str:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        port = 0
    if port == 0 or parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadServerError(f"{address!r} is no address such as https://debuginfod.debian.net")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadServerError(f"{address!r}: only scheme, host, port and path may be given")
    return address.rstrip("/")
