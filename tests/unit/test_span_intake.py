"""Requests with spans: read, bounded, stored."""

import asyncio
import json
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile_inputs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tidscope_backend.traces import batches
from tidscope_backend.traces.batches import (
    SCHEMA,
    SMALL_BYTES,
    Batch,
    read_batch,
    read_document,
    spans_of,
    table_of,
)
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.receiving import intake as module
from tidscope_backend.traces.receiving.intake import BOUNDS, FullError, Intake, Sender
from tidscope_backend.traces.receiving.protobuf import MAX_FIELDS, SHORT_BYTES, read_protobuf
from tidscope_backend.traces.receiving.receiver import Receiving
from tidscope_backend.traces.span_store import SpanStore
from tidscope_traces.spans.reading import BadTracesError, Bounds, TooManyError

MORE_BYTES = 192 * 1024 * 1024
"""Address space on top of the 16 MiB of a request and what the libraries have."""
SCRIPT = """
import resource, sys
import hostile_inputs
from tidscope_backend.traces.receiving.intake import BOUNDS
from tidscope_backend.traces.receiving.protobuf import read_protobuf_batch
from tidscope_traces.spans.reading import BadTracesError, TooManyError

data = hostile_inputs.PROTOBUF[sys.argv[1]]()
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[2]),) * 2)
try:
    print("read", len(read_protobuf_batch(data, BOUNDS).table) < 2000)
except BadTracesError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("kind", hostile_inputs.PROTOBUF)
def test_a_bomb_takes_no_more_memory_than_it_has_bytes(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, kind, str(MORE_BYTES)],
        capture_output=True,
        text=True,
        cwd=Path(hostile_inputs.__file__).parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("TooManyError", "BadTracesError", "read True")


@pytest.mark.parametrize("kind", ["spans", "resources", "scopes", "small-spans"])
def test_more_spans_than_the_bound_are_refused(kind: str) -> None:
    with pytest.raises(TooManyError, match="divide it"):
        read_protobuf(hostile_inputs.PROTOBUF[kind](), BOUNDS)


def test_what_resources_say_is_bounded_as_each_span_repeats_it() -> None:
    named = hostile_inputs.attribute(b"service.name", b"s" * 200)
    spans = hostile_inputs.field(2, hostile_inputs.SPAN)
    data = hostile_inputs.request(spans * 11, hostile_inputs.field(1, named))
    assert len(read_protobuf(data, Bounds(100, 2200)).spans) == 11
    with pytest.raises(TooManyError, match="counted once for each span"):
        read_protobuf(data, Bounds(100, 2199))
    document = {"spans": [JAEGER_SPAN] * 11, "processes": {"p": {"serviceName": "s" * 200}}}
    text = json.dumps({"data": [document]}).encode()
    assert len(read_document(text, Bounds(100, 2200)).spans) == 11
    with pytest.raises(TooManyError, match="counted once for each span"):
        read_document(text, Bounds(100, 2199))


JAEGER_SPAN = {
    "traceID": "1",
    "spanID": "2",
    "operationName": "n",
    "startTime": 1,
    "duration": 1,
    "processID": "p",
}

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LONG = st.integers(0, 2 * SHORT_BYTES).map(lambda size: "é" * size)


@st.composite
def requests(draw: st.DrawFn) -> ExportTraceServiceRequest:
    """Requests with short and long spans, events, links and values of each type."""
    made = ExportTraceServiceRequest()
    for _ in range(draw(st.integers(0, 2))):
        part = made.resource_spans.add()
        _set(part.resource.attributes.add(key="service.name").value, draw(TEXT))
        _set(part.resource.attributes.add(key="host.name").value, draw(TEXT | LONG))
        for _ in range(draw(st.integers(0, 2))):
            scope = part.scope_spans.add(schema_url=draw(TEXT))
            for number in range(draw(st.integers(0, 3))):
                span = scope.spans.add(trace_id=b"\1" * 16, span_id=bytes([number + 1] * 8))
                span.name, span.kind = draw(TEXT), draw(st.integers(0, 5))
                span.start_time_unix_nano = draw(st.integers(0, 100))
                span.end_time_unix_nano = draw(st.integers(0, 100))
                for key in draw(st.lists(TEXT, max_size=3)):
                    _set(span.attributes.add(key=key).value, draw(VALUES))
                for _ in range(draw(st.sampled_from([0, 1, 20_000]))):
                    span.events.add(name="x")
                span.links.add(trace_id=b"\3" * 16)
                span.status.code = draw(st.integers(0, 2))
    return made


VALUES = st.one_of(TEXT, LONG, st.booleans(), st.integers(-5, 5), st.floats(0, 1), st.binary())


def _set(value: Any, content: object) -> None:
    names = {str: "string_value", bool: "bool_value", int: "int_value", float: "double_value"}
    setattr(value, names.get(type(content), "bytes_value"), content)


@given(requests())
def test_spans_are_those_of_the_message(made: ExportTraceServiceRequest) -> None:
    read = read_protobuf(made.SerializeToString(), BOUNDS)
    spans = [span for part in made.resource_spans for sc in part.scope_spans for span in sc.spans]
    good = [one for one in spans if one.name and one.start_time_unix_nano <= one.end_time_unix_nano]
    # Spans with more fields than are looked at, and those with a mistake, are left out.
    good = [one for one in good if len(one.events) < MAX_FIELDS]
    assert read.rejected == len(spans) - len(good)
    for span, message in zip(read.spans, good, strict=True):
        assert (span.span_id, span.operation) == (message.span_id.hex(), message.name)
        assert span.end_ns == message.end_time_unix_nano
        for one in message.attributes:
            if one.value.WhichOneof("value") == "string_value" and one.key in span.attributes:
                assert any(
                    span.attributes[one.key] == other.value.string_value[:256]
                    for other in message.attributes
                    if other.key == one.key and other.value.WhichOneof("value") == "string_value"
                ) or any(
                    other.key == one.key and other.value.WhichOneof("value") != "string_value"
                    for other in message.attributes
                )


def test_a_resource_in_pieces_is_one_wherever_it_stands() -> None:
    named = hostile_inputs.field(1, hostile_inputs.attribute(b"service.name", b"shop"))
    where = hostile_inputs.field(1, hostile_inputs.attribute(b"host.name", b"h"))
    scope = hostile_inputs.field(2, hostile_inputs.field(2, hostile_inputs.SPAN))
    data = hostile_inputs.field(
        1, hostile_inputs.field(1, named) + scope + hostile_inputs.field(1, where)
    )
    (span,) = read_protobuf(data).spans
    assert (span.service, dict(span.attributes)) == ("shop", {"host.name": "h"})


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for content in (data, hostile_inputs.request(data), hostile_inputs.request(b"\x12" + data)):
        try:
            read_protobuf(content, BOUNDS)
        except BadTracesError:
            continue


@pytest.mark.parametrize("kind", hostile_inputs.JSON)
def test_a_bomb_of_json_is_refused_by_a_process_that_stays_small(kind: str) -> None:
    data = hostile_inputs.JSON[kind]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadTracesError):
        batch = read_batch(data, BOUNDS)
        assert len(batch.table) == 0
        raise BadTracesError("read: it has no span")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (after - before) * 1024 < 4 * len(data)


def document_of(spans: int) -> bytes:
    each = [{**JAEGER_SPAN, "spanID": f"{number + 1:x}"} for number in range(spans)]
    process = {"serviceName": "shop"}
    return json.dumps({"data": [{"spans": each, "processes": {"p": process}}]}).encode()


def test_a_large_document_is_read_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    data = document_of(5000)
    assert len(data) > SMALL_BYTES
    expected = table_of(read_document(data).spans)
    # A parser in this process would hold the interpreter's lock.
    monkeypatch.setattr(batches, "read_document", None)
    batch = read_batch(data, BOUNDS)
    assert spans_of(batch.table) == spans_of(expected)
    assert batch.rejected == 0


def test_a_process_that_uses_up_its_memory_refuses_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "BYTES_PER_BYTE", 1)
    with pytest.raises(TooManyError, match="more memory than it may use"):
        read_batch(b"[" + hostile_inputs.EMPTY_JSON + b"]", BOUNDS)


def test_a_process_that_uses_up_its_time_refuses_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "BASE_SECONDS", 0)
    monkeypatch.setattr(batches, "SECONDS_PER_MIB", 0)
    with pytest.raises(TooManyError, match="takes more than"):
        read_batch(document_of(5000), BOUNDS)


ALICE, BOB, CAROL = (Sender(f"user id {uid}", 40_000) for uid in (1000, 1001, 1002))
OTHER_OF_ALICE = ALICE._replace(port=40_001)


class Held:
    """A reader that waits until it is let go, and says which requests it has begun."""

    def __init__(self) -> None:
        self.begun: list[bytes] = []
        self.started = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, data: bytes, _bounds: Bounds) -> Batch:
        self.begun.append(data)
        self.started.set()
        assert self.let_go.wait(60)
        return read(data, _bounds)


def read(_data: bytes, _bounds: Bounds) -> Batch:
    return Batch(SCHEMA.empty_table(), 0, ())


@pytest.fixture
def intake(tmp_path: Path) -> Iterator[Intake]:
    store = SpanStore(lambda: tmp_path, tmp_path, SpanRetention(None, None), lambda: 0.0)
    made = Intake(store, Receiving(), lambda _names: None)
    yield made
    made.close()


async def send(intake: Intake, sender: Sender, read: module.Read, data: bytes = b"x") -> Batch:
    with intake.room(sender) as room:
        room.grow(len(data))
        return await intake.take(room, data, read)


async def test_a_user_whose_request_takes_long_keeps_no_other_waiting(intake: Intake) -> None:
    held = Held()
    slow = [asyncio.create_task(send(intake, ALICE, held)) for _ in range(3)]
    slow.append(asyncio.create_task(send(intake, OTHER_OF_ALICE, held)))
    assert await asyncio.to_thread(held.started.wait, 60)
    for _ in range(3):
        await send(intake, BOB, read)
    await send(intake, CAROL, read)
    assert len(held.begun) == 1
    held.let_go.set()
    await asyncio.gather(*slow)
    assert len(held.begun) == 4


async def test_connections_of_a_user_take_turns(intake: Intake) -> None:
    held = Held()
    tasks = [
        asyncio.create_task(send(intake, sender, held, data))
        for sender, data in [
            *((ALICE, b"first"), (ALICE, b"second"), (ALICE, b"third")),
            (OTHER_OF_ALICE, b"other"),
        ]
    ]
    assert await asyncio.to_thread(held.started.wait, 60)
    held.let_go.set()
    await asyncio.gather(*tasks)
    assert held.begun.index(b"other") == 1


async def test_one_user_leaves_room_for_the_next_one(
    intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_BYTES", 100)
    with intake.room(ALICE) as mine, intake.room(BOB) as his, intake.room(CAROL) as hers:
        mine.grow(50)
        with pytest.raises(FullError):
            mine.grow(1)
        his.grow(25)
        with pytest.raises(FullError):
            his.grow(1)
        hers.grow(12)
    with intake.room(ALICE) as mine:
        mine.grow(50)


async def test_requests_of_one_user_leave_room_for_those_of_the_next_one(
    intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 4)
    with intake.room(ALICE), intake.room(ALICE):
        with pytest.raises(FullError), intake.room(ALICE):
            pass
        with intake.room(BOB):
            pass
