"""`tidscope serve`: the backend alone, for local or remote collectors."""

import argparse
import logging
import os
from dataclasses import replace
from pathlib import Path

from tidscope_wire.escaping import log_to_stderr
from tidscope_wire.loading import loading

from tidscope_backend.cli.backend_user import adopt, give_up_rights, user_who_can_run
from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.debug_file_options import add_debug_file_options, with_debug_files
from tidscope_backend.cli.fleet_options import add_fleet_options, with_fleet
from tidscope_backend.cli.server_options import (
    add_server_options,
    add_user_option,
    otlp_environ,
    retention_bytes,
    retention_seconds,
    with_detaching,
    with_roles,
    with_traces,
)
from tidscope_backend.listen_socket import SocketError, adopt_socket, open_socket
from tidscope_backend.processes import map_large_buffers
from tidscope_backend.security.token_file import offered_token
from tidscope_backend.settings import (
    BROWSER_VARIABLE,
    COLLECTOR_VARIABLE,
    SettingsError,
    settings_from,
    take_secrets,
    token_directory,
)

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_server_options(parser)
    add_user_option(parser)
    add_debug_file_options(parser)
    add_fleet_options(parser, "find hosts")
    parser.add_argument(
        "--fd", type=int, help="descriptor of a listening socket, instead of --port"
    )
    parser.add_argument(
        "--offer-token",
        type=Path,
        metavar="DIR",
        help="folder in which members of this user's group may read the operators' token "
        "(default: this user alone, in its runtime folder)",
    )
    parser.add_argument(
        "--ended-fd", type=int, help="descriptor of the supervisor's log of ended programs"
    )
    parser.add_argument("--ring-fd", type=int, help="descriptor of what the ring's process says")


def _run(options: argparse.Namespace) -> int:
    """Serve until a signal arrives."""
    environ = take_secrets()
    user = user_who_can_run(options.user, environ)
    try:
        sock = (
            open_socket(options.host, options.port)
            if options.fd is None
            else adopt_socket(options.fd)
        )
    except (SocketError, OSError) as error:
        raise CommandError(str(error)) from None
    # Drop privileges before libraries start threads: privileges are per thread.
    gap = give_up_rights(user) if os.geteuid() == 0 else ""
    if user is not None:
        environ = adopt(user, environ)
    map_large_buffers()
    with loading():
        from tidscope_backend.server import serve

    log_to_stderr(LOG_FORMAT)
    if gap:
        logging.getLogger(__name__).warning("%s", gap)
    try:
        settings = settings_from(
            otlp_environ(options, environ),
            options.host,
            tuple(options.allow_host),
            tuple(options.allow_origin),
            retention_seconds(options),
            retention_bytes(options),
        )
    except SettingsError as error:
        raise CommandError(str(error)) from None
    address, port = sock.getsockname()[:2]
    logging.getLogger(__name__).info("listening on %s port %d", address, port)
    proxies = tuple(options.trusted_proxy)
    settings = with_roles(with_detaching(with_traces(settings, options), options), options)
    settings = with_debug_files(settings, options, environ)
    settings = with_fleet(settings, options)
    settings = replace(settings, ended_descriptor=options.ended_fd, ring_descriptor=options.ring_fd)
    shared: Path | None = options.offer_token
    folder = shared or token_directory(environ)
    with offered_token(folder, port, settings.token, to_group=shared is not None):
        serve(replace(settings, port=port, trusted_proxies=proxies), sock)
    return 0


COMMAND = Command(
    name="serve",
    help="run the backend alone",
    description=f"Run the backend alone. Its secrets come from the environment: {BROWSER_VARIABLE} "
    f"for browsers, {COLLECTOR_VARIABLE} for collectors.",
    add_arguments=_add_arguments,
    run=_run,
)
