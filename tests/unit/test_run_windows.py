"""Windows cut out of a run: what threads and tables did in them, whatever the parts."""

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from backend_builders import frame_bytes
from builders import busy_pool
from compared_runs import policy
from run_folders import run_folder
from scripted_run import FIELDS, FRAMES, time_ns, write_run
from tidscope_backend.cli.compare import COMMAND
from tidscope_backend.comparison.from_folders import compare_folders, tables_of
from tidscope_backend.comparison.sides import ComparisonError, Side, Window, find_sides
from tidscope_backend.notebook import compare, open_run
from tidscope_backend.store.cut_parts import RunCutter
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.threads_table import threads_table
from tidscope_wire.pools import FIGURES

MS = 1_000_000
NS = 1_000_000_000


@pytest.fixture(params=[True, False], ids=["ended", "recording"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / write_run(tmp_path, ended=request.param).id


def lives(path: Path, first: int, last: int) -> dict[str, dict[str, Any]]:
    """Threads from one frame to another, by name."""
    parts = RunCutter(RunReader(path)).parts(time_ns(first), time_ns(last))
    return {row["name"]: row for row in threads_table(parts, FIELDS).to_pylist()}


def ran_ms(life: dict[str, Any]) -> tuple[int, int]:
    """CPU time at both ends."""
    return life["first"]["cpu_run_ns"] // MS, life["last"]["cpu_run_ns"] // MS


def test_threads_have_their_counters_of_both_ends(run: Path) -> None:
    found = lives(run, 6, 17)
    assert {name: ran_ms(one) for name, one in found.items()} == {
        "main": (300, 850),
        "worker-1": (7, 87),
        # The thread ended in the window, with the totals of its exit.
        "worker-2": (300, 450),
    }
    assert [found[name]["exited"] for name in ("main", "worker-2")] == [False, True]
    assert found["worker-2"]["role"] == "worker-#"
    assert {one["from_ns"] for one in found.values()} == {time_ns(6)}


def test_what_ended_before_is_not_there_and_what_was_born_within_began_at_0(run: Path) -> None:
    assert set(lives(run, 9, 24)) == {"main", "worker-1"}
    assert ran_ms(lives(run, 2, 6)["worker-2"]) == (0, 300)


def test_all_of_the_run_is_as_the_run_itself(run: Path) -> None:
    cut = lives(run, 1, FRAMES)
    whole = {row["name"]: row for row in RunReader(run).threads().to_pylist()}
    assert cut == whole


def test_windows_that_follow_one_another_add_up(run: Path) -> None:
    bounds = [1, 5, 9, 14, 19, FRAMES]
    grown = [
        sum(last - first for first, last in map(ran_ms, lives(run, at, to).values()))
        for at, to in pairwise(bounds)
    ]
    assert grown == [200 + 200, 200 + 250, 250, 250 + 80, 300]


def test_two_windows_of_one_run_are_compared(run: Path) -> None:
    sides = [[Side(run, Window(0, 0.8))], [Side(run, Window(1.2, 2.4))]]
    found = compare_folders(sides)
    assert [one.run for one in found.runs] == [f"{run.name}@0-0.8", f"{run.name}@1.2-2.4"]
    assert [one.duration_ns // MS for one in found.runs] == [800, 1200]
    assert found.runs[1].zero_ns == time_ns(13)
    cpu = next(one for one in found.metrics if (one.metric, one.role) == ("cpu_run_ns", None))
    assert [group.mean for group in cpu.groups] == [
        pytest.approx((400 + 450) / 800 * NS),
        pytest.approx((600 + 80) / 1200 * NS),
    ]
    assert {one.metric for one in found.metrics} >= {"threads", "duration_s"}
    # The steering's operations are those of the window: the decision is at 1.1 s.
    assert tables_of(Side(run, Window(1, 2))).events
    assert not tables_of(Side(run, Window(1.2, 2.4))).events


def test_a_window_beyond_the_run_is_refused(run: Path) -> None:
    with pytest.raises(ComparisonError, match=r"no two samples from 10–20 s: it is 2\.4 s long"):
        tables_of(Side(run, Window(10, 20)))


def test_pools_are_of_the_window(tmp_path: Path) -> None:
    known = sum(1 << FIGURES.index(name) for name in FIGURES)

    def frame(seq: int, *, key: bool = False) -> bytes:
        """At second `seq` 10 * seq² jobs are done."""
        tables = busy_pool(finished=10 * seq**2, read_ns=seq * NS, known=known, name="pool")
        identity = {100: (-1, "main")} if key else None
        rows: dict[int, list[int | None]] = {100: [seq, 0]}
        return frame_bytes(
            seq, rows, identity=identity, time_ns=seq * NS, fields=FIELDS, tables=tables
        )

    parts = [[frame(n, key=n % 4 == 1) for n in range(at, at + 4)] for at in (1, 5, 9)]
    path = run_folder(tmp_path / "run", parts, FIELDS, 2).path

    def finished(from_s: float, to_s: float) -> int:
        return tables_of(Side(path, Window(from_s, to_s))).pools["pool"].counted["finished"]

    # Seconds since attach are one more.
    assert [finished(0, 5), finished(2, 9), finished(5, 11)] == [350, 910, 1080]


def test_people_name_windows_by_the_name_of_the_run(tmp_path: Path) -> None:
    first = write_run(tmp_path, 1, name="work")
    second = write_run(tmp_path, 2, name="odd@1-2", group="before")
    assert [side.id for side in find_sides(tmp_path, "work@0-1,work@1-2")] == [
        f"{first.id}@0-1",
        f"{first.id}@1-2",
    ]
    assert [side.id for side in find_sides(tmp_path, "odd@1-2")] == [second.id]
    assert [side.id for side in find_sides(tmp_path, "before@0-1.5")] == [f"{second.id}@0-1.5"]
    found = compare([f"{tmp_path / first.id}@0-1", open_run(tmp_path / second.id)])
    assert [one.run for one in found.runs] == [f"{first.id}@0-1", second.id]


def test_the_command_compares_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path, 1, name="work")
    parser = argparse.ArgumentParser()
    COMMAND.add_arguments(parser)
    options = parser.parse_args(["work@0-1", "work@1-2", "--runs-dir", str(tmp_path)])
    assert COMMAND.run(options) == 0
    text = capsys.readouterr().out
    assert "work 0–1 s" in text
    assert "work 1–2 s" in text
    assert "CPU" in text


def test_policies_are_those_that_steered_in_the_window(tmp_path: Path) -> None:
    policies = [policy(5.3), policy(6.2, "pss")]
    path = tmp_path / write_run(tmp_path, policies=policies).id

    def steered(from_s: float, to_s: float) -> list[str]:
        manifest = tables_of(Side(path, Window(from_s, to_s))).manifest
        return [one.policy for one in manifest.policies]

    # The run begins at second 5 of the target.
    assert steered(0, 0.2) == []
    assert steered(0.5, 1) == ["linear"]
    assert steered(1, 1.5) == ["linear", "pss"]
    assert steered(1.3, 2) == ["pss"]
