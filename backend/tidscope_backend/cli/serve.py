"""`tidscope serve`: the backend alone. Collectors connect to it, from here or from elsewhere."""

import argparse
import logging
import os
import socket
from collections.abc import Sequence

from tidscope_backend.cli.address import add_address_options, add_otlp_option, otlp_environ
from tidscope_backend.cli.failure import CommandError
from tidscope_backend.cli.keeping import add_keeping_options, keep_bytes, keep_seconds
from tidscope_backend.listening import SocketError, open_socket
from tidscope_backend.serving import serve
from tidscope_backend.settings import SettingsError, settings_from

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def run(arguments: Sequence[str]) -> int:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser(
        prog="tidscope serve",
        description="Run the backend alone. Secrets come from the environment: TIDSCOPE_TOKEN for "
        "browsers, TIDSCOPE_COLLECTOR_SECRET for collectors.",
    )
    add_address_options(parser)
    add_otlp_option(parser)
    add_keeping_options(parser)
    parser.add_argument(
        "--fd", type=int, help="descriptor of a listening socket, in place of --port"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)
    try:
        settings = settings_from(
            otlp_environ(options, os.environ),
            options.host,
            tuple(options.allow_host),
            tuple(options.allow_origin),
            keep_seconds(options),
            keep_bytes(options),
        )
        sock = (
            open_socket(options.host, options.port)
            if options.fd is None
            else socket.socket(fileno=options.fd)
        )
    except (SettingsError, SocketError, OSError) as error:
        raise CommandError(str(error)) from None
    logging.getLogger(__name__).info("listening on %s port %d", *sock.getsockname()[:2])
    serve(settings, sock)
    return 0
