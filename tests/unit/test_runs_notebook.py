"""The small API for notebooks."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripted_run import FIELDS, FRAMES, time_ns, write_run
from tidscope_backend.notebook import Run, compare, list_runs, open_run
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
