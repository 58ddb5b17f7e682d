"""The ledger of a run in a notebook."""

import itertools
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from ledger_story import FIELDS, FUTEX, LOCK, NAMES, LedgerStory, ledger_story
from run_folders import run_folder
from scripted_run import write_run
from tidscope_backend.notebook import Run, open_run
from tidscope_backend.recording.sealing import write_summaries


@pytest.fixture(scope="module")
def reported() -> LedgerStory:
    return ledger_story(300)


@pytest.fixture(scope="module", params=[True, False], ids=["ended", "open"])
def run(
    request: pytest.FixtureRequest, reported: LedgerStory, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """A run of a ledger that began a while before it."""
    path = tmp_path_factory.mktemp("runs") / "run"
    parts = [reported.frames[50:150], reported.frames[150:]]
    folder = run_folder(path, parts, FIELDS, 2 if request.param else 0)
    if request.param:
        write_summaries(folder)
    return open_run(path)


def test_states_are_those_of_the_run(run: Run, reported: LedgerStory) -> None:
    begin, end = reported.times[50], reported.times[-1]
    rows = run.states().to_pylist()
    for tid, life in reported.lives.items():
        first, last = life.states(begin) if life.begin_ns < begin else {}, life.states(end)
        spent = {name[6:-3]: ns - first.get(name, 0) for name, ns in last.items()}
        mine = [row for row in rows if row["tid"] == tid]
        assert {row["state"]: row["ns"] for row in mine} == {k: v for k, v in spent.items() if v}
        assert sum(row["share"] for row in mine) == pytest.approx(1)
        assert {row["name"] for row in mine} == {NAMES[tid]}
    (idle,) = [row for row in rows if row["tid"] == 203]
    assert (idle["group"], idle["ns"], idle["share"]) == ("sleep", end - begin, 1)


def test_locks_are_those_of_the_run(run: Run, reported: LedgerStory) -> None:
    rows = run.locks().to_pylist()
    first = reported.tables[reported.times[50]]["locks"]
    # The last frame with tables is some instants before the end.
    last = reported.tables[reported.times[-1]]["locks"]
    assert {row["tid"] for row in rows} == {0, 201, 202, 204}
    begun: Counter[str] = Counter()
    for row in rows:
        assert (row["lock"], row["name"], row["kind"]) == (LOCK, "pool_mu", "lock")
        assert row["thread"] == NAMES.get(row["tid"])
        if row["tid"] in (201, 204):
            assert (
                row["wait_ns"]
                == figures(last[LOCK, row["tid"]])["wait_ns"]
                - figures(first.get((LOCK, row["tid"]), (0, 0, 0)))["wait_ns"]
            )
        for name in ("wait_ns", "waits", "wakes"):
            begun[name] += row[name]
    # Together they are what all threads waited within the run; 202 ended, and what it did after
    # the last frame with tables of it stands under thread 0.
    for name, sum_ in begun.items():
        now = sum(figures(row)[name] for row in last.values())
        assert sum_ == now - sum(figures(row)[name] for row in first.values())
    by_tid = {row["tid"]: row["waits"] for row in rows}
    assert by_tid[202] > 10 * by_tid[0] > 0
    assert rows == sorted(rows, key=lambda row: -row["wait_ns"])


def figures(row: tuple[object, ...]) -> dict[str, int]:
    return {
        name: int(str(value))
        for name, value in zip(("wait_ns", "waits", "wakes"), row, strict=True)
    }


def test_wakes_are_those_of_the_run(run: Run) -> None:
    locks = {row["tid"]: row for row in run.locks().to_pylist()}
    for row in run.wakes().to_pylist():
        assert (row["waker_name"], row["wakee"]) == ("main", NAMES.get(row["wakee_tid"]))
        assert row["count"] == locks[row["wakee_tid"]]["waits"]
        assert row["blocked_ns"] == locks[row["wakee_tid"]]["wait_ns"]
        assert row["delay_ns"] == row["count"] * 50_000


def test_stays_count_from_the_start_of_the_run(run: Run, reported: LedgerStory) -> None:
    counts: Counter[tuple[int, int]] = Counter()
    for row in run.table("stays").to_pylist():
        counts[row["tid"], row["state"]] += row["count"]
    begin = reported.times[50]
    for tid in (201, 204):
        life = reported.lives[tid]
        ended = [end for (_, state), (end, _) in itertools.pairwise(life.stays) if state == FUTEX]
        seen = sum(begin < end <= reported.times[-6] for end in ended)
        assert seen <= counts[tid, FUTEX] <= seen + 2


def test_sql_knows_them(run: Run) -> None:
    query = 'select "group", sum(ns) as ns from states group by all order by ns desc limit 1'
    (row,) = run.sql(query).to_pylist()
    assert row["group"] == "locks"
    (row,) = run.sql("select count(*) as n from locks join wakes on wakee_tid = tid").to_pylist()
    assert row["n"] == 4


def test_a_run_without_a_ledger_has_none(tmp_path: Path) -> None:
    bare = open_run(write_run(tmp_path).id, tmp_path)
    tables: list[pa.Table] = [bare.states(), bare.locks(), bare.wakes(), bare.table("calls")]
    assert [table.num_rows for table in tables] == [0, 0, 0, 0]
    assert bare.sql("select count(*) as n from states").to_pylist() == [{"n": 0}]
