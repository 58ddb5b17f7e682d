"""`tidscope collect`: the collector alone, for a backend on this or another machine."""

import argparse
import os
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from tidscope_wire.generated.limits import MIN_SECRET

from tidscope_backend.cli.collector_command import PATH, collector_command
from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.installation import warn_if_others_may_change_it
from tidscope_backend.cli.server_options import (
    add_ledger_options,
    add_network_option,
    add_source_option,
    source_arguments,
)
from tidscope_backend.parent_death import exec_program
from tidscope_backend.settings import COLLECTOR_VARIABLE, DEFAULT_HOST, DEFAULT_PORT

SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backend",
        default=f"ws://{DEFAULT_HOST}:{DEFAULT_PORT}",
        metavar="URL",
        help="address of the backend (%(default)s)",
    )
    add_network_option(parser)
    add_source_option(parser)
    add_ledger_options(parser)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    options, further = parser.parse_known_args(arguments)
    options.further = further
    return options


def _run(options: argparse.Namespace) -> int:
    """Become the collector."""
    secret = os.environ.get(COLLECTOR_VARIABLE, "")
    if len(secret) < MIN_SECRET:
        what = f"has {len(secret)} characters" if secret else "is not set"
        raise CommandError(
            f"{COLLECTOR_VARIABLE} {what}; set it to the backend's collector secret, of at least "
            f"{MIN_SECRET} characters"
        )
    warn_if_others_may_change_it()
    url = socket_url(options.backend)
    further = (*source_arguments(options), *options.further)
    exec_program(collector_command("run", "--backend", url, *further))


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


COMMAND = Command(
    name="collect",
    help="run the collector alone",
    description="Run the collector alone. It needs CAP_NET_ADMIN for complete data, and the "
    f"backend's collector secret in {COLLECTOR_VARIABLE}. Further arguments go to the "
    "collector.",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)
