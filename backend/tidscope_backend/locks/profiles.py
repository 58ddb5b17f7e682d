"""Mutex profiles of running Go programs, fetched from the program's own port on this host."""

import http.client
import ipaddress
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

MAX_BYTES = 64 << 20
SLACK_S = 30.0


class ProfileError(Exception):
    """There is no profile; the text says why and what to do."""


def is_address(text: str) -> bool:
    """Whether it names a profile on a port, not a file."""
    return text.startswith(("http://", "https://"))


def fetch(address: str, seconds: float, to: Path) -> None:
    """Ask a program for what was waited for in the seconds to come, and write the answer to a file.

    Args:
        address: as `http://127.0.0.1:6060/debug/pprof/mutex`; a loopback address.
        seconds: how long.
        to: the file.

    Raises:
        ProfileError: the address is another host's, nobody answers, or it is no profile.
    """
    parts = urlsplit(address)
    host, port = _loopback(parts.hostname), parts.port
    if parts.scheme != "http" or port is None:
        raise ProfileError(f"{address} is not http://127.0.0.1:PORT/debug/pprof/mutex")
    query = {**parse_qs(parts.query), "seconds": [str(max(1, round(seconds)))]}
    path = f"{parts.path or '/debug/pprof/mutex'}?{urlencode(query, doseq=True)}"
    connection = http.client.HTTPConnection(host, port, timeout=seconds + SLACK_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read(MAX_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise ProfileError(f"{address} does not answer: {error}") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise ProfileError(f"{address} answers {answer.status} {answer.reason}")
    if len(body) > MAX_BYTES:
        raise ProfileError(f"{address} answers with more than {MAX_BYTES >> 20} MiB")
    to.write_bytes(body)


def _loopback(host: str | None) -> str:
    if host == "localhost":
        return host
    try:
        if host is not None and ipaddress.ip_address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise ProfileError(f"{host or 'that'} is not this host: profiles are fetched by loopback only")
