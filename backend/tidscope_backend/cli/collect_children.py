"""`tidscope collect` with programs beside the collector: a relay to NATS, and the ring's process.

The collector has the rights. The relay, which is this process, has the network of a fleet
(`--fleet`), and the ring's process the disk (`--keep-minutes`); neither has rights.
"""

import argparse
import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack

from tidscope_wire.escaping import log_to_stderr
from tidscope_wire.proof import HOST_NAME

from tidscope_backend.cli.backend_user import give_up_rights, user_who_can_run
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.fleet_options import fleet_settings
from tidscope_backend.cli.ring_program import Ring, keep_ring
from tidscope_backend.cli.supervisor import (
    Launcher,
    Process,
    Program,
    Supervisor,
    run_until_signal,
    say,
)
from tidscope_backend.ingest.private_socket import SocketError, open_private_socket
from tidscope_backend.settings import COLLECTOR_VARIABLE, SECRET_VARIABLES, FleetSettings


def run_beside(
    options: argparse.Namespace, command: Callable[..., list[str]], backend: str, secret: str
) -> int:
    """Run a collector and what is beside it until a signal arrives.

    Args:
        options: options of `tidscope collect`.
        command: returns the collector's command with further arguments.
        backend: URL of the backend's socket for collectors, unless a fleet is given.
        secret: the collector's secret for it.
    """
    settings = fleet_settings(options)
    name = _host_name(options)
    environ = {key: value for key, value in os.environ.items() if key not in SECRET_VARIABLES}
    user = user_who_can_run(options.user, environ)
    own = environ if user is None else user.environ(environ)
    with ExitStack() as held:
        ring = held.enter_context(Ring(options, user, own)) if options.keep_minutes else None
        recorder = [] if ring is None else ["--recorder", ring.path]
        if settings is None:
            sock, secrets = None, {COLLECTOR_VARIABLE: secret}
        else:
            try:
                sock = held.enter_context(open_private_socket(None if user is None else user.uid))
            except SocketError as error:
                raise CommandError(str(error)) from None
            backend, secrets = f"unix:{sock.getsockname()}", {}
        words = command("--backend", backend, *recorder)
        collector = Program("collector", words, environ | secrets)
        start: Callable[[], Awaitable[Process]] = collector.start
        if os.geteuid() == 0:
            start = held.enter_context(Launcher(collector.command, collector.environ)).start
            gap = give_up_rights(user)
            if gap:
                say(gap)
        receivers: list[Coroutine[None, None, None]] = []
        if settings is not None and sock is not None:
            receivers.append(_relay(name, settings, sock, ring))
        if ring is not None:
            receivers.append(keep_ring(Supervisor("ring", ring.program(own).start, say)))
        collecting = Supervisor("collector", start, say).run()
        asyncio.run(run_until_signal(asyncio.Event(), [collecting], receivers))
    return 0


def _host_name(options: argparse.Namespace) -> str:
    name = str(options.fleet_name or socket.gethostname().lower())
    if options.fleet and not HOST_NAME.fullmatch(name):
        raise CommandError(f"the name of this host, {name!r}, cannot be used; give --fleet-name")
    return name


async def _relay(
    name: str, settings: FleetSettings, sock: socket.socket, ring: Ring | None
) -> None:
    from tidscope_backend.nats_link.bus import Bus
    from tidscope_backend.nats_link.host_relay import HostRelay
    from tidscope_backend.nats_link.host_ring import HostRing

    log_to_stderr("relay: %(message)s")
    logging.getLogger("websockets").setLevel(logging.WARNING)
    kept = None if ring is None else HostRing(ring.runs, ring.reading)
    try:
        await HostRelay(name, Bus(settings, f"host {name}"), settings, kept).run(sock)
    finally:
        if kept is not None:
            kept.close()
