"""The trace that is exported is one by the published format, and tells what the run holds."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ledger_story import FIELDS, FUTEX, LOCK, ledger_story
from run_folders import run_folder
from sampled_story import PATHS, sampled_story
from scripted_run import START, time_ns, write_run
from tidscope_backend.exchange import chrome_trace, stack_slices
from tidscope_backend.exchange.chrome_trace import as_trace
from tidscope_backend.exchange.stack_slices import TRACK_OFFSET
from tidscope_backend.state_groups import LABELS as STATE_LABELS
from tidscope_wire.generated.models import RunMark
from tidscope_wire.states import STATE_FIELDS

OWN = frozenset({"update_account", "slow_io"})
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
    # The run-queue delay is absent. 80 ms of work lie in the tenth of a second before frame 16.
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


LABELS = {label: field for field, label in STATE_LABELS.items()}


@pytest.mark.parametrize(("max_rows", "level"), [(300_000, "0"), (400, "1"), (1, "2")])
def test_stays_that_samples_saw_are_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, max_rows: int, level: str
) -> None:
    story = ledger_story(400)
    folder = run_folder(tmp_path / "run", [story.frames[:200], story.frames[200:]], FIELDS, 1)
    monkeypatch.setattr(chrome_trace, "MAX_ROWS", max_rows)
    found = trace_of(folder.path)
    assert found["otherData"]["level"] == level
    complete = [one for one in found["traceEvents"] if one["ph"] == "X"]
    lives = {one["tid"]: one for one in complete if one["cat"] == "thread"}
    slices: dict[int, list[tuple[int, int, int]]] = {tid: [] for tid in story.lives}
    for one in found["traceEvents"]:
        if one.get("cat") == "state":
            life = lives[one["tid"]]
            assert life["ts"] <= one["ts"]
            assert one["ts"] + one["dur"] <= life["ts"] + life["dur"] + 0.001
            begin, end = round(one["ts"] * 1000), round((one["ts"] + one["dur"]) * 1000)
            state = STATE_FIELDS.index(LABELS[one["name"]]) + 1
            slices[one["tid"]].append((begin, end, state))
    times = story.times if level == "0" else story.times[::50]
    for tid, life in story.lives.items():
        # One after the other, and each within a stay of its state.
        assert slices[tid] == sorted(slices[tid])
        assert all(a[1] <= b[0] for a, b in pairwise(slices[tid]))
        stays = [*life.stays, (life.end_ns or story.times[-1] + 1, 0)]
        true = [(a[0], b[0], a[1]) for a, b in pairwise(stays)]
        for begin, end, state in slices[tid]:
            assert any(a <= begin and end <= b and state == one for a, b, one in true)
        # A stay that was seen begins when it did, or with the run.
        for begin, end, state in true:
            start = max(begin, round(lives[tid]["ts"] * 1000))
            if any(start < time < end for time in times):
                assert any(a == start and state == one for a, _, one in slices[tid])
    (idle,) = slices[203]
    last = {"0": story.times[-1], "1": story.times[390], "2": story.times[350]}[level]
    assert idle == (story.times[0], last, 6)


def test_a_run_without_a_ledger_has_no_slices_of_states(events: list[dict[str, Any]]) -> None:
    assert not [one for one in events if one.get("cat") == "state"]


def test_sampled_stays_have_their_stacks(tmp_path: Path) -> None:
    story = sampled_story(100, 1)
    run_folder(tmp_path / "run", [story.frames[:50], story.frames[50:]], FIELDS, 2)
    events = trace_of(tmp_path / "run")["traceEvents"]
    tracks = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert tracks[TRACK_OFFSET + 201] == "worker-1 stacks (201)"
    mine = [one for one in events if one.get("cat") == "stack" and one["tid"] == TRACK_OFFSET + 201]
    first, last = story.ledger.times[0], story.ledger.times[-1]
    stays = [one for one in story.sampled if one.tid == 201 and one.state == FUTEX]
    slices = {one["ts"]: one for one in mine if one["ph"] == "X"}
    known_ns = 9_500_000_000
    for stay in stays:
        if stay.end_ns is None or stay.end_ns + stay.delay_ns > known_ns:
            continue
        one = slices[max(stay.begin_ns, first) / 1000]
        assert one["dur"] == pytest.approx((stay.end_ns - max(stay.begin_ns, first)) / 1000)
        assert one["name"] == own_of(stay.node)
        functions = [part.split(" ")[0] for part in one["args"]["stack"].split("; ")]
        assert tuple(functions) == PATHS[stay.node]
        assert one["args"]["released_by"].endswith("unlock_all (bank.c:33)")
        assert one["args"]["lock"] == LOCK
    seen = [one for one in mine if one["ph"] == "i"]
    assert seen
    assert {one["name"] for one in seen} <= {"scale", "slow_io"}
    for before, after in pairwise(sorted(slices.values(), key=lambda one: float(one["ts"]))):
        assert before["ts"] + before["dur"] <= after["ts"] + 1e-3
    assert max(one["ts"] + one["dur"] for one in slices.values()) <= last / 1000


def own_of(node: int) -> str:
    """The program's own code at the end of a wait's stack."""
    return next(one for one in reversed(PATHS[node]) if "_" not in one or one in OWN)


def test_the_longest_stays_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = sampled_story(100, 1)
    run_folder(tmp_path / "run", [story.frames], FIELDS, 1)
    monkeypatch.setattr(stack_slices, "MAX_SLICES", 20)
    events = trace_of(tmp_path / "run")["traceEvents"]
    kept = [one for one in events if one.get("cat") == "stack"]
    assert len(kept) == 20
    assert min(one["dur"] for one in kept) > 100_000
