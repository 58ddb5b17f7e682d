"""Fetches one debug file, as a limited process that a hostile server may crash.

`python -m tidscope_backend.debug_files.download ORDERS` asks a server and fills a file. It gives up
its rights before it reads the file. Standard output is one line of JSON: see `Answer`.
"""

import http.client
import json
import os
import ssl
import sys
from typing import NamedTuple
from urllib.parse import urlsplit

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_backend.exchange.confinement import confine

SOCKET_S = 20.0
"""Maximum time without an answer of the server, in seconds."""
_PIECE = 1 << 16


class Orders(NamedTuple):
    """Request for a file.

    Attributes:
        server: address of the server.
        build_id: build ID, hexadecimal.
        path: the file to make.
        max_bytes: maximum bytes of the file.
        seconds: maximum time.
    """

    server: str
    build_id: str
    path: str
    max_bytes: int
    seconds: float


class Answer(NamedTuple):
    """Outcome of a request.

    Attributes:
        outcome: one of `OUTCOMES` of fetching.py.
        detail: what the server said, or the error; empty if there is nothing to add.
        shared_id: build ID of the supplementary file that its DWARF refers to; empty without one.
    """

    outcome: str
    detail: str = ""
    shared_id: str = ""


def main() -> int:
    """Run the command line."""
    orders = Orders(*json.loads(sys.argv[1]))
    limits = Limits(
        # Reading maps the file.
        memory_bytes=orders.max_bytes + (1 << 30),
        cpu_s=int(orders.seconds) + 1,
        wall_s=orders.seconds,
        file_bytes=orders.max_bytes + _PIECE,
        open_files=64,
        private_bytes=256 << 20,
    )
    limit_resources(limits)
    # The descriptors stay referenced: what is open is all that is left after `confine`.
    file = os.open(orders.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    answer = _fetch(orders, file)
    if answer is None:
        confine((), None)
        answer = _check(orders.build_id, file)
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


def _fetch(orders: Orders, file: int) -> Answer | None:
    """Fill the file. Return None, or why it is not filled."""
    parts = urlsplit(orders.server)
    connection = _connection(parts.scheme, parts.hostname or "", parts.port)
    try:
        connection.request(
            "GET",
            f"{parts.path}/buildid/{orders.build_id}/debuginfo",
            headers={"User-Agent": "tidscope", "Accept-Encoding": "identity"},
        )
        response = connection.getresponse()
        if response.status == http.client.NOT_FOUND:
            return Answer("not_found")
        if response.status != http.client.OK:
            return Answer("refused", _refusal(response))
        total = 0
        with open(file, "wb", closefd=False) as filled:
            while piece := response.read1(_PIECE):
                total += len(piece)
                if total > orders.max_bytes:
                    return Answer("too_large")
                filled.write(piece)
        length = response.getheader("Content-Length")
        if length is not None and length != str(total):
            return Answer("unreachable", "the connection ended within the file")
    except (OSError, http.client.HTTPException) as error:
        return Answer("unreachable", str(error)[:200] or type(error).__name__)
    return None


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    # Proxies of the environment are ignored, and redirects not followed: nobody but the server
    # that the operator named is asked.
    if scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=SOCKET_S, context=context)
    return http.client.HTTPConnection(host, port, timeout=SOCKET_S)


def _refusal(response: http.client.HTTPResponse) -> str:
    to = response.getheader("Location", "")[:200]
    redirect = f", a redirect to {to}, which is not followed" if to else ""
    return f"status {response.status}{redirect}"


def _check(build_id: str, file: int) -> Answer:
    """Return whether the file has the build ID and names."""
    from tidscope_sampler.native import elf_links

    try:
        links = elf_links(file)
    except (OSError, ValueError):
        return Answer("damaged")
    if links["build_id"].hex() != build_id:
        return Answer("other_file")
    if not (links["lines"] or links["symbols"]):
        return Answer("damaged", "it has no names")
    return Answer("fetched", "", links["shared_id"].hex())


if __name__ == "__main__":
    sys.exit(main())
