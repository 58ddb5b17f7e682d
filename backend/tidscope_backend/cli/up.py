"""`tidscope up`: collector and backend on this machine, kept alive until a signal ends them."""

import argparse
import asyncio
import json
import math
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel
from tidscope_wire.generated.models import DemoResponse, HealthResponse, HostsResponse

from tidscope_backend.cli.account import Account, backend_account
from tidscope_backend.cli.address import add_address_options, add_otlp_option, otlp_environ
from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, ask
from tidscope_backend.cli.browser import has_screen, opened
from tidscope_backend.cli.collector import NETWORK_SOURCES, PATH, collector_command
from tidscope_backend.cli.failure import CommandError
from tidscope_backend.cli.keeping import add_keeping_options, keeping_arguments
from tidscope_backend.cli.supervised import Program, Supervised
from tidscope_backend.listening import SocketError, open_socket, reachable
from tidscope_backend.settings import (
    BROWSER_VARIABLE,
    COLLECTOR_VARIABLE,
    VIEW_VARIABLE,
    SettingsError,
    settings_from,
)

M = TypeVar("M", bound=BaseModel)
READY_SECONDS = 30.0
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Running:
    """What `up` has started.

    Attributes:
        address: host and port, as this machine reaches it.
        token: of the page.
        view_token: of the page, to watch only.
        backend: the backend process.
        collector: the collector process, if there is one.
    """

    address: str
    token: str
    view_token: str
    backend: Supervised
    collector: Supervised | None

    @property
    def url(self) -> str:
        """Where the page is, with its token."""
        return f"http://{self.address}/?token={self.token}"

    @property
    def view_url(self) -> str:
        """The same for people who are only to watch."""
        return f"http://{self.address}/?token={self.view_token}"


def run(arguments: Sequence[str]) -> int:
    """Start all, print the address, and keep it running until a signal comes."""
    parser = argparse.ArgumentParser(
        prog="tidscope up",
        description="Start collector and backend on this machine and print the page's address.",
    )
    add_address_options(parser)
    add_otlp_option(parser)
    parser.add_argument("--demo", action="store_true", help="with a program to look at")
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        help="open the page in a browser (if there is a screen and this is a terminal)",
    )
    parser.add_argument(
        "--budget-percent",
        type=_percent,
        metavar="PERCENT",
        help="CPU that sampling may take, 100 is one core; over it the collector lowers the rate; "
        "0: no limit (2)",
    )
    add_keeping_options(parser)
    parser.add_argument("--no-collector", action="store_true", help="the backend alone")
    parser.add_argument(
        "--user", metavar="NAME", help="whom the backend becomes (with sudo: who called it)"
    )
    parser.add_argument(
        "--network",
        choices=NETWORK_SOURCES,
        default="auto",
        help="where network bytes of threads come from (%(default)s: the best that there is)",
    )
    parser.add_argument("--json", action="store_true", help="print what runs as one line of JSON")
    return asyncio.run(_up(parser.parse_args(arguments)))


async def _up(options: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    account = backend_account(options.user, os.environ, os.geteuid())
    if account is not None:
        account.check_may_run()
    elif os.geteuid() == 0:
        _say("the backend runs as root; it needs no rights: --user NAME has it drop them")
    try:
        sock = open_socket(options.host, options.port)
        running = _programs(options, sock, account)
    except (SocketError, SettingsError) as error:
        raise CommandError(str(error)) from None
    # Held open here as well, so that nobody takes the port while the backend starts again.
    with sock:
        tasks = {
            asyncio.create_task(child.run())
            for child in (running.backend, running.collector)
            if child is not None
        }
        tasks.add(asyncio.create_task(_introduce(options, running, stop)))
        tasks.add(asyncio.create_task(_until(stop)))
        try:
            await _first_failure_or(stop, tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return 0


async def _first_failure_or(stop: asyncio.Event, tasks: set[asyncio.Task[None]]) -> None:
    """Wait until a signal comes; a task that fails before raises its error."""
    pending = tasks
    while not stop.is_set():
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()


def _programs(options: argparse.Namespace, sock: socket.socket, account: Account | None) -> Running:
    """Say what to run; the secrets are made here and travel by environment only."""
    environ = otlp_environ(options, os.environ)
    settings = settings_from(environ)
    address = reachable(options.host, sock.getsockname()[1])
    secrets = (BROWSER_VARIABLE, VIEW_VARIABLE, COLLECTOR_VARIABLE)
    environ = {name: value for name, value in environ.items() if name not in secrets}
    for_collector = {**environ, COLLECTOR_VARIABLE: settings.collector_secret}
    command = [sys.executable, "-m", "tidscope_backend", "serve", "--host", options.host]
    command += ["--fd", str(sock.fileno())]
    for name in options.allow_host:
        command += ["--allow-host", name]
    for origin in options.allow_origin:
        command += ["--allow-origin", origin]
    command += keeping_arguments(options)
    backend = Program(
        "backend",
        command,
        {
            **for_collector,
            BROWSER_VARIABLE: settings.token,
            VIEW_VARIABLE: settings.view_token,
        },
        descriptors=(sock.fileno(),),
        account=account,
    )
    collector = None
    if not options.no_collector:
        url = f"ws://{address}{PATH}"
        command = collector_command("run", "--backend", url, "--network", options.network)
        if options.budget_percent is not None:
            command += ["--budget-percent", f"{options.budget_percent:g}"]
        collector = Supervised(Program("collector", command, for_collector), _say)
    supervised = Supervised(backend, _say)
    return Running(address, settings.token, settings.view_token, supervised, collector)


async def _introduce(options: argparse.Namespace, running: Running, stop: asyncio.Event) -> None:
    """Wait until all is ready, and tell the person where it is."""
    await _ready(running)
    if running.collector is not None:
        await _explain_source(running)
    if options.demo:
        await _start_demo(running)
    if options.json:
        told = {
            "url": running.url,
            "address": f"http://{running.address}",
            "token": running.token,
            "view_url": running.view_url,
            "backend_pid": running.backend.pid,
            "collector_pid": running.collector and running.collector.pid,
        }
        print(json.dumps(told), flush=True)
    else:
        print(f"tidscope is at {running.url}", flush=True)
        print(f"to watch only: {running.view_url}", flush=True)
        _say("Ctrl-C ends it")
    wanted = options.open
    if wanted is None:
        wanted = sys.stdout.isatty() and has_screen(os.environ, os.geteuid())
    with opened(running.url, wanted):
        await stop.wait()


async def _ready(running: Running) -> None:
    """Wait for the backend, then for the collector.

    Raises:
        CommandError: one of them does not come.
    """
    missing = "the backend did not answer"
    try:
        async with asyncio.timeout(READY_SECONDS):
            while True:
                with suppress(UnavailableError):
                    health = await _ask(running, "/health", HealthResponse)
                    if running.collector is None or health.collectors:
                        return
                    missing = "the collector did not connect"
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise CommandError(
            f"{missing} within {READY_SECONDS:g} s; what it said stands above"
        ) from None
    except RefusedError as error:
        raise CommandError(f"another program answers at {running.address}: {error}") from None


async def _explain_source(running: Running) -> None:
    with suppress(UnavailableError, RefusedError):
        for host in (await _ask(running, "/hosts", HostsResponse)).hosts:
            if not host.collector.privileged:
                _say(f"the collector has few rights: {host.collector.reason}")


async def _start_demo(running: Running) -> None:
    try:
        demo = await _ask(running, "/demo", DemoResponse, method="POST")
    except (UnavailableError, RefusedError) as error:
        _say(f"no demo: {error}")
    else:
        _say(f"the demo program is process {demo.target.process.pid}")


async def _ask(running: Running, path: str, answer: type[M], method: str = "GET") -> M:
    return await asyncio.to_thread(ask, running.address, running.token, path, answer, method)


def _percent(text: str) -> float:
    """A number from 0 on: said here rather than by a collector that cannot start."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of percent, 0 or more")
    return value


def _say(text: str) -> None:
    print(f"tidscope: {text}", file=sys.stderr, flush=True)
