"""Spans that SDKs send by OTLP/HTTP and OTLP/gRPC: stored, or refused so that they come again."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from backend_server import Backend, running_backend
from google.protobuf.json_format import MessageToDict
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from tidscope_backend.settings import SpanPorts
from tidscope_backend.traces.receiving import intake
from tidscope_backend.traces.receiving.intake import MAX_REQUEST_BYTES
from tidscope_wire.generated.models import TraceDetail, TraceEndpoints, TraceList, TracesReceived

TOKEN = "token-of-senders-of-spans"
BEARER = {"authorization": f"Bearer {TOKEN}"}
PROTOBUF = {**BEARER, "content-type": "application/x-protobuf"}
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    async with (
        asyncio.timeout(120),
        running_backend(
            runs_dir=tmp_path / "runs", spans_token=TOKEN, span_ports=SpanPorts(0, 0)
        ) as running,
    ):
        yield running


async def received(backend: Backend) -> TracesReceived:
    async with backend.program() as client:
        answer = await client.get("/api/v1/traces/endpoints")
    return TraceEndpoints.model_validate_json(answer.content).received


async def http_address(backend: Backend) -> str:
    return f"http://127.0.0.1:{(await received(backend)).http_port}/v1/traces"


async def grpc_address(backend: Backend) -> str:
    return f"127.0.0.1:{(await received(backend)).grpc_port}"


def message(spans: int = 1, *, trace: bytes = b"\x01" * 16, size: int = 0) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number in range(spans):
        span = scope.spans.add()
        span.trace_id, span.span_id = trace, (number + 1).to_bytes(8, "big")
        span.name = "x" * max(1, size)
        span.start_time_unix_nano, span.end_time_unix_nano = 10, 20
    encoded: bytes = request.SerializeToString()
    return encoded


def send_with_sdk(exporter: SpanExporter) -> None:
    resource = Resource.create({"service.name": "shop", "process.pid": 4711})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("GET /cart") as span:
        span.set_attribute("thread.id", 4712)
        span.set_attribute("sizes", [1, 2])
        with tracer.start_as_current_span("query"):
            pass
    provider.shutdown()


@pytest.mark.parametrize("kind", ["http", "http-gzip", "grpc", "grpc-gzip"])
async def test_what_the_python_sdk_sends_is_stored(backend: Backend, kind: str) -> None:
    if kind.startswith("http"):
        from opentelemetry.exporter.otlp.proto.http import Compression

        packed = Compression.Gzip if kind.endswith("gzip") else Compression.NoCompression
        exporter: SpanExporter = HttpExporter(
            await http_address(backend), headers=BEARER, compression=packed
        )
    else:
        squeezed = (
            grpc.Compression.Gzip if kind.endswith("gzip") else grpc.Compression.NoCompression
        )
        exporter = GrpcExporter(
            await grpc_address(backend),
            insecure=True,
            headers=tuple(BEARER.items()),
            compression=squeezed,
        )
    await asyncio.to_thread(send_with_sdk, exporter)
    async with backend.program() as client:
        answer = await client.get("/api/v1/traces", params={"service": "shop"})
        (trace,) = TraceList.model_validate_json(answer.content).traces
        assert (trace.operation, trace.spans) == ("GET /cart", 2)
        answer = await client.get(f"/api/v1/traces/{trace.trace_id}")
    detail = TraceDetail.model_validate_json(answer.content)
    root = detail.spans[0]
    assert (root.pid, root.thread_id) == (4711, 4712)
    assert json.loads(root.attributes["sizes"].replace("'", '"')) == {
        "values": [{"intValue": "1"}, {"intValue": "2"}]
    }
    assert [one.note for one in detail.threads] == [
        "process 4711 was neither attached nor recorded at that time"
    ] * 2


async def test_json_and_what_is_rejected_of_it(backend: Backend) -> None:
    request = ExportTraceServiceRequest()
    request.ParseFromString(message(2))
    body = MessageToDict(request)
    spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for number, span in enumerate(spans):
        span.update(traceId="ab" * 16, spanId=f"{number + 1:016x}")
    spans[1]["endTimeUnixNano"] = "5"
    async with httpx.AsyncClient() as client:
        answer = await client.post(await http_address(backend), json=body, headers=BEARER)
    assert answer.status_code == 200
    partial = answer.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert "want 0 <= start <= end" in partial["errorMessage"]
    counts = await received(backend)
    assert (counts.spans, counts.rejected) == (1, 1)


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"content-type": "application/x-protobuf"}, message(), 401),
        ({**PROTOBUF, "authorization": "Bearer another-token"}, message(), 401),
        ({**PROTOBUF, "authorization": f"Basic {TOKEN}"}, message(), 401),
        ({**BEARER, "content-type": "text/plain"}, message(), 415),
        ({**PROTOBUF, "content-encoding": "zstd"}, message(), 415),
        ({**PROTOBUF, "content-encoding": "gzip"}, message(), 400),
        ({**PROTOBUF, "content-encoding": "gzip"}, gzip.compress(message())[:-9], 400),
        (PROTOBUF, b"\xff\xff\xff", 400),
        ({**BEARER, "content-type": "application/json"}, b"{}", 400),
        ({**PROTOBUF, "content-encoding": "gzip"}, gzip.compress(bytes(1 << 26)), 413),
        (PROTOBUF, bytes(MAX_REQUEST_BYTES + 1), 413),
    ],
)
async def test_what_is_refused_over_http(
    backend: Backend, headers: dict[str, str], body: bytes, status: int
) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.post(await http_address(backend), content=body, headers=headers)
    assert answer.status_code == status
    if headers["content-type"] == "application/json":
        assert answer.json()["message"]
    else:
        refused = Status()
        refused.ParseFromString(answer.content)
        assert refused.message
    assert "retry-after" not in answer.headers
    assert (await received(backend)).spans == 0


async def call(backend: Backend, body: bytes, **options: Any) -> ExportTraceServiceResponse:
    async with grpc.aio.insecure_channel(await grpc_address(backend)) as channel:
        export = channel.unary_unary(
            EXPORT, response_deserializer=ExportTraceServiceResponse.FromString
        )
        metadata = options.pop("metadata", tuple(BEARER.items()))
        answer: ExportTraceServiceResponse = await export(body, metadata=metadata, **options)
        return answer


@pytest.mark.parametrize(
    ("body", "options", "code"),
    [
        (message(), {"metadata": ()}, "UNAUTHENTICATED"),
        (message(), {"metadata": (("authorization", "Bearer x"),)}, "UNAUTHENTICATED"),
        (bytes(MAX_REQUEST_BYTES + 1), {"metadata": ()}, "UNAUTHENTICATED"),
        (b"\xff\xff\xff", {}, "INVALID_ARGUMENT"),
        (bytes(MAX_REQUEST_BYTES + 1), {}, "RESOURCE_EXHAUSTED"),
        (bytes(1 << 26), {"compression": grpc.Compression.Gzip}, "RESOURCE_EXHAUSTED"),
    ],
)
async def test_what_is_refused_over_grpc(
    backend: Backend, body: bytes, options: dict[str, Any], code: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call(backend, body, **options)
    assert refused.value.code().name == code
    assert (await received(backend)).spans == 0


async def test_who_shows_no_token_is_refused_before_a_message_comes(backend: Backend) -> None:
    async def never() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    async with grpc.aio.insecure_channel(await grpc_address(backend)) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await channel.stream_unary(EXPORT)(never())
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_partial_success_over_grpc(backend: Backend) -> None:
    answer = await call(backend, message(2, trace=bytes(16)))
    assert answer.partial_success.rejected_spans == 2
    assert "id" in answer.partial_success.error_message


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    monkeypatch.setattr(intake, "MAX_WAITING", 0)
    yield lambda: monkeypatch.setattr(intake, "MAX_WAITING", 256)


async def test_a_full_queue_asks_to_come_again_and_counts_it(
    backend: Backend, full: Callable[[], None]
) -> None:
    async with httpx.AsyncClient() as client:
        where = await http_address(backend)
        answer = await client.post(where, content=message(), headers=PROTOBUF)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call(backend, message())
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        trailing = dict(refused.value.trailing_metadata() or ())
        details = Status()
        details.ParseFromString(trailing["grpc-status-details-bin"])
        retry = RetryInfo()
        assert details.details[0].Unpack(retry)
        assert retry.retry_delay.seconds == 1
        full()
        answer = await client.post(where, content=message(), headers=PROTOBUF)
        assert answer.status_code == 200
    counts = await received(backend)
    assert (counts.spans, counts.refused) == (1, 2)


async def test_without_the_option_nothing_is_received(tmp_path: Path) -> None:
    async with running_backend(runs_dir=tmp_path) as backend:
        counts = await received(backend)
    assert (counts.http_port, counts.grpc_port) == (None, None)


async def test_a_disk_that_takes_nothing_asks_to_come_again(tmp_path: Path) -> None:
    """A file stands where the folder of spans would be."""
    (tmp_path / ".traces").write_text("")
    async with running_backend(
        runs_dir=tmp_path, spans_token=TOKEN, span_ports=SpanPorts(0, 0)
    ) as backend:
        async with httpx.AsyncClient() as client:
            where = await http_address(backend)
            answer = await client.post(where, content=message(3), headers=PROTOBUF)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call(backend, message())
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert (await received(backend)).dropped == 4
