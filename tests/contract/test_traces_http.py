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
from tidscope_wire.generated.limits import MAX_TRACES_BYTES
from tidscope_wire.generated.models import (
    TraceAnalysis,
    TraceDetail,
    TraceDifference,
    TraceHeat,
    TracesImported,
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


def document() -> dict[str, Any]:
    """Twenty requests; in the second half the query takes 500 µs longer."""
    traces = []
    for trace in range(1, 21):
        query = 600 if trace > 10 else 100
        spans = [
            span(trace, 1, 0, "GET /", 0, query + 200 + trace),
            span(trace, 2, 1, "SQL", 50, 50 + query),
        ]
        processes = {"p": {"serviceName": "shop", "tags": []}}
        traces.append({"traceID": f"{trace:x}", "spans": spans, "processes": processes})
    return {"data": traces}


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    async with running_backend(runs_dir=tmp_path) as running:
        yield running


async def read(backend: Backend, path: str, **query: str | int) -> bytes:
    async with backend.program() as client:
        answer = await client.get(f"/api/v1/traces/{path}", params={**ENDPOINT, **query})
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
    assert heat.exclusive_ns[row][-1] == heat.chains[row][-1][0].ns == 600_000
    detail = TraceDetail.model_validate_json(await read(backend, f"{1:032x}"))
    assert [(one.end_ns - one.start_ns) // 1000 for one in detail.path] == [50, 100, 151]


@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        ("analysis", {"tag": "none"}, (422, "bad-request")),
        ("analysis", {"project": "shop none"}, (422, "bad-request")),
        ("difference", {"base": "low=9&high=1"}, (422, "bad-request")),
        ("difference", {"other": "since_ns=x"}, (422, "bad-request")),
        (f"{9:032x}", {}, (404, "unknown-trace")),
        ("x", {}, (422, "bad-request")),
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


@pytest.fixture
def jaeger() -> Iterator[HTTPServer]:
    """What Jaeger's query service answers, and what it is asked."""

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
