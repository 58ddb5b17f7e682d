"""Announcements of `tidscope up`: readiness, addresses, and how spans and hosts come here."""

import argparse
import asyncio
import json
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel
from tidscope_wire.generated.models import DemoResponse, HealthResponse, HostsResponse

from tidscope_backend.cli.backend_client import (
    BackendClient,
    RefusedError,
    UnavailableError,
    UntrustedError,
)
from tidscope_backend.cli.command import CommandError, has_display, page_in_browser, print_lines
from tidscope_backend.cli.supervisor import Supervisor, say
from tidscope_backend.settings import COLLECTOR_VARIABLE, DEFAULT_HOST

M = TypeVar("M", bound=BaseModel)
READY_SECONDS = 30.0
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Running:
    """Programs started by `up`.

    Attributes:
        address: host and port, as reachable from this machine.
        token: token of an operator's session.
        view_token: token of a view-only session.
        spans_token: bearer token of span senders; None: spans are not received.
        backend: backend process.
        collector: the collector process, or None.
        ring: process that writes the ring, or None.
    """

    address: str
    token: str
    view_token: str
    spans_token: str | None
    backend: Supervisor
    collector: Supervisor | None
    ring: Supervisor | None

    @property
    def url(self) -> str:
        """URL of the page, including the token."""
        return f"http://{self.address}/#token={self.token}"

    @property
    def view_url(self) -> str:
        """URL of a view-only session."""
        return f"http://{self.address}/#token={self.view_token}"


async def announce(
    options: argparse.Namespace, running: Running, stop: asyncio.Event, shown: Mapping[str, str]
) -> None:
    """Wait until all programs are ready, and print their addresses."""
    with BackendClient(running.address, running.token) as client:
        await _ready(running, client)
        if running.collector is not None:
            await _report_privileges(client)
        if options.demo:
            await start_demo(client)
    if options.json:
        facts = {
            "url": running.url,
            "address": f"http://{running.address}",
            "token": running.token,
            "view_url": running.view_url,
            "spans_token": running.spans_token,
            "backend_pid": running.backend.pid,
            "collector_pid": running.collector and running.collector.pid,
            "ring_pid": running.ring and running.ring.pid,
        }
        print_lines(json.dumps(facts), flush=True)
    else:
        print_lines(f"tidscope is at {running.url}", flush=True)
        print_lines(f"view only: {running.view_url}", flush=True)
        if running.spans_token is not None:
            print_lines(*_how_to_send(options, running.spans_token), flush=True)
        if options.tell_hosts:
            print_lines(*how_to_add_hosts(options, running.address), flush=True)
        say("Ctrl-C stops it")
    wanted = options.open
    if wanted is None:
        wanted = sys.stdout.isatty() and has_display(shown, os.geteuid())
    with page_in_browser(running.url, wanted):
        await stop.wait()


def _how_to_send(options: argparse.Namespace, token: str) -> list[str]:
    """Return the environment variables of a program that sends spans here."""
    return [
        "programs with an OpenTelemetry SDK send their spans here with",
        f"  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:{options.otlp_http_port}/v1/traces",
        "  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf",
        f"  OTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=Bearer%20{token}",
        f"or, by gRPC, to http://127.0.0.1:{options.otlp_grpc_port}",
    ]


def how_to_add_hosts(options: argparse.Namespace, address: str) -> list[str]:
    """Return what to do on this machine and on another host, so that its collector connects.

    Args:
        options: those of `up`.
        address: host and port of the backend, as reachable from this machine.
    """
    name = socket.getfqdn()
    port = address.rpartition(":")[2]
    backend = f"wss://{name}" if options.host == DEFAULT_HOST else f"ws://{name}:{port}"
    lines = [
        "another host NAME is added by its secret, which this command prints here",
        "  tidscope hosts add NAME",
        "and is given there",
        f"  {COLLECTOR_VARIABLE}=SECRET tidscope collect --backend {backend}",
    ]
    if options.host == DEFAULT_HOST:
        lines.append("through a proxy on this machine that ends TLS (docs/installing.md)")
    return [*lines, 'all hosts answer to  tidscope query "describe roles"']


async def _ready(running: Running, client: BackendClient) -> None:
    """Wait for the backend, then for the collector.

    Raises:
        CommandError: a program does not become ready.
    """
    missing = "the backend did not answer"
    try:
        async with asyncio.timeout(READY_SECONDS):
            while True:
                with suppress(UnavailableError):
                    health = await _request(client, "/health", HealthResponse)
                    if running.collector is None or health.collectors:
                        return
                    missing = "the collector did not connect"
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise CommandError(f"{missing} within {READY_SECONDS:g} s; see its output above") from None
    except (RefusedError, UntrustedError) as error:
        raise CommandError(f"another program answers at {running.address}: {error}") from None


async def _report_privileges(client: BackendClient) -> None:
    with suppress(UnavailableError, RefusedError, UntrustedError):
        for host in (await _request(client, "/hosts", HostsResponse)).hosts:
            if not host.collector.privileged:
                say(f"the collector lacks privileges: {host.collector.reason}")


async def start_demo(client: BackendClient) -> None:
    try:
        demo = await _request(client, "/demo", DemoResponse, method="POST")
    except (UnavailableError, RefusedError, UntrustedError) as error:
        say(f"the demo did not start: {error}")
    else:
        say(f"the demo program has process id {demo.target.process.pid}")


async def _request(client: BackendClient, path: str, answer: type[M], method: str = "GET") -> M:
    return await asyncio.to_thread(client.request_model, path, answer, method)
