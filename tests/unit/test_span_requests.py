"""Spans of OTLP's protobuf: read as the library reads them, within bounds on what they become."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import hostile_inputs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tidscope_backend.traces import batches
from tidscope_backend.traces.batches import (
    SMALL_BYTES,
    read_batch,
    read_document,
    spans_of,
    table_of,
)
from tidscope_backend.traces.receiving.intake import BOUNDS
from tidscope_backend.traces.receiving.protobuf import MAX_FIELDS, SHORT_BYTES, read_protobuf
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
