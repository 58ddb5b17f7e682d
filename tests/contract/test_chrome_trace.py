"""The trace that is exported is one by the published format, and tells what the run holds."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from scripted_run import START, time_ns, write_run
from tidscope_backend.exchange import chrome_trace
from tidscope_backend.exchange.chrome_trace import as_trace
from tidscope_wire.generated.models import RunMark

SCHEMA = json.loads((Path(__file__).parent / "chrome_trace.schema.json").read_text())


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def trace_of(path: Path) -> dict[str, Any]:
    text = b"".join(as_trace(path))
    found: dict[str, Any] = json.loads(text, parse_constant=refuse)
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.fixture
def events(tmp_path: Path) -> list[dict[str, Any]]:
    marks = [RunMark(time_ns=time_ns(5), text="load begins")]
    manifest = write_run(tmp_path, marks=marks)
    found: list[dict[str, Any]] = trace_of(tmp_path / manifest.id)["traceEvents"]
    return found


def counters(events: list[dict[str, Any]], name: str) -> list[tuple[int, dict[str, float]]]:
    """Time in tenths of a second since the run's start, and values."""
    mine = [one for one in events if one["ph"] == "C" and one["name"] == name]
    return [(round((one["ts"] * 1000 - START) / 1e8), one["args"]) for one in mine]


def test_names(events: list[dict[str, Any]]) -> None:
    named = {one.get("tid"): one["args"] for one in events if one["ph"] == "M"}
    assert {named[tid]["name"] for tid in (100, 101, 102)} == {"main", "worker-1", "worker-2"}


def test_steady_work(events: list[dict[str, Any]]) -> None:
    reported = counters(events, "main (100)")
    assert [at for at, _ in reported] == list(range(25))
    assert all(args == {"on CPU": 0.5, "run queue": 0.1} for _, args in reported[:-1])
    assert reported[-1][1] == {"on CPU": 0, "run queue": 0}


def test_a_thread_that_worked_once_is_idle_before_and_after(events: list[dict[str, Any]]) -> None:
    reported = counters(events, "worker-1 (101)")
    # Its run-queue delay is absent. 80 ms of work lie in the tenth of a second before frame 16.
    assert [(at, args["on CPU"]) for at, args in reported if args["on CPU"]] == [(14, 0.8)]
    assert [at for at, args in reported if not args["on CPU"]] == [0, 9, 10, 15, 19, 20]
    assert all("run queue" not in args for _, args in reported)


def test_events(events: list[dict[str, Any]]) -> None:
    reported = {(one["name"], one["s"], one["ts"]) for one in events if one["ph"] == "i"}
    assert reported == {
        ("thread born", "t", time_ns(4) / 1000),
        ("thread exited", "t", time_ns(8) / 1000),
        ("linear: 2 to 3", "p", time_ns(12) / 1000),
        ("load begins", "p", time_ns(5) / 1000),
    }
    (decision,) = [one for one in events if one["name"] == "linear: 2 to 3"]
    assert decision["args"]["reason"] == "more ops"
    (bar,) = [one for one in events if one["ph"] == "X" and one["tid"] == 102]
    assert (bar["ts"], bar["dur"]) == (time_ns(4) / 1000, 400_000)


def test_a_huge_run_is_reported_by_fewer_instants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = write_run(tmp_path)
    monkeypatch.setattr(chrome_trace, "MAX_ROWS", 10)
    found = trace_of(tmp_path / manifest.id)
    level = int(found["otherData"]["level"])
    assert level > 0
    reported = counters(found["traceEvents"], "main (100)")
    assert len(reported) == 3
    # Less often, and the same totals: half of the time on a CPU.
    assert reported[0][1]["on CPU"] == 0.5


def test_a_run_that_is_being_recorded(tmp_path: Path) -> None:
    manifest = write_run(tmp_path, ended=False)
    found = trace_of(tmp_path / manifest.id)
    assert [at for at, _ in counters(found["traceEvents"], "main (100)")] == list(range(25))


def test_the_schema_refuses_what_is_wrong() -> None:
    good = {"ph": "C", "name": "x", "pid": 1, "ts": 1, "args": {"a": 1}}
    jsonschema.validate({"traceEvents": [good]}, SCHEMA)
    for wrong in ({"args": {"a": "1"}}, {"ph": "i"}, {"ph": "M"}, {"ts": "1"}, {"ph": "Z"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"traceEvents": [{**good, **wrong}]}, SCHEMA)
