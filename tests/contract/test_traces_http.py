"""Traces over REST: imported from files and from a Jaeger, and what is said of them."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from backend_server import Backend, kind, running_backend
from scripted_run import write_run
from tidscope_traces.summary.daily import DAY_NS
from tidscope_wire.generated.limits import MAX_TRACES_BYTES
from tidscope_wire.generated.models import (
    TraceAnalysis,
    TraceDays,
    TraceDetail,
    TraceDifference,
    TraceHeat,
    TraceList,
    TraceOperations,
    TracesImported,
    TraceValues,
)

ENDPOINT = {"service": "shop", "operation": "GET /"}
BEGAN_US = 1_700_000_000_000_000


def span(trace: int, number: int, parent: int, operation: str, begin: int, end: int) -> Any:
    references = [{"refType": "CHILD_OF", "traceID": f"{trace:x}", "spanID": f"{parent:x}"}]
    return {
        "traceID": f"{trace:x}",
        "spanID": f"{number:x}",
        "operationName": operation,
        "references": references if parent else [],
        "startTime": BEGAN_US + trace * 1_000_000 + begin,
        "duration": end - begin,
        "processID": "p",
        "tags": [{"key": "half", "value": "slow" if trace > 10 else "fast"}],
    }


def document(last: int = 20) -> dict[str, Any]:
    """Requests of processes 100 and 200 in turn; from the eleventh the query takes 500 µs more."""
    traces = []
    for trace in range(1, last + 1):
        query = 600 if trace > 10 else 100
        spans = [
            span(trace, 1, 0, "GET /", 0, query + 200 + trace),
            span(trace, 2, 1, "SQL", 50, 50 + query),
        ]
        tags = [{"key": "process.pid", "value": 100 if trace % 2 else 200}]
        processes = {"p": {"serviceName": "shop", "tags": tags}}
        traces.append({"traceID": f"{trace:x}", "spans": spans, "processes": processes})
    return {"data": traces}


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    async with running_backend(runs_dir=tmp_path) as running:
        yield running


async def read(backend: Backend, path: str, **query: str | int) -> bytes:
    async with backend.program() as client:
        answer = await client.get(
            f"/api/v1/traces/{path}".rstrip("/"), params={**ENDPOINT, **query}
        )
    assert answer.status_code == 200, answer.text
    return answer.content


async def test_an_imported_file_is_analysed(backend: Backend) -> None:
    async with backend.program() as client:
        text = json.dumps(document())
        answer = await client.post("/api/v1/traces/import", content=text)
    assert TracesImported.model_validate_json(answer.content).spans == 40
    found = TraceAnalysis.model_validate_json(await read(backend, "analysis"))
    assert [one.operation for one in found.tree.name] == ["GET /", "SQL"]
    assert (found.traces, found.ranking[0].operation) == (20, "SQL")
    slow = TraceAnalysis.model_validate_json(
        await read(backend, "analysis", low=50, tag="half=slow")
    )
    assert slow.traces == 5
    assert slow.ranking[0].p50_exclusive_ns == 600_000
    less = TraceAnalysis.model_validate_json(
        await read(backend, "analysis", project="shop SQL", less_ns=50_000)
    )
    assert less.projection is not None
    assert less.projection.quantiles.p50_ns == found.duration.p50_ns - 50_000
    without = TraceAnalysis.model_validate_json(await read(backend, "analysis", exclude="SQL"))
    assert [one.operation for one in without.tree.name] == ["GET /"]
    sets = {"base": urlencode({"tag": "half=fast"}), "other": urlencode({"tag": "half=slow"})}
    change = TraceDifference.model_validate_json(await read(backend, "difference", **sets))
    at = [one.operation for one in change.tree.name].index("SQL")
    assert (change.tree.base_exclusive_ns[at], change.tree.other_exclusive_ns[at]) == (
        100_000,
        600_000,
    )
    heat = TraceHeat.model_validate_json(await read(backend, "heat", columns=4))
    row = [one.operation for one in heat.operations].index("SQL")
    assert len(heat.traces) == 4
    assert heat.times_ns[row][-1] == heat.chains[row][-1][0].ns == 600_000
    heat = TraceHeat.model_validate_json(
        await read(backend, "heat", metric="inclusive", percentile=95)
    )
    # The root includes everything that it calls.
    assert [one.operation for one in heat.operations] == ["GET /", "SQL"]
    assert heat.times_ns[0] == [one.duration_ns for one in heat.traces]
    values = TraceValues.model_validate_json(
        await read(backend, "values", of="shop SQL", attribute="half")
    )
    assert [(row.value, row.spans, row.p50_ns) for row in values.rows] == [
        ("slow", 10, 600_000),
        ("fast", 10, 100_000),
    ]
    assert ("half", 20, 2) in [(one.key, one.spans, one.values) for one in values.keys]
    detail = TraceDetail.model_validate_json(await read(backend, f"{1:032x}"))
    assert [(one.end_ns - one.start_ns) // 1000 for one in detail.path] == [50, 100, 151]


async def imported(backend: Backend, found: dict[str, Any]) -> None:
    async with backend.program() as client:
        answer = await client.post("/api/v1/traces/import", content=json.dumps(found))
        assert answer.status_code == 201, answer.text


async def test_sets_are_of_a_run_by_its_time_and_its_process(
    backend: Backend, tmp_path: Path
) -> None:
    await imported(backend, document())
    # 2.4 s of process 100, from the third request on; and from the eleventh on.
    early, late = (
        write_run(tmp_path, number, started_unix_us=BEGAN_US + first * 1_000_000)
        for number, first in ((1, 3), (2, 11))
    )
    found = TraceAnalysis.model_validate_json(await read(backend, "analysis", run=early.id))
    assert found.traces == 2
    sets = {"base": urlencode({"run": early.id}), "other": urlencode({"run": late.id})}
    change = TraceDifference.model_validate_json(await read(backend, "difference", **sets))
    assert (change.base.traces, change.other.traces) == (2, 2)
    at = [one.operation for one in change.tree.name].index("SQL")
    assert change.tree.other_exclusive_ns[at] - change.tree.base_exclusive_ns[at] == 500_000
    listed = TraceList.model_validate_json(await read(backend, "", run=late.id))
    assert [int(one.trace_id, 16) for one in listed.traces] == [13, 11]
    async with backend.program() as client:
        unknown = "r-20261121-130500-ffffff"
        for query in ({"run": unknown}, {"reference": urlencode({"run": unknown})}):
            answer = await client.get("/api/v1/traces/analysis", params={**ENDPOINT, **query})
            assert kind(answer) == (404, "unknown-run")


async def test_days_end_with_the_latest_request_and_have_gaps(backend: Backend) -> None:
    """Six days with a growing share, one without requests."""
    found = document(20)
    for place, trace in enumerate(found["data"][:7]):
        at_us = place * 86_400_000_000
        for one in trace["spans"]:
            one["startTime"] += at_us
            one["duration"] += 20 * place
    del found["data"][7:], found["data"][2]
    await imported(backend, found)
    days = TraceDays.model_validate_json(await read(backend, "days", count=7))
    assert [day.traces for day in days.days] == [1, 1, 0, 1, 1, 1, 1]
    assert days.days[0].begin_ns == BEGAN_US * 1000 // DAY_NS * DAY_NS
    shares = {one.operation: one.shares for one in days.operations}["SQL"]
    assert shares.values[2] is None
    assert shares.trend is not None
    assert 0 < shares.trend.low <= shares.trend.slope <= shares.trend.high
    assert days.p50_ns.values[0] == 301_000
    until = days.days[4].begin_ns
    early = TraceDays.model_validate_json(await read(backend, "days", until_ns=until, count=4))
    assert [day.traces for day in early.days] == [1, 1, 0, 1]
    assert early.p50_ns.trend is None
    none = TraceDays.model_validate_json(await read(backend, "days", until_ns=1))
    assert (none.days, none.operations) == ([], [])


async def test_requests_that_waited_for_a_process_the_longest_first(backend: Backend) -> None:
    await imported(backend, document())
    began_ns = BEGAN_US * 1000 + 12_000_000_000
    window = {"since_ns": began_ns - 2_000_000_000, "until_ns": began_ns + 300_000}
    async with backend.program() as client:
        answer = await client.get("/api/v1/traces", params={"pid": 200, "order": "path", **window})
    found = TraceList.model_validate_json(answer.content).traces
    # The tenth took 310 µs; of the twelfth's 812 µs the window has 300.
    assert [(int(one.trace_id, 16), one.on_path_ns) for one in found] == [
        (10, 310_000),
        (12, 300_000),
    ]


async def test_operations_are_ranked_over_all_endpoints(backend: Backend) -> None:
    other = document(1)
    other["data"][0]["spans"][0]["operationName"] = "POST /"
    other["data"][0]["traceID"] = "ff"
    for one in other["data"][0]["spans"]:
        one["traceID"] = "ff"
        one["references"] = [{**ref, "traceID": "ff"} for ref in one["references"]]
    await imported(backend, document(2))
    await imported(backend, other)
    async with backend.program() as client:
        answer = await client.get("/api/v1/traces/operations")
    found = TraceOperations.model_validate_json(answer.content)
    assert (found.endpoints, found.traces, found.omitted) == (2, 3, 0)
    assert [one.operation for one in found.operations] == ["GET /", "POST /", "SQL"]
    query = found.operations[-1]
    assert (query.endpoints, query.traces, query.exclusive_ns) == (2, 3, 300_000)
    assert query.mean_share == pytest.approx((200 / 603 + 100 / 301) / 2)
    shapes = {one.name: one for one in found.shapes}
    assert len(shapes) == 8
    assert (sum(shapes["spans"].counts), sum(shapes["callers"].counts)) == (3, 1)
    assert shapes["callers"].most == 2


async def test_anomalies_against_an_earlier_set(backend: Backend) -> None:
    found = document(60)
    found["data"][-1]["spans"].append(span(60, 3, 1, "LOST", 660, 850))
    await imported(backend, found)
    since = (BEGAN_US + 51_000_000) * 1000
    alone = TraceAnalysis.model_validate_json(await read(backend, "analysis", since_ns=since))
    assert (alone.traces, alone.reference, alone.anomalies) == (10, 0, [])
    reference = urlencode({"until_ns": since, "tag": "half=slow"})
    both = TraceAnalysis.model_validate_json(
        await read(backend, "analysis", since_ns=since, reference=reference)
    )
    assert both.reference == 40
    assert [(int(one.trace_id, 16), one.kind) for one in both.anomalies] == [(60, "unseen")]
    assert both.anomalies[0].chain[-1].operation == "LOST"


async def test_every_root_of_a_trace_counts_if_asked(backend: Backend) -> None:
    found = document(1)
    found["data"][0]["spans"].append(span(1, 9, 0, "GET /", 1000, 1100))
    await imported(backend, found)
    for merge, traces in (("single", 1), ("merged", 2)):
        one = TraceAnalysis.model_validate_json(await read(backend, "analysis", merge=merge))
        assert one.traces == traces
        change = TraceDifference.model_validate_json(await read(backend, "difference", merge=merge))
        assert change.base.traces == change.other.traces == traces
        heat = TraceHeat.model_validate_json(await read(backend, "heat", merge=merge))
        assert len(heat.traces) == traces


@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        ("analysis", {"tag": "none"}, (422, "bad-request")),
        ("analysis", {"project": "shop none"}, (422, "bad-request")),
        ("values", {"of": "shop none"}, (422, "bad-request")),
        ("days", {"count": "99"}, (422, "bad-request")),
        ("difference", {"base": "low=9&high=1"}, (422, "bad-request")),
        ("difference", {"other": "since_ns=x"}, (422, "bad-request")),
        ("difference", {"other": "run=../x"}, (422, "bad-request")),
        ("analysis", {"run": "../x"}, (422, "bad-request")),
        (f"{9:032x}", {}, (404, "unknown-trace")),
        ("x y", {}, (422, "bad-request")),
        ("x", {}, (404, "unknown-trace")),
    ],
)
async def test_what_is_refused(
    backend: Backend, path: str, query: dict[str, str], expected: tuple[int, str]
) -> None:
    async with backend.program() as client:
        answer = await client.get(f"/api/v1/traces/{path}", params={**ENDPOINT, **query})
        assert kind(answer) == expected


async def test_files_that_are_none_or_too_large(backend: Backend) -> None:
    async with backend.program() as client:
        answer = await client.post("/api/v1/traces/import", content=b"PK\x03\x04")
        assert kind(answer) == (422, "bad-request")
        answer = await client.post("/api/v1/traces/import", content=b" " * (MAX_TRACES_BYTES + 1))
        assert kind(answer) == (413, "too-large")
        many = b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{}," * 300_000 + b"{}]}]}]}"
        answer = await client.post("/api/v1/traces/import", content=many)
        assert kind(answer) == (413, "too-large")


@pytest.fixture
def jaeger() -> Iterator[HTTPServer]:
    """Fake query service of Jaeger: its answers, and the requests that it got."""

    class Query(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            known = urlsplit(self.path).path == "/api/traces" and asked["service"] == ["shop"]
            body = json.dumps(document()).encode()
            self.send_response(200 if known and int(asked["limit"][0]) == 20 else 400)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Query)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_jaeger_of_this_machine_is_asked_and_nothing_else(
    backend: Backend, jaeger: HTTPServer
) -> None:
    asked = {"port": jaeger.server_port, "service": "shop", "limit": 20}
    async with backend.program() as client:
        answer = await client.post("/api/v1/traces/jaeger", json=asked)
        assert TracesImported.model_validate_json(answer.content).traces == 20
        answer = await client.post("/api/v1/traces/jaeger", json={**asked, "service": "none"})
        assert kind(answer) == (422, "bad-request")
        assert "status 400" in answer.json()["detail"]
        answer = await client.post("/api/v1/traces/jaeger", json={**asked, "host": "example.com"})
        assert kind(answer) == (422, "bad-request")
