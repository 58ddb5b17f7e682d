"""Spans that SDKs send by OTLP/HTTP and OTLP/gRPC: stored, or refused so that they come again."""

import asyncio
import gzip
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import hostile_inputs
import httpx
import pytest
import pytest_asyncio
from backend_server import Backend, running_backend
from fake_collector import PLAIN
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
from tidscope_backend.traces import batches
from tidscope_backend.traces.receiving import intake, receiver
from tidscope_backend.traces.receiving.intake import MAX_REQUEST_BYTES, Sender
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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def refusing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Backend]:
    """A backend for requests that are all refused."""
    runs = tmp_path_factory.mktemp("runs")
    async with running_backend(
        runs_dir=runs, spans_token=TOKEN, span_ports=SpanPorts(0, 0)
    ) as running:
        yield running


async def received(backend: Backend) -> TracesReceived:
    async with backend.program() as client:
        answer = await client.get("/api/v1/traces/endpoints")
    return TraceEndpoints.model_validate_json(answer.content).received


async def counted(backend: Backend) -> AsyncIterator[TracesReceived]:
    """The counts, again and again."""
    while True:
        yield await received(backend)


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
    async with httpx.AsyncClient(verify=PLAIN) as client:
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
@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_refused_over_http(
    refusing: Backend, headers: dict[str, str], body: bytes, status: int
) -> None:
    async with httpx.AsyncClient(verify=PLAIN) as client:
        answer = await client.post(await http_address(refusing), content=body, headers=headers)
    assert answer.status_code == status
    if headers["content-type"] == "application/json":
        assert answer.json()["message"]
    else:
        refused = Status()
        refused.ParseFromString(answer.content)
        assert refused.message
    assert "retry-after" not in answer.headers
    assert (await received(refusing)).spans == 0


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
@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_refused_over_grpc(
    refusing: Backend, body: bytes, options: dict[str, Any], code: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await call(refusing, body, **options)
    assert refused.value.code().name == code
    assert (await received(refusing)).spans == 0


@pytest.mark.parametrize("kind", ["spans", "resources", "scopes", "small-spans"])
async def test_kilobytes_that_become_millions_of_spans_are_refused(
    backend: Backend, kind: str
) -> None:
    body = hostile_inputs.PROTOBUF[kind]()
    packed = gzip.compress(body, 9)
    assert len(packed) < 150_000
    async with httpx.AsyncClient(timeout=120, verify=PLAIN) as client:
        headers = {**PROTOBUF, "content-encoding": "gzip"}
        answer = await client.post(await http_address(backend), content=packed, headers=headers)
    assert (answer.status_code, "retry-after" in answer.headers) == (413, False)
    refused = Status()
    refused.ParseFromString(answer.content)
    assert "divide it" in refused.message
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call(backend, body, compression=grpc.Compression.Gzip)
    assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    # Without RetryInfo the refusal is final.
    assert "grpc-status-details-bin" not in dict(error.value.trailing_metadata() or ())
    assert (await received(backend)).spans == 0


@pytest.mark.parametrize("kind", ["objects", "spans", "depth"])
async def test_kilobytes_of_json_that_become_millions_of_objects_are_refused(
    backend: Backend, kind: str
) -> None:
    packed = gzip.compress(hostile_inputs.JSON[kind](), 9)
    async with httpx.AsyncClient(timeout=120, verify=PLAIN) as client:
        headers = {**BEARER, "content-type": "application/json", "content-encoding": "gzip"}
        answer = await client.post(await http_address(backend), content=packed, headers=headers)
    assert answer.status_code in (400, 413)
    assert answer.json()["message"]


async def test_health_and_other_users_are_answered_while_a_hostile_request_is_read(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The process that reads it is stopped until the others have their answers."""
    pid_file = tmp_path / "pid"
    monkeypatch.setattr(
        batches,
        "bound_to_parent",
        lambda command: [
            *("sh", "-c", 'echo $$ >"$0.new"; mv "$0.new" "$0"; kill -STOP $$; exec "$@"'),
            *(str(pid_file), *command),
        ],
    )
    where = await http_address(backend)
    json_headers = {**BEARER, "content-type": "application/json"}
    async with httpx.AsyncClient(timeout=120, verify=PLAIN) as client:
        body = hostile_inputs.JSON["spans"]()
        hostile = asyncio.create_task(client.post(where, content=body, headers=json_headers))
        while not pid_file.exists():
            assert not hostile.done()
            await asyncio.sleep(0.01)
        try:
            async with backend.program() as program:
                assert (await program.get("/api/v1/health")).status_code == 200
            # The sender of the other request is the peer of this one as well.
            monkeypatch.setattr(receiver, "sender_of", lambda *_: Sender("another user", 1))
            answer = await client.post(where, content=message(), headers=PROTOBUF)
            assert answer.status_code == 200
            assert not hostile.done()
        finally:
            os.kill(int(pid_file.read_text()), signal.SIGCONT)
        assert (await hostile).status_code == 413
    assert (await received(backend)).spans == 1


async def test_bodies_that_unpack_to_much_take_no_more_room_than_there_is(
    backend: Backend,
) -> None:
    """Each request stays unfinished with 16 MiB in memory, so half of the room is refused."""
    packed = gzip.compress(bytes(MAX_REQUEST_BYTES), 9)

    async def unfinished(let_go: asyncio.Event) -> AsyncIterator[bytes]:
        yield packed[:-1]
        await let_go.wait()
        yield packed[-1:]

    headers = {**PROTOBUF, "content-encoding": "gzip"}
    where, let_go = await http_address(backend), asyncio.Event()
    async with httpx.AsyncClient(timeout=120, verify=PLAIN) as client:
        tasks = [
            asyncio.create_task(client.post(where, content=unfinished(let_go), headers=headers))
            for _ in range(4)
        ]
        async with asyncio.timeout(60):
            async for counts in counted(backend):
                if counts.refused == 2:
                    break
        let_go.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
    # A connection may end before its client has read that it is refused.
    taken = [one for one in answers if isinstance(one, httpx.Response) and one.status_code == 413]
    assert len(taken) == 2
    assert (await received(backend)).refused == 2


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
    async with httpx.AsyncClient(verify=PLAIN) as client:
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
        async with httpx.AsyncClient(verify=PLAIN) as client:
            where = await http_address(backend)
            answer = await client.post(where, content=message(3), headers=PROTOBUF)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call(backend, message())
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert (await received(backend)).dropped == 4
