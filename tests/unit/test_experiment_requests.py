"""Traces of requests from spans and from recorded pools."""

import json
from pathlib import Path
from typing import Any

import pytest
from tidscope_backend.experiments.requests import (
    Request,
    requests_of_pool,
    requests_of_spans,
    trace_text,
)
from tidscope_backend.experiments.workload import ExperimentError


def span(start_us: int, lasted_us: int, **more: Any) -> dict[str, Any]:
    # OTLP/JSON writes 64-bit numbers as text.
    begun = 1_790_000_000_000_000_000 + start_us * 1000
    ends = str(begun + lasted_us * 1000)
    return {"startTimeUnixNano": str(begun), "endTimeUnixNano": ends, **more}


def exported(service: str, *spans: dict[str, Any]) -> str:
    name = {"key": "service.name", "value": {"stringValue": service}}
    return json.dumps(
        {
            "resourceSpans": [
                {"resource": {"attributes": [name]}, "scopeSpans": [{"spans": list(spans)}]}
            ]
        }
    )


def test_spans_of_servers_become_a_trace() -> None:
    text = "\n".join(
        [
            exported("web", span(500, 2000, kind=2), span(510, 10, kind=3, parentSpanId="a")),
            exported("shop", span(0, 1000, kind="SPAN_KIND_SERVER"), span(800, 101, kind=5)),
        ]
    )
    lines = trace_text(requests_of_spans(text), 9).splitlines()
    # Durations are divided by 1 + 9: computing is a tenth of them.
    assert lines[1:] == ["1 1 0 100", "2 2 500 200", "3 1 300 10"]


def test_without_servers_spans_without_a_parent_are_requests() -> None:
    text = exported("web", span(0, 100, kind=1), span(10, 50, kind=1, parentSpanId="a"))
    assert [one.duration_ns for one in requests_of_spans(text)] == [100_000]


@pytest.mark.parametrize("text", ["", "{}", "nothing", '{"resourceSpans": [{"scopeSpans": 1}]}'])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ExperimentError, match=r"no spans of OTLP/JSON|there is no request"):
        requests_of_spans(text)


def reading(second: float, name: str, submitted: int | None, finished: int, run_ms: int) -> Any:
    return {
        "read_ns": round(second * 1e9),
        "name": name,
        "submitted": submitted,
        "finished": finished,
        "run_ns": run_ms * 1_000_000,
    }


def test_readings_of_a_pool_become_requests() -> None:
    readings = [
        reading(1, "jobs", 10, 10, 100),
        reading(1, "few", 1, 1, 1),
        reading(2, "jobs", 14, 12, 120),
        reading(3, "jobs", 14, 14, 160),
        reading(4, "jobs", 16, 16, 200),
    ]
    found = requests_of_pool(readings, "")
    # In the second interval none came.
    assert found == [
        *(Request(round((1 + at / 4) * 1e9), "jobs", 10e6) for at in range(4)),
        Request(3_000_000_000, "jobs", 20e6),
        Request(3_500_000_000, "jobs", 20e6),
    ]
    with pytest.raises(ExperimentError, match="it needs a finished job of pool 'few'"):
        requests_of_pool(readings, "few")
    with pytest.raises(ExperimentError, match="it needs a pool that counts jobs"):
        requests_of_pool([], "")


def test_a_trace_is_read_by_the_workload(tmp_path: Path) -> None:
    found = trace_text([Request(0, "a", 1e6), Request(1_000_000, "b", 5e6)], 4)
    numbers = [line.split() for line in found.splitlines() if not line.startswith("#")]
    assert numbers == [["1", "1", "0", "200"], ["2", "2", "1000", "1000"]]
