"""Runs in a notebook, ledgers included."""

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from ledger_story import FIELDS as LEDGER_FIELDS
from ledger_story import FUTEX, LOCK, NAMES, LedgerStory, ledger_story
from run_folders import run_folder
from scripted_run import FIELDS, FRAMES, time_ns, write_run
from tidscope_backend.notebook import Run, compare, list_runs, open_run
from tidscope_backend.recording.sealing import write_summaries
from tidscope_backend.store.directory import RunNotFoundError


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run whose last part is open."""
    return open_run(write_run(tmp_path, ended=False).id, tmp_path)


def test_tables(run: Run) -> None:
    assert run.threads()["name"].to_pylist() == ["main", "worker-1", "worker-2"]
    assert run.signals().num_rows == FRAMES
    reported = run.events().to_pylist()
    assert [(one["type"], one["tid"]) for one in reported] == [
        ("thread_born", 102),
        ("thread_exited", 102),
        ("steering_decided", None),
    ]


def test_samples_of_some_threads_and_times(run: Run) -> None:
    reported = run.samples(0.5, 0.7, tids=[100]).to_pylist()
    assert sorted(one["time_ns"] for one in reported) == [time_ns(6), time_ns(7), time_ns(8)]
    assert {one["tid"] for one in reported} == {100}
    assert len(run.samples(level=2, tids=[100])) == 3


def test_roles(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path).id, tmp_path)
    # The script's frames tell no roles.
    assert run.roles().num_rows == 0
    assert run.roles().column_names == ["time_ns", "role", "live", "exited", *FIELDS]


def test_sql_over_closed_and_open_parts(run: Run) -> None:
    query = "select max(seq), count(*) from samples join signals using (seq) where tid = 100"
    (row,) = run.sql(query).to_pylist()
    assert list(row.values()) == [FRAMES, FRAMES]
    query = "select name, last.cpu_run_ns - first.cpu_run_ns as ns from threads order by ns desc"
    assert run.sql(query).to_pylist() == [
        {"name": "main", "ns": 1_200_000_000},
        {"name": "worker-2", "ns": 450_000_000},
        {"name": "worker-1", "ns": 80_000_000},
    ]
    assert run.sql("select count(*) as n from events").to_pylist() == [{"n": 3}]


def test_a_folder_with_a_quote_in_its_name(tmp_path: Path) -> None:
    odd = tmp_path / "it's; drop"
    run = open_run(odd / write_run(odd).id)
    assert run.sql("select count(*) as n from signals").to_pylist() == [{"n": FRAMES}]


def test_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = write_run(tmp_path, 1, name="before")
    other = write_run(tmp_path, 2, name="behind", created_unix_us=one.created_unix_us + 1)
    monkeypatch.setenv("TIDSCOPE_RUNS", str(tmp_path))
    assert [run.id for run in list_runs()] == [other.id, one.id]
    for called in (one.id, "before", "bef", one.id.removeprefix("r-"), one.id[:-1] + "1"):
        assert open_run(called).manifest == one
    for called, why in (("be", "2 runs"), ("nothing", "no run"), ("", "no run")):
        with pytest.raises(RunNotFoundError, match=why):
            open_run(called)
    assert list_runs(tmp_path / "nowhere") == []


def test_comparing(tmp_path: Path) -> None:
    runs = [open_run(write_run(tmp_path, number).id, tmp_path) for number in (1, 2)]
    # One that is being recorded is as long as what there is of it.
    now = write_run(tmp_path, 3, ended=False, to_ns=time_ns(1)).id
    repeats: list[Run | str | Path] = [runs[1].path, open_run(now, tmp_path)]
    found = compare([runs[0], repeats])
    assert [len(group.runs) for group in found.groups] == [1, 2]
    assert {run.duration_ns for run in found.runs} == {time_ns(FRAMES) - time_ns(1)}
    (cpu,) = [m for m in found.metrics if (m.metric, m.role) == ("cpu_run_ns", "main")]
    assert [group.values for group in cpu.groups] == [[5e8], [5e8, 5e8]]
    found = compare([runs[0], repeats], basis="totals")
    (cpu,) = [m for m in found.metrics if (m.metric, m.role) == ("cpu_run_ns", "main")]
    assert [group.values for group in cpu.groups] == [[1.2e9], [1.2e9, 1.2e9]]


def test_importing_it_does_not_load_duckdb() -> None:
    code = "import sys, tidscope_backend.notebook;print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.fixture(scope="module")
def reported() -> LedgerStory:
    return ledger_story(300)


@pytest.fixture(scope="module", params=[True, False], ids=["ended", "open"])
def ledger_run(
    request: pytest.FixtureRequest, reported: LedgerStory, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """A run of a ledger that began a while before it."""
    path = tmp_path_factory.mktemp("runs") / "run"
    parts = [reported.frames[50:150], reported.frames[150:]]
    folder = run_folder(path, parts, LEDGER_FIELDS, 2 if request.param else 0)
    if request.param:
        write_summaries(folder)
    return open_run(path)


def test_states_are_those_of_the_run(ledger_run: Run, reported: LedgerStory) -> None:
    begin, end = reported.times[50], reported.times[-1]
    rows = ledger_run.states().to_pylist()
    for tid, life in reported.lives.items():
        first, last = life.states(begin) if life.begin_ns < begin else {}, life.states(end)
        spent = {name[6:-3]: ns - first.get(name, 0) for name, ns in last.items()}
        mine = [row for row in rows if row["tid"] == tid]
        assert {row["state"]: row["ns"] for row in mine} == {k: v for k, v in spent.items() if v}
        assert sum(row["share"] for row in mine) == pytest.approx(1)
        assert {row["name"] for row in mine} == {NAMES[tid]}
    (idle,) = [row for row in rows if row["tid"] == 203]
    assert (idle["group"], idle["ns"], idle["share"]) == ("sleep", end - begin, 1)


def test_locks_are_those_of_the_run(ledger_run: Run, reported: LedgerStory) -> None:
    rows = ledger_run.locks().to_pylist()
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


def test_wakes_are_those_of_the_run(ledger_run: Run) -> None:
    locks = {row["tid"]: row for row in ledger_run.locks().to_pylist()}
    for row in ledger_run.wakes().to_pylist():
        assert (row["waker_name"], row["wakee"]) == ("main", NAMES.get(row["wakee_tid"]))
        assert row["count"] == locks[row["wakee_tid"]]["waits"]
        assert row["blocked_ns"] == locks[row["wakee_tid"]]["wait_ns"]
        assert row["delay_ns"] == row["count"] * 50_000


def test_stays_count_from_the_start_of_the_run(ledger_run: Run, reported: LedgerStory) -> None:
    counts: Counter[tuple[int, int]] = Counter()
    for row in ledger_run.table("stays").to_pylist():
        counts[row["tid"], row["state"]] += row["count"]
    begin = reported.times[50]
    for tid in (201, 204):
        life = reported.lives[tid]
        ended = [end for (_, state), (end, _) in itertools.pairwise(life.stays) if state == FUTEX]
        seen = sum(begin < end <= reported.times[-6] for end in ended)
        assert seen <= counts[tid, FUTEX] <= seen + 2


def test_sql_knows_them(ledger_run: Run) -> None:
    query = 'select "group", sum(ns) as ns from states group by all order by ns desc limit 1'
    (row,) = ledger_run.sql(query).to_pylist()
    assert row["group"] == "locks"
    (row,) = ledger_run.sql(
        "select count(*) as n from locks join wakes on wakee_tid = tid"
    ).to_pylist()
    assert row["n"] == 4


def test_a_run_without_a_ledger_has_none(tmp_path: Path) -> None:
    bare = open_run(write_run(tmp_path).id, tmp_path)
    tables: list[pa.Table] = [bare.states(), bare.locks(), bare.wakes(), bare.table("calls")]
    assert [table.num_rows for table in tables] == [0, 0, 0, 0]
    assert bare.sql("select count(*) as n from states").to_pylist() == [{"n": 0}]
