"""Readers of Jaeger's and OTLP's documents: what they take, and what they reject."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_traces.spans.jaeger import read_jaeger
from tidscope_traces.spans.model import Span, group_spans
from tidscope_traces.spans.otlp import read_otlp
from tidscope_traces.spans.reading import LONGEST_NAME, MAX_ATTRIBUTES, BadTracesError
from trace_builders import any_spans, jaeger_document, made_span, made_trace

JAEGER: dict[str, Any] = {
    "data": [
        {
            "traceID": "1a",
            "spans": [
                {
                    "traceID": "1A",
                    "spanID": "b",
                    "operationName": "GET /dispatch",
                    "references": [],
                    "startTime": 1_700_000_000_000_001,
                    "duration": 250,
                    "tags": [
                        {"key": "span.kind", "type": "string", "value": "server"},
                        {"key": "http.status_code", "type": "int64", "value": 404},
                        {"key": "thread.id", "type": "int64", "value": 77},
                        {"key": "sampled", "type": "bool", "value": True},
                    ],
                    "processID": "p1",
                },
                {
                    "traceID": "1a",
                    "spanID": "c",
                    "operationName": "call",
                    "references": [
                        {"refType": "FOLLOWS_FROM", "traceID": "ff", "spanID": "1"},
                        {"refType": "FOLLOWS_FROM", "traceID": "1a", "spanID": "b"},
                    ],
                    "startTime": 1_700_000_000_000_002,
                    "duration": 3,
                    "tags": [
                        {"key": "span.kind", "value": "client"},
                        {"key": "http.status_code", "value": 404},
                    ],
                    "processID": "p1",
                },
            ],
            "processes": {
                "p1": {
                    "serviceName": "frontend",
                    "tags": [{"key": "process.pid", "type": "int64", "value": 4321}],
                }
            },
        }
    ]
}

OTLP: dict[str, Any] = {
    "resourceSpans": [
        {
            "resource": {
                "attributes": [
                    {"key": "service.name", "value": {"stringValue": "frontend"}},
                    {"key": "process.pid", "value": {"intValue": "4321"}},
                    {"key": "host.name", "value": {"stringValue": "bench"}},
                    {"key": "service.version", "value": {"stringValue": "1.2"}},
                    {"key": "process.command", "value": {"stringValue": "hidden"}},
                ]
            },
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "5B8EFFF798038103D269B633813FC60C",
                            "spanId": "EEE19B7EC3C1B174",
                            "parentSpanId": "EEE19B7EC3C1B173",
                            "name": "I'm a server span",
                            "startTimeUnixNano": "1544712660000000000",
                            "endTimeUnixNano": "1544712661000000000",
                            "kind": 2,
                            "attributes": [
                                {"key": "my.span.attr", "value": {"stringValue": "some value"}},
                                {"key": "thread.id", "value": {"intValue": "77"}},
                                {"key": "ratio", "value": {"doubleValue": 0.5}},
                                {"key": "odd"},
                            ],
                            "status": {"code": "STATUS_CODE_ERROR"},
                        }
                    ]
                }
            ],
        }
    ]
}


def test_jaeger() -> None:
    read = read_jaeger(JAEGER)
    server, client = read.spans
    assert server == Span(
        trace_id=f"{0x1A:032x}",
        span_id=f"{0xB:016x}",
        parent_id="",
        service="frontend",
        operation="GET /dispatch",
        start_ns=1_700_000_000_000_001_000,
        end_ns=1_700_000_000_000_251_000,
        kind="server",
        error=False,
        pid=4321,
        thread_id=77,
        follows=False,
        attributes={
            "span.kind": "server",
            "http.status_code": "404",
            "thread.id": "77",
            "sampled": "true",
        },
    )
    assert (client.parent_id, client.follows, client.error) == (server.span_id, True, True)
    assert read_jaeger(JAEGER["data"]).spans == read_jaeger(JAEGER["data"][0]).spans == read.spans


def test_otlp() -> None:
    (span,) = read_otlp(OTLP).spans
    assert span == Span(
        trace_id="5b8efff798038103d269b633813fc60c",
        span_id="eee19b7ec3c1b174",
        parent_id="eee19b7ec3c1b173",
        service="frontend",
        operation="I'm a server span",
        start_ns=1544712660000000000,
        end_ns=1544712661000000000,
        kind="server",
        error=True,
        pid=4321,
        thread_id=77,
        attributes={
            "host.name": "bench",
            "service.version": "1.2",
            "my.span.attr": "some value",
            "thread.id": "77",
            "ratio": "0.5",
        },
    )
    assert read_otlp([OTLP, OTLP]).spans == [span, span]


def test_a_resource_without_a_name() -> None:
    resource = {**OTLP["resourceSpans"][0], "resource": {}}
    (span,) = read_otlp({"resourceSpans": [resource]}).spans
    assert (span.service, span.pid) == ("unknown_service", None)


@pytest.mark.parametrize("document", [None, 7, "x", {"data": 7}, {"data": [7]}, {"data": [{}]}, {}])
def test_what_is_no_document_of_jaeger(document: object) -> None:
    with pytest.raises(BadTracesError):
        read_jaeger(document)


@pytest.mark.parametrize(
    "document", [None, 7, [7], {}, {"resourceSpans": 7}, {"resourceSpans": [{"scopeSpans": [7]}]}]
)
def test_what_is_no_document_of_otlp(document: object) -> None:
    with pytest.raises(BadTracesError):
        read_otlp(document)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spanID": "0"}, "'0' is not an id"),
        ({"spanID": "x/y"}, "not an id"),
        ({"traceID": "x" * 65}, "not an id"),
        ({"operationName": ""}, "no name of the operation"),
        ({"operationName": None}, "no name"),
        ({"duration": -1}, "want 0 <= start <= end"),
        ({"startTime": 1.5}, "startTime is no whole number"),
        ({"startTime": True}, "startTime is no whole number"),
        ({"startTime": 1 << 60}, "want 0 <= start"),
        ({"processID": "p9"}, "no process 'p9'"),
        ({"references": 7}, "references is no list"),
        ({"references": [{"spanID": 7}]}, "not an id"),
        ({"tags": [7]}, "a tag is no object"),
    ],
)
def test_a_wrong_span_of_jaeger_is_left_out(change: dict[str, Any], said: str) -> None:
    trace = JAEGER["data"][0]
    read = read_jaeger([{**trace, "spans": [{**trace["spans"][0], **change}, trace["spans"][1]]}])
    assert (len(read.spans), read.rejected) == (1, 1)
    assert said in read.reasons[0]


def test_ids_that_are_no_hexadecimal_numbers_are_text() -> None:
    trace = JAEGER["data"][0]
    spans = [
        {**trace["spans"][0], "traceID": "T", "spanID": "G"},
        {
            **trace["spans"][1],
            "traceID": "T",
            "spanID": "1" * 17,
            "references": [{"refType": "CHILD_OF", "traceID": "T", "spanID": "G"}],
        },
    ]
    read = read_jaeger([{**trace, "traceID": "T", "spans": spans}])
    assert [(one.trace_id, one.span_id, one.parent_id) for one in read.spans] == [
        *(("T", "G", ""), ("T", "1" * 17, "G")),
    ]
    resource = OTLP["resourceSpans"][0]
    text = {**resource["scopeSpans"][0]["spans"][0], "traceId": "T", "parentSpanId": "up"}
    (span,) = read_otlp({"resourceSpans": [{**resource, "scopeSpans": [{"spans": [text]}]}]}).spans
    assert (span.trace_id, span.span_id, span.parent_id) == ("T", "eee19b7ec3c1b174", "up")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spanId": ""}, "not an id"),
        ({"name": 7}, "no name"),
        ({"startTimeUnixNano": "x"}, "startTimeUnixNano is no whole number"),
        ({"endTimeUnixNano": "1"}, "want 0 <= start <= end"),
        ({"status": 7}, "status is no object"),
        ({"attributes": {}}, "attributes is no list"),
    ],
)
def test_a_wrong_span_of_otlp_is_left_out(change: dict[str, Any], said: str) -> None:
    resource = OTLP["resourceSpans"][0]
    wrong = {**resource["scopeSpans"][0]["spans"][0], **change}
    read = read_otlp({"resourceSpans": [{**resource, "scopeSpans": [{"spans": [wrong]}]}]})
    assert (read.spans, read.rejected) == ([], 1)
    assert said in read.reasons[0]


@pytest.mark.parametrize(
    ("tags", "failed"),
    [
        ({"error": True}, True),
        ({"error": "false"}, False),
        ({"otel.status_code": "ERROR"}, True),
        ({"rpc.grpc.status_code": 14}, True),
        ({"rpc.grpc.status_code": 0}, False),
        ({"http.response.status_code": 500}, True),
        ({"http.response.status_code": "many"}, False),
    ],
)
def test_what_counts_as_failed(tags: dict[str, Any], failed: bool) -> None:
    trace = JAEGER["data"][0]
    pairs = [{"key": key, "value": value} for key, value in tags.items()]
    read = read_jaeger([{**trace, "spans": [{**trace["spans"][0], "tags": pairs}]}])
    assert read.spans[0].error is failed


def test_names_and_attributes_are_bounded() -> None:
    trace = JAEGER["data"][0]
    tags: list[dict[str, Any]] = [{"key": "k" * 500 + str(n), "value": "v" * 500} for n in range(3)]
    tags += [{"key": f"key{n}", "value": n} for n in range(100)]
    long = {**trace["spans"][0], "tags": tags, "operationName": "o" * 500}
    (span,) = read_jaeger([{**trace, "spans": [long]}]).spans
    assert len(span.attributes) == MAX_ATTRIBUTES
    assert len(span.operation) == LONGEST_NAME
    assert max(map(len, span.attributes)) == 128
    assert max(map(len, span.attributes.values())) == 256


def test_a_million_wrong_spans_have_ten_reasons() -> None:
    trace = {**JAEGER["data"][0], "spans": [{}] * 50}
    read = read_jaeger([trace])
    assert (read.rejected, len(read.reasons)) == (50, 10)


@given(any_spans())
def test_what_jaeger_writes_is_read_as_it_was(spans: list[Span]) -> None:
    trace = made_trace(*spans)
    (again,) = group_spans(read_jaeger(jaeger_document(trace)).spans)
    assert again.parents == trace.parents
    assert again.roots == trace.roots
    assert [span[:9] for span in again.spans] == [span[:9] for span in trace.spans]


KEYS = (
    *("data", "spans", "processes", "tags", "references", "traceID", "spanID", "operationName"),
    *("key", "value", "resourceSpans", "scopeSpans", "resource", "attributes", "kind", "status"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@given(JSON)
def test_no_document_makes_a_reader_fail_otherwise(document: object) -> None:
    for read in (read_jaeger, read_otlp):
        try:
            assert read(document).rejected >= 0
        except BadTracesError as error:
            assert str(error)


def test_spans_of_two_traces_are_grouped() -> None:
    spans = [made_span("A", 0, 1), made_span("B", 0, 1, trace_id=f"{3:032x}")]
    assert [trace.root.operation for trace in group_spans(spans)] == ["B", "A"]
