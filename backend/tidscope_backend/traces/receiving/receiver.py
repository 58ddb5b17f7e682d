"""The receiver of OTLP over HTTP, and both receivers together: they start and end with the backend.

HTTP answers follow OTLP/HTTP: 200 with rejections, 400 for malformed requests, 413 for oversized
ones, 429 and 503 with Retry-After for requests to be retried.
"""

import asyncio
import logging
import socket
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import uvicorn
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from tidscope_traces.spans.reading import BadTracesError, TooManyError
from tidscope_wire.problems import ProblemError

from tidscope_backend.connections.connection import PeerLookup, Waits
from tidscope_backend.connections.protocols import HttpProtocol
from tidscope_backend.connections.server import Server
from tidscope_backend.connections.table import ConnectionLimits, Connections
from tidscope_backend.listen_socket import SocketError, open_socket
from tidscope_backend.settings import SpanPorts
from tidscope_backend.traces.batches import read_batch
from tidscope_backend.traces.receiving.intake import (
    MAX_REQUEST_BYTES,
    RETRY_SECONDS,
    FullError,
    Intake,
    Read,
    Room,
    is_sender,
    rejection_text,
    sender_of,
)
from tidscope_backend.traces.receiving.protobuf import read_protobuf_batch
from tidscope_backend.traces.span_store import SpanStore
from tidscope_backend.traces.thread_names import NamedThread

PATH = "/v1/traces"
PROTOBUF, JSON = "application/x-protobuf", "application/json"
READERS: dict[str, Read] = {PROTOBUF: read_protobuf_batch, JSON: read_batch}
PIECE_BYTES = 256 * 1024
"""Bytes of a body unpacked at a time; the event loop runs between two pieces."""


class _RefusalError(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, text: str, *, again: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.again = again


class _Kind(NamedTuple):
    """Media type of a request and of its answer."""

    media_type: str

    def answer(self, message: Message, status: int = 200, *, again: bool = False) -> Response:
        is_json = self.media_type == JSON
        content = MessageToJson(message, indent=None) if is_json else message.SerializeToString()
        headers = {"Retry-After": str(RETRY_SECONDS)} if again else {}
        return Response(content, status, headers, self.media_type)


def make_app(intake: Intake, token: str, lookup: PeerLookup) -> Starlette:
    """Make the app.

    Args:
        intake: takes the bodies.
        token: bearer token of senders.
        lookup: finds the sender of a connection.
    """

    async def export(request: Request) -> Response:
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        kind = _Kind(media_type if media_type in READERS else PROTOBUF)
        try:
            if not is_sender(request.headers.get("authorization"), token):
                raise _RefusalError(401, "show the token as `authorization: Bearer TOKEN`")
            if media_type not in READERS:
                raise _RefusalError(415, f"send {PROTOBUF} or {JSON}, not {media_type[:80]!r}")
            client, server = request.scope["client"], request.scope["server"]
            with intake.room(sender_of(lookup, tuple(client), tuple(server))) as room:
                body = await _body(request, room)
                read = await intake.take(room, body, READERS[media_type])
        except _RefusalError as refused:
            status = Status(message=str(refused))
            return kind.answer(status, refused.status, again=refused.again)
        except FullError:
            return kind.answer(Status(message="too many spans wait already"), 429, again=True)
        except BadTracesError as error:
            status = Status(message=str(error))
            return kind.answer(status, 413 if isinstance(error, TooManyError) else 400)
        except ProblemError as error:
            return kind.answer(Status(message=error.problem.detail), 503, again=True)
        except ClientDisconnect:
            return Response(status_code=400)
        answer = ExportTraceServiceResponse()
        if read.rejected:
            answer.partial_success.rejected_spans = read.rejected
            answer.partial_success.error_message = rejection_text(read)
        return kind.answer(answer)

    return Starlette(routes=[Route(PATH, export, methods=["POST"])])


async def _body(request: Request, room: Room) -> bytes:
    """Return the unpacked body, reserving room as it grows. Both forms are bounded."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        raise _RefusalError(415, f"content encoding {encoding[:80]!r}: send gzip or none")
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS) if encoding == "gzip" else None
    parts: list[bytes] = []
    received = 0
    async for chunk in request.stream():
        received += len(chunk)
        if unpack is None:
            _keep(chunk, parts, room)
        left = chunk
        while unpack is not None and left:
            try:
                part = unpack.decompress(left, PIECE_BYTES)
            except zlib.error as error:
                raise _RefusalError(400, f"the body is not gzip: {error}") from None
            _keep(part, parts, room)
            left = unpack.unconsumed_tail
            await asyncio.sleep(0)
        if received > MAX_REQUEST_BYTES:
            raise _too_large()
    if unpack is not None and not unpack.eof:
        raise _RefusalError(400, "the compressed body ends too early")
    return b"".join(parts)


def _keep(part: bytes, parts: list[bytes], room: Room) -> None:
    if room.size + len(part) > MAX_REQUEST_BYTES:
        raise _too_large()
    room.grow(len(part))
    parts.append(part)


def _too_large() -> _RefusalError:
    return _RefusalError(413, f"a request has at most {MAX_REQUEST_BYTES} bytes, unpacked too")


MAX_CONNECTIONS = 256
EACH = 128
"""Maximum connections of one peer; programs keep connections open."""


class _InnerServer(Server):
    """A server beside the main one, which handles the signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


@asynccontextmanager
async def serving(app: ASGIApp, sock: socket.socket | None) -> AsyncIterator[None]:
    """Serve an app within this context, or no app for None."""
    if sock is None:
        yield
        return
    waits = Waits()
    limits = ConnectionLimits(MAX_CONNECTIONS, EACH, MAX_CONNECTIONS, EACH)
    config = uvicorn.Config(
        app,
        http=HttpProtocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        access_log=False,
        proxy_headers=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _InnerServer(config, Connections(limits, waits, time.monotonic), waits.check)
    task = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        yield
    finally:
        server.should_exit = True
        await task
        sock.close()


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
    store: SpanStore,
    token: str,
    ports: SpanPorts | None,
    state: Receiving,
    note: Callable[[Sequence[NamedThread]], None],
) -> AsyncIterator[None]:
    """Receive spans within this context.

    Args:
        store: store of spans.
        token: bearer token of senders.
        ports: ports of the receivers; None to disable.
        state: state of the receivers, updated here.
        note: takes the threads that spans name.
    """
    if ports is None:
        yield
        return
    from tidscope_backend.traces.receiving.grpc_receiver import GrpcReceiver
    from tidscope_backend.traces.receiving.intake import Intake
    from tidscope_backend.traces.receiving.receiver import make_app, serving

    intake = Intake(store, state, note)
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
