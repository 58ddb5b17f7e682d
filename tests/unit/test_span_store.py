"""Spans on disk: what was confirmed survives a crash, and retention counts what it deletes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tidscope_backend.traces.batches import read_document
from tidscope_backend.traces.folder import SpanRetention, span_folders
from tidscope_backend.traces.queries import SpanQueries, Wanted
from tidscope_backend.traces.span_store import PartBounds, SpanStore
from tidscope_traces.spans.model import Span
from tidscope_traces.spans.reading import BadTracesError
from tidscope_wire.problems import ProblemError

SECOND = 1_000_000_000


class Clock:
    """Unix seconds, set by the test."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def make_store(
    runs: Path, *, retention: SpanRetention | None = None, spans: int = 1000
) -> SpanStore:
    keep_all = SpanRetention(None, None)
    return SpanStore(lambda: runs, runs, retention or keep_all, Clock(), PartBounds(spans=spans))


def trace(number: int, *, slow: int = 0, **changes: Any) -> list[Span]:
    """Two spans: a request of the shop, and a query in it."""
    trace_id = f"{number:032x}"
    start = 1_700_000_000 * SECOND + number * SECOND
    root = Span(trace_id, f"{1:016x}", "", "shop", "GET /", start, start + 100 + slow)
    query = Span(trace_id, f"{2:016x}", f"{1:016x}", "db", "SQL", start + 10, start + 90)
    return [root._replace(**changes), query]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SpanStore]:
    made = make_store(tmp_path)
    yield made
    made.close()


def test_what_was_added_is_read_again_whole(store: SpanStore) -> None:
    attributes = {"a": "1", "ü": "\ud800", "empty": ""}
    spans = trace(1, pid=7, thread_id=8, error=True, follows=True, attributes=attributes)
    store.add(spans)
    found = SpanQueries(store.read).trace(f"{1:032x}")
    assert found[1] == spans[1]
    assert found[0] == spans[0]._replace(attributes={"a": "1", "ü": "?", "empty": ""})


def test_sealed_and_open_parts_are_one(tmp_path: Path) -> None:
    store = make_store(tmp_path, spans=4)
    for number in range(5):
        store.add(trace(number))
    queries = SpanQueries(store.read)
    (folder,) = span_folders(tmp_path)
    assert (folder.sealed_parts(), folder.open_parts()) == ([1, 2], [3])
    assert queries.count() == 5
    assert all(len(queries.trace(f"{number:032x}")) == 2 for number in range(5))
    store.close()
    assert (folder.sealed_parts(), folder.open_parts()) == ([1, 2, 3], [])
    assert queries.count() == 5


def test_a_crash_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    """The first store is left as a killed backend leaves it; the last batch is cut."""
    crashed = make_store(tmp_path)
    crashed.add(trace(1))
    crashed.add(trace(2))
    (folder,) = span_folders(tmp_path)
    with folder.open_part(1).open("ab") as file:
        file.write(b"\xff\x00\x00\x00cut")
    other = make_store(tmp_path)
    assert SpanQueries(other.read).count() == 2
    other.start()
    assert folder.open_parts() == [1], "its backend lives: it holds the lock"
    assert crashed._held is not None
    crashed._held.release()
    other.start()
    assert (folder.open_parts(), folder.sealed_parts()) == ([], [1])
    assert SpanQueries(other.read).count() == 2


def test_a_failed_seal_keeps_the_batches(tmp_path: Path) -> None:
    store = make_store(tmp_path, spans=2)
    store.add(trace(1)[:1])
    (folder,) = span_folders(tmp_path)
    folder.sealed_part(1).with_suffix(".new").mkdir()
    store.add(trace(1)[1:])
    assert folder.open_parts() == [1]
    store.add(trace(2))
    assert SpanQueries(store.read).count() == 2


def test_a_folder_that_cannot_be_written_is_a_problem_and_counted(tmp_path: Path) -> None:
    (tmp_path / ".traces").write_text("")
    store = make_store(tmp_path)
    with pytest.raises(ProblemError) as refused:
        store.add(trace(1))
    assert refused.value.problem.type.endswith("runs-unavailable")
    assert store.counts.dropped == 2
    (tmp_path / ".traces").unlink()
    store.add(trace(1))
    assert (store.counts.stored, SpanQueries(store.read).count()) == (2, 1)


@pytest.mark.parametrize(
    "retention", [SpanRetention(None, 0), SpanRetention(-1e12, None)], ids=["bytes", "age"]
)
def test_retention_deletes_sealed_parts_and_counts(
    tmp_path: Path, retention: SpanRetention
) -> None:
    store = make_store(tmp_path, retention=retention, spans=2)
    store.add(trace(1))
    store.add(trace(2))
    store.add(trace(3)[:1])
    store.clean_up()
    assert store.counts.expired == 4
    assert SpanQueries(store.read).count() == 1


def test_endpoints_and_lists(store: SpanStore) -> None:
    for number in range(10):
        store.add(trace(number, slow=number * 100, error=number == 3))
    queries = SpanQueries(store.read)
    (endpoint,) = queries.endpoints(None, None)
    assert (endpoint.service, endpoint.traces, endpoint.errors) == ("shop", 10, 1)
    assert (endpoint.p50_ns, endpoint.p99_ns) == (500, 1000)
    slowest = queries.traces(Wanted(), "slowest", 3)
    assert [one.duration_ns for one in slowest] == [1000, 900, 800]
    assert [one.spans for one in queries.traces(Wanted(errors=True), "recent", 9)] == [2]
    since = trace(4)[0].start_ns
    assert len(queries.traces(Wanted(since_ns=since, until_ns=since + 1), "recent", 9)) == 1


def test_windows_side_by_side_share_no_trace_and_miss_none(store: SpanStore) -> None:
    for number in range(7):
        store.add(trace(number, slow=number))
    queries = SpanQueries(store.read)
    found = [
        one.trace_id
        for low in range(0, 100, 20)
        for one in queries.traces(Wanted(low=low, high=low + 20), "recent", 99)
    ]
    assert sorted(found) == [f"{number:032x}" for number in range(7)]
    assert len(queries.traces(Wanted(low=50, high=50), "recent", 99)) == 1


def test_a_trace_is_found_by_tag_process_and_thread(store: SpanStore) -> None:
    store.add(trace(1, attributes={"k": "v"}, pid=5, thread_id=6))
    store.add(trace(2, attributes={"k": "w"}, pid=5, thread_id=7))
    queries = SpanQueries(store.read)

    def ids(wanted: Wanted) -> list[str]:
        return sorted(one.trace_id[-1] for one in queries.traces(wanted, "recent", 9))

    start = trace(1)[0].start_ns
    assert ids(Wanted(tag=("k", "v"))) == ["1"]
    assert ids(Wanted(tag=("none", "v"))) == []
    assert ids(Wanted(pid=5)) == ["1", "2"]
    assert ids(Wanted(pid=5, thread_id=7)) == ["2"]
    # The window is of the span of the process: it has begun before.
    assert ids(Wanted(pid=5, since_ns=start + 50, until_ns=start + 60)) == ["1"]
    assert ids(Wanted(since_ns=start + 50, until_ns=start + 60)) == []
    store.add(trace(3))
    # A trace whose spans name no process may be of any.
    assert ids(Wanted(processes=(5,))) == ["1", "2", "3"]
    assert ids(Wanted(processes=(8, 9))) == ["3"]


def test_an_analysis_is_bounded_by_whole_traces(store: SpanStore) -> None:
    for number in range(5):
        store.add(trace(number))
    chosen = SpanQueries(store.read).choose(Wanted(), bound=5)
    assert (len(chosen.spans), chosen.omitted) == (4, 3)
    chosen = SpanQueries(store.read).choose(Wanted(), bound=1)
    assert (len(chosen.spans), chosen.omitted) == (2, 4)


def test_formats_are_recognised_by_what_documents_hold() -> None:
    jaeger = {"data": [{"traceID": "1", "spans": [], "processes": {}}]}
    otlp: dict[str, object] = {"resourceSpans": []}
    for text in (jaeger, jaeger["data"], otlp, [otlp]):
        assert read_document(json.dumps(text).encode()).spans == []
    lines = b"\n".join([json.dumps(otlp).encode()] * 2)
    assert read_document(lines).spans == []
    for bad in (b"", b"{}", b"[]", b"[1]", b"{", b"\xff", b"[" * 100_000, b"1\n2"):
        with pytest.raises(BadTracesError):
            read_document(bad)
