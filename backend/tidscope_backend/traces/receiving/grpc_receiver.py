"""OTLP over gRPC: opentelemetry.proto.collector.trace.v1.TraceService/Export."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from tidscope_traces.spans.reading import BadTracesError, TooManyError
from tidscope_wire.problems import ProblemError

from tidscope_backend.connections.connection import PeerLookup
from tidscope_backend.traces.receiving.intake import (
    MAX_REQUEST_BYTES,
    RETRY_SECONDS,
    Address,
    FullError,
    Intake,
    Sender,
    is_sender,
    rejection_text,
    sender_of,
)
from tidscope_backend.traces.receiving.protobuf import read_protobuf_batch

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
MAX_CALLS = 64
"""Maximum concurrent calls; further calls are refused with RESOURCE_EXHAUSTED."""
MAX_STREAMS = 32
"""Maximum concurrent calls per connection."""
Export = Callable[[bytes, Any], Awaitable[ExportTraceServiceResponse]]


class _SendersOnly:
    """A grpc.GenericRpcHandler that checks the token before the message is read."""

    def __init__(self, token: str, export: Export) -> None:
        self._token = token
        self._export = grpc.unary_unary_rpc_method_handler(
            export, response_serializer=ExportTraceServiceResponse.SerializeToString
        )
        # A unary handler runs only after the message has arrived; a stream handler runs
        # immediately.
        self._refuse = grpc.stream_unary_rpc_method_handler(_refuse)

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        """Return the handler of a call, or None for an unknown method."""
        if details.method != EXPORT:
            return None
        shown = dict(details.invocation_metadata or ()).get("authorization")
        sends = is_sender(shown if isinstance(shown, str) else None, self._token)
        return self._export if sends else self._refuse


async def _refuse(
    _messages: AsyncIterator[bytes], context: "grpc.aio.ServicerContext[bytes, bytes]"
) -> bytes:
    await context.abort(
        grpc.StatusCode.UNAUTHENTICATED, "show the token as `authorization: Bearer TOKEN`"
    )
    return b""


class GrpcReceiver:
    """The gRPC server; it listens after `start`.

    Args:
        intake: takes the messages.
        token: bearer token of senders.
        lookup: finds the sender of a connection.
        address: host and port; port 0 lets the kernel choose.
    """

    def __init__(self, intake: Intake, token: str, lookup: PeerLookup, address: Address) -> None:
        self._intake = intake
        self._token = token
        self._lookup = lookup
        self._address = address
        self._server: grpc.aio.Server | None = None

    async def start(self) -> int:
        """Listen and return the port. Raises OSError if the port is in use."""
        server = grpc.aio.server(
            maximum_concurrent_rpcs=MAX_CALLS,
            options=[
                ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
                ("grpc.max_concurrent_streams", MAX_STREAMS),
                ("grpc.so_reuseport", 0),
            ],
        )
        server.add_generic_rpc_handlers((_SendersOnly(self._token, self._answer),))
        host = self._address[0]
        address = f"{host}:{self._address[1]}"
        try:
            port: int = server.add_insecure_port(address)
        except RuntimeError as error:
            raise OSError(f"cannot listen on {address}: {error}") from None
        await server.start()
        self._server = server
        self._address = (host, port)
        return port

    async def stop(self) -> None:
        """Finish running calls and stop."""
        if self._server is not None:
            await self._server.stop(grace=1.0)

    def _sender(self, peer: str) -> Sender:
        """Return the sender for gRPC's peer name, such as `ipv4:127.0.0.1:4711`."""
        host, _, port = peer.partition(":")[2].rpartition(":")
        client = (host, int(port) if port.isdecimal() else 0)
        return sender_of(self._lookup, client, self._address)

    async def _answer(
        self, data: bytes, context: "grpc.aio.ServicerContext[bytes, ExportTraceServiceResponse]"
    ) -> ExportTraceServiceResponse:
        try:
            with self._intake.room(self._sender(context.peer())) as room:
                room.grow(len(data))
                read = await self._intake.take(room, data, read_protobuf_batch)
        except FullError:
            await _abort_for_now(
                context, grpc.StatusCode.RESOURCE_EXHAUSTED, "too many spans wait already"
            )
        except TooManyError as error:
            # Without RetryInfo: the same request is never accepted.
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
        except BadTracesError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except ProblemError as error:
            await _abort_for_now(context, grpc.StatusCode.UNAVAILABLE, error.problem.detail)
        answer = ExportTraceServiceResponse()
        if read.rejected:
            answer.partial_success.rejected_spans = read.rejected
            answer.partial_success.error_message = rejection_text(read)
        return answer


async def _abort_for_now(
    context: "grpc.aio.ServicerContext[bytes, ExportTraceServiceResponse]",
    code: grpc.StatusCode,
    text: str,
) -> None:
    """Refuse with a retry delay (google.rpc.RetryInfo)."""
    retry = RetryInfo(retry_delay=Duration(seconds=RETRY_SECONDS))
    packed = AnyMessage()
    packed.Pack(retry)
    status = Status(code=code.value[0], message=text, details=[packed])
    trailing = (
        ("grpc-status-details-bin", status.SerializeToString()),
        ("google.rpc.retryinfo-bin", retry.SerializeToString()),
    )
    await context.abort(code, text, trailing)
