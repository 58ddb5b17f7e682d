"""`tidscope collect --fleet`: a collector, and the relay that connects it to NATS.

The collector has the rights and no network; the relay has the network and no rights.
"""

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress

from tidscope_wire.escaping import log_to_stderr
from tidscope_wire.proof import HOST_NAME

from tidscope_backend.cli.backend_user import give_up_rights, user_who_can_run
from tidscope_backend.cli.command import CommandError, print_lines
from tidscope_backend.cli.fleet_options import fleet_settings
from tidscope_backend.cli.supervisor import Launcher, Process, Program, Supervisor
from tidscope_backend.ingest.private_socket import SocketError, open_private_socket
from tidscope_backend.settings import SECRET_VARIABLES, FleetSettings


def run_fleet(options: argparse.Namespace, command: Callable[[str], list[str]]) -> int:
    """Run both until a signal arrives.

    Args:
        options: options of `tidscope collect`.
        command: returns the collector's command for the address of its backend.
    """
    settings = fleet_settings(options)
    if settings is None:
        raise CommandError("the servers of the fleet are missing; give --fleet")
    name = options.fleet_name or socket.gethostname().lower()
    if not HOST_NAME.fullmatch(name):
        raise CommandError(f"the name of this host, {name!r}, cannot be used; give --fleet-name")
    environ = {key: value for key, value in os.environ.items() if key not in SECRET_VARIABLES}
    user = user_who_can_run(options.user, environ)
    with ExitStack() as held:
        try:
            sock = held.enter_context(open_private_socket(None if user is None else user.uid))
        except SocketError as error:
            raise CommandError(str(error)) from None
        collector = Program("collector", command(f"unix:{sock.getsockname()}"), environ)
        start: Callable[[], Awaitable[Process]] = collector.start
        if os.geteuid() == 0:
            start = held.enter_context(Launcher(collector.command, collector.environ)).start
            gap = give_up_rights(user)
            if gap:
                _say(gap)
        log_to_stderr("relay: %(message)s")
        logging.getLogger("websockets").setLevel(logging.WARNING)
        asyncio.run(_run(name, settings, sock, Supervisor("collector", start, _say)))
    return 0


async def _run(
    name: str, settings: FleetSettings, sock: socket.socket, collector: Supervisor
) -> None:
    from tidscope_backend.nats_link.bus import Bus
    from tidscope_backend.nats_link.host_relay import HostRelay

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    relay = HostRelay(name, Bus(settings, f"host {name}"), settings)
    relaying = asyncio.create_task(relay.run(sock))
    collecting = asyncio.create_task(collector.run())
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait(
            (relaying, collecting, stopping), return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()
    finally:
        # The collector says goodbye, which the relay passes on.
        for task in (collecting, stopping, relaying):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _say(text: str) -> None:
    with suppress(OSError):
        print_lines(f"tidscope: {text}", file=sys.stderr, flush=True)
