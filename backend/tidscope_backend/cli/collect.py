"""`tidscope collect`: the collector alone, for a backend on this or another machine."""

import argparse
import os
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from tidscope_backend.cli.collector import NETWORK_SOURCES, PATH, collector_command
from tidscope_backend.cli.failure import CommandError
from tidscope_backend.lifeline import become
from tidscope_backend.settings import COLLECTOR_VARIABLE, DEFAULT_HOST, DEFAULT_PORT

SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


def run(arguments: Sequence[str]) -> int:
    """Become the collector."""
    parser = argparse.ArgumentParser(
        prog="tidscope collect",
        description="Run the collector alone. It needs CAP_NET_ADMIN for full numbers, and the "
        f"backend's secret in {COLLECTOR_VARIABLE}. Further arguments go to the collector.",
    )
    parser.add_argument(
        "--backend",
        default=f"ws://{DEFAULT_HOST}:{DEFAULT_PORT}",
        metavar="URL",
        help="where the backend is (%(default)s)",
    )
    parser.add_argument(
        "--network",
        choices=NETWORK_SOURCES,
        default="auto",
        help="where network bytes of threads come from (%(default)s: the best that there is)",
    )
    options, further = parser.parse_known_args(arguments)
    if not os.environ.get(COLLECTOR_VARIABLE):
        raise CommandError(
            f"{COLLECTOR_VARIABLE} is not set; give it the value that the backend was started with"
        )
    become(
        collector_command(
            "run", "--backend", socket_url(options.backend), "--network", options.network, *further
        )
    )


def socket_url(url: str) -> str:
    """Complete the address of a backend to that of its collectors' WebSocket.

    Raises:
        CommandError: it is not an address.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise CommandError(f"--backend {url}: not an address such as ws://127.0.0.1:8787")
    path = PATH if parts.path in ("", "/") else parts.path
    return urlunsplit((SCHEMES[parts.scheme], parts.netloc, path, "", ""))
