"""`tidscope up`: collector and backend on this machine, supervised until a signal."""

import argparse
import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace

from tidscope_wire.generated.models import HealthResponse

from tidscope_backend.cli.backend_client import (
    BackendClient,
    RefusedError,
    UnavailableError,
    UntrustedError,
)
from tidscope_backend.cli.backend_user import give_up_rights, user_who_can_run
from tidscope_backend.cli.collect import PATH, collector_command, warn_if_others_may_change_it
from tidscope_backend.cli.command import (
    Command,
    CommandError,
    print_lines,
)
from tidscope_backend.cli.debug_file_options import (
    add_debug_file_options,
    debug_file_arguments,
    debug_file_settings,
)
from tidscope_backend.cli.fleet_options import add_fleet_options, fleet_arguments, fleet_settings
from tidscope_backend.cli.ring_options import add_ring_options
from tidscope_backend.cli.ring_program import Ring, keep_ring
from tidscope_backend.cli.server_options import (
    add_ledger_options,
    add_network_option,
    add_server_options,
    add_source_option,
    add_user_option,
    detach_arguments,
    otlp_environ,
    percent,
    retention_arguments,
    role_arguments,
    source_arguments,
    trace_arguments,
    with_roles,
)
from tidscope_backend.cli.supervisor import (
    Launcher,
    Process,
    Program,
    Supervisor,
    run_until_signal,
    say,
)
from tidscope_backend.cli.up_announcement import Running, announce, start_demo
from tidscope_backend.listen_socket import SocketError, open_socket, reachable
from tidscope_backend.processes import SupervisorLog, run_module
from tidscope_backend.security.token_file import find_service_token
from tidscope_backend.settings import (
    BROWSER_VARIABLE,
    COLLECTOR_VARIABLE,
    DEFAULT_HOST,
    METRICS_VARIABLE,
    SECRET_VARIABLES,
    SPANS_VARIABLE,
    VIEW_VARIABLE,
    Settings,
    SettingsError,
    settings_from,
    take_secrets,
)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_server_options(parser)
    parser.add_argument("--demo", action="store_true", help="start and attach a demo program")
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        help="open the page in a browser (default: on a terminal with a display)",
    )
    parser.add_argument(
        "--budget-percent",
        type=percent,
        metavar="PERCENT",
        help="CPU budget of sampling, 100 is one core; above it the collector lowers the sampling "
        "rate; 0: no limit (2)",
    )
    parser.add_argument("--no-collector", action="store_true", help="start the backend only")
    add_user_option(parser)
    add_network_option(parser)
    add_source_option(parser)
    add_ledger_options(parser)
    add_debug_file_options(parser)
    add_fleet_options(parser, "find hosts")
    parser.set_defaults(tell_hosts=False)
    add_ring_options(parser)
    parser.add_argument(
        "--json", action="store_true", help="print address and process ids as one line of JSON"
    )


def _run(options: argparse.Namespace) -> int:
    """Start both, print the address, and keep them running until a signal arrives.

    If the system service listens on the port, only print its address.
    """
    service = find_service_token(options.port) if options.host == DEFAULT_HOST else None
    if service is not None:
        return _show_service(options, service)
    warn_if_others_may_change_it()
    environ = otlp_environ(options, take_secrets())
    root = os.geteuid() == 0
    user = user_who_can_run(options.user, environ)
    own = environ if user is None else user.environ(environ)
    try:
        sock = open_socket(options.host, options.port)
        settings = replace(settings_from(environ), debug_files=debug_file_settings(options, own))
        with_roles(settings, options)
        fleet_settings(options)
    except (SocketError, SettingsError) as error:
        raise CommandError(str(error)) from None
    # Keep the socket open here, so that no other program takes the port during a restart.
    with sock, ExitStack() as held:
        log = SupervisorLog()
        held.callback(log.close)
        ring = None
        if options.keep_minutes and not options.no_collector:
            ring = held.enter_context(Ring(options, user, own))
        collector = _collector_program(options, sock, settings, environ, ring)
        start = None if collector is None else collector.start
        if root:
            if collector is not None:
                start = held.enter_context(Launcher(collector.command, collector.environ)).start
            gap = give_up_rights(user)
            if gap:
                say(gap)
            if user is None:
                say(
                    "the backend is user root, without root's capabilities, as its folders are "
                    "root's; --user NAME runs it as another user"
                )
        # A browser cannot run under this process's confinement.
        shown = os.environ if not root else {}
        backend = _backend_program(options, sock, settings, own, log.reading, ring)
        running = _running(options, sock, settings, backend, start, log)
        if ring is not None:
            keeper = Supervisor("ring", ring.program(own).start, say, log)
            running = replace(running, ring=keeper)
        return asyncio.run(_up(options, running, shown))


def _show_service(options: argparse.Namespace, token: str) -> int:
    """Print the address of the system service's page."""
    address = reachable(options.host, options.port)
    try:
        with BackendClient(address, token) as client:
            client.request_model("/health", HealthResponse)
            if options.demo:
                asyncio.run(start_demo(client))
    except (RefusedError, UntrustedError, UnavailableError) as error:
        raise CommandError(f"the system service cannot be used: {error}") from None
    url = f"http://{address}/#token={token}"
    if options.json:
        facts = {"url": url, "address": f"http://{address}", "token": token, "service": True}
        print_lines(json.dumps(facts))
    else:
        print_lines(f"tidscope is at {url}")
        say("it is the system's service, with the service's options; --port starts another one")
    return 0


async def _up(options: argparse.Namespace, running: Running, shown: Mapping[str, str]) -> int:
    """Keep both running until a signal arrives; `shown` has the display's variables."""
    stop = asyncio.Event()
    senders = [announce(options, running, stop, shown)]
    if running.collector is not None:
        senders.append(running.collector.run())
    receivers = [running.backend.run()]
    if running.ring is not None:
        receivers.append(keep_ring(running.ring))
    await run_until_signal(stop, senders, receivers)
    return 0


def _backend_program(
    options: argparse.Namespace,
    sock: socket.socket,
    settings: Settings,
    environ: Mapping[str, str],
    ended: int,
    ring: Ring | None,
) -> Program:
    """Return the backend's program, with secrets in the environment only.

    `ended` reads the supervisor's log.
    """
    command = run_module("tidscope_backend", "serve", "--host", options.host)
    command += ["--fd", str(sock.fileno()), "--ended-fd", str(ended)]
    descriptors = [sock.fileno(), ended]
    if ring is not None:
        command += ["--ring-fd", str(ring.reading)]
        descriptors.append(ring.reading)
    for name in options.allow_host:
        command += ["--allow-host", name]
    for origin in options.allow_origin:
        command += ["--allow-origin", origin]
    for network in options.trusted_proxy:
        command += ["--trusted-proxy", network]
    command += [
        *retention_arguments(options),
        *trace_arguments(options),
        *detach_arguments(options),
        *role_arguments(options),
        *debug_file_arguments(settings.debug_files),
        *fleet_arguments(options),
    ]
    secrets = {
        COLLECTOR_VARIABLE: settings.collector_secret,
        BROWSER_VARIABLE: settings.token,
        VIEW_VARIABLE: settings.view_token,
        METRICS_VARIABLE: settings.metrics_token or "",
        SPANS_VARIABLE: settings.spans_token,
    }
    return Program("backend", command, {**environ, **secrets}, descriptors=tuple(descriptors))


def _collector_program(
    options: argparse.Namespace,
    sock: socket.socket,
    settings: Settings,
    environ: Mapping[str, str],
    ring: Ring | None,
) -> Program | None:
    """Return the collector's program, with its own secret only; None without a collector."""
    if options.no_collector:
        return None
    url = f"ws://{reachable(options.host, sock.getsockname()[1])}{PATH}"
    command = collector_command("run", "--backend", url, *source_arguments(options))
    if ring is not None:
        command += ["--recorder", ring.path]
    if settings.debug_files is not None:
        command += ["--debug-files", str(settings.debug_files.folder)]
    if options.budget_percent is not None:
        command += ["--budget-percent", f"{options.budget_percent:g}"]
    own = {name: value for name, value in environ.items() if name not in SECRET_VARIABLES}
    own[COLLECTOR_VARIABLE] = settings.collector_secret
    return Program("collector", command, own)


def _running(
    options: argparse.Namespace,
    sock: socket.socket,
    settings: Settings,
    backend: Program,
    start: Callable[[], Awaitable[Process]] | None,
    log: SupervisorLog,
) -> Running:
    """Return the programs to run and their addresses; `start` starts the collector."""
    return Running(
        reachable(options.host, sock.getsockname()[1]),
        settings.token,
        settings.view_token,
        settings.spans_token if options.otlp_receiver else None,
        Supervisor(backend.name, backend.start, say, log),
        None if start is None else Supervisor("collector", start, say, log),
        None,
    )


COMMAND = Command(
    name="up",
    help="start collector and backend on this machine and print the page's address",
    add_arguments=_add_arguments,
    run=_run,
)
