"""Both receivers; they start and end with the backend."""

import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidscope_backend.connections.connection import PeerLookup
from tidscope_backend.listen_socket import SocketError, open_socket
from tidscope_backend.settings import SpanPorts
from tidscope_backend.traces.span_store import SpanStore

if TYPE_CHECKING:
    from tidscope_backend.traces.receiving.grpc_receiver import GrpcReceiver

HOST = "127.0.0.1"
"""Spans arrive unencrypted: remote hosts need a tunnel or a local OpenTelemetry Collector."""
_log = logging.getLogger(__name__)


@dataclass
class Receiving:
    """State of the receivers.

    Attributes:
        http_port: port of OTLP/HTTP; None if disabled.
        grpc_port: port of OTLP/gRPC; None if disabled.
        refused: requests refused with a retry.
    """

    http_port: int | None = None
    grpc_port: int | None = None
    refused: int = 0


@asynccontextmanager
async def receiving(
    store: SpanStore, token: str, ports: SpanPorts | None, state: Receiving
) -> AsyncIterator[None]:
    """Receive spans within this context.

    Args:
        store: store of spans.
        token: bearer token of senders.
        ports: ports of the receivers; None to disable.
        state: state of the receivers, updated here.
    """
    if ports is None:
        yield
        return
    from tidscope_backend.traces.receiving.grpc_receiver import GrpcReceiver
    from tidscope_backend.traces.receiving.http_receiver import make_app, serving
    from tidscope_backend.traces.receiving.intake import Intake

    intake = Intake(store, state)
    lookup = PeerLookup()
    grpc_server = GrpcReceiver(intake, token, lookup, (HOST, ports.grpc))
    try:
        state.grpc_port = await _port_of(grpc_server)
        sock = _socket(ports.http)
        state.http_port = None if sock is None else sock.getsockname()[1]
        async with serving(make_app(intake, token, lookup), sock):
            _log.info(
                "spans are received at %s, ports %s (HTTP) and %s (gRPC)",
                HOST,
                state.http_port,
                state.grpc_port,
            )
            yield
    finally:
        state.http_port = state.grpc_port = None
        await grpc_server.stop()
        intake.close()
        lookup.close()


async def _port_of(server: "GrpcReceiver") -> int | None:
    try:
        return await server.start()
    except OSError as error:
        _log.error("no spans over gRPC: %s", error)
        return None


def _socket(port: int) -> socket.socket | None:
    try:
        return open_socket(HOST, port)
    except SocketError as error:
        _log.error("no spans over HTTP: %s", error)
        return None
