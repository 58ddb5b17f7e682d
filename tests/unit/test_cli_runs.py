"""`tidscope runs` and `tidscope compare`, over a folder of runs and without a backend."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compared_runs import run_id
from run_builders import losses
from scripted_run import time_ns, write_run
from tidscope_backend.cli import VERBS, main
from tidscope_backend.cli.run_report import report
from tidscope_backend.cli.run_text import details, summary
from tidscope_backend.store.folder import RunFolder, RunLock
from tidscope_backend.text import format_bytes
from tidscope_wire.generated.models import RunOutcome


@pytest.fixture(scope="module")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    for number, name in ((1, "before"), (2, "after"), (3, "after")):
        write_run(folder, number, name=name)
    return folder


@pytest.fixture(autouse=True)
def runs(three_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("TIDSCOPE_RUNS", str(folder))
    return shutil.copytree(three_runs, folder)


def reported(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 1
    return capsys.readouterr().err


def make_outcome(**changes: Any) -> RunOutcome:
    """A command that succeeded, but for what is changed."""
    values: dict[str, Any] = {
        "command": ["true"],
        "exit_code": 0,
        "signal": None,
        "elapsed_us": 1000,
        "user_cpu_us": 0,
        "system_cpu_us": 0,
        "max_rss_bytes": 1024**2,
        "major_faults": 0,
        "minor_faults": 1,
        "voluntary_switches": 0,
        "involuntary_switches": 0,
        "output_bytes": 0,
        "output_tail": "",
    }
    return RunOutcome.model_validate({**values, **changes})


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    lines = reported(capsys, "runs", "list").splitlines()
    assert [line.split()[0] for line in lines] == [run_id(3), run_id(2), run_id(1)]
    assert "2.4 s" in lines[0]
    as_json = json.loads(reported(capsys, "runs", "list", "--json"))
    assert [run["name"] for run in as_json] == ["after", "after", "before"]


def test_show(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    text = reported(capsys, "runs", "show", "before")
    # 1.2 s of main, 80 ms of worker-1 and 450 ms of worker-2; a delay of main alone is known.
    assert "CPU 1.73 s, run-queue delay 240.0 ms, block I/O delay n/a" in text
    assert "disk read n/a, written n/a" in text
    assert str(runs / run_id(1)) in text
    assert table(text, "ROLE") == [
        ["THREADS", "CPU", "RUN-QUEUE", "ROLE"],
        ["1", "1.20 s", "240.0 ms", "main"],
        ["2", "530.0 ms", "0 µs", "worker-#"],
    ]
    assert table(text, "THREAD") == [
        ["TID", "CPU", "RUN-QUEUE", "THREAD"],
        ["100", "1.20 s", "240.0 ms", "main"],
        ["102", "450.0 ms", "0 µs", "worker-2"],
        ["101", "80.0 ms", "n/a", "worker-1"],
    ]


def table(text: str, last_heading: str) -> list[list[str]]:
    """The cells of the table whose last heading this is."""
    (block,) = [part for part in text.split("\n\n") if part.split("\n")[0].endswith(last_heading)]
    return [re.split(r"  +", line.strip()) for line in block.splitlines()]


def test_show_as_json(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    found = json.loads(reported(capsys, "runs", "show", "before", "--json"))
    assert found["manifest"]["id"] == run_id(1)
    assert found["disk_bytes"] == RunFolder(runs / run_id(1)).bytes()
    assert found["totals"] == {"cpu_run_ns": 1_730_000_000, "cpu_delay_ns": 240_000_001}
    assert [(role["role"], role["threads"]) for role in found["roles"]] == [
        ("main", 1),
        ("worker-#", 2),
    ]
    assert found["threads"][2] == {
        "tid": 101,
        "name": "worker-1",
        "role": "worker-#",
        "exited": False,
        "fields": {"cpu_run_ns": 80_000_000},
    }


def test_show_has_switches_disk_and_network(runs: Path) -> None:
    fields = {
        "voluntary_switches": 12,
        "involuntary_switches": 3,
        "disk_read_bytes": 3 * 1024**2,
        "disk_write_bytes": 512,
        "net_read_bytes": 2048,
        "net_write_bytes": 100,
    }
    found = report(RunFolder(runs / run_id(1)))
    text = "\n".join(details(replace(found, totals={**found.totals, **fields}), "there"))
    assert "context switches 12 voluntary, 3 involuntary" in text
    assert "disk read 3.0 MiB, written 512 B" in text
    assert "network received 2.0 KiB, sent 100 B" in text


def test_show_lists_so_many_threads(runs: Path) -> None:
    found = report(RunFolder(runs / run_id(1)))
    assert details(found, "there", threads=2)[-1] == (
        "1 more thread with less CPU time; --all lists them"
    )
    assert len(table("\n".join(details(found, "there", threads=None)), "THREAD")) == 4


def test_what_children_used_comes_first(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    """A run of one process does not show it; what the parent alone used is already known."""
    text = "This run shows one process; its children used 12.34 s of CPU that are not in it."
    folder = RunFolder(runs / run_id(1))
    for used, shown in ((12_340_000, [text]), (0, []), (None, [])):
        outcome = make_outcome(children_cpu_us=used)
        folder.write_manifest(folder.read_manifest().model_copy(update={"outcome": outcome}))
        found = report(folder)
        first = 1 if shown else 0
        assert summary(folder.read_manifest(), found, "127.0.0.1:1")[:first] == shown
        assert details(found, "there")[:first] == shown
        assert found.json_object()["missing"] == (text if shown else None)
        compared = reported(capsys, "compare", "before", run_id(2)).splitlines()
        assert compared[:first] == [f"before: {one}" for one in shown]
        assert (text in reported(capsys, "runs", "show", "before")) == bool(shown)
    folder.write_manifest(
        folder.read_manifest().model_copy(
            update={"outcome": make_outcome(children_cpu_us=1_000_000), "losses": losses(frames=2)}
        )
    )
    assert "frame" in summary(folder.read_manifest(), None, "127.0.0.1:1")[0]
    assert "its children used 1.00 s" in summary(folder.read_manifest(), None, "127.0.0.1:1")[1]


def test_what_threads_do_not_show_comes_first(runs: Path) -> None:
    """1.73 s of CPU are shown; children and what a few ticks may explain are no part of it."""
    found = report(RunFolder(runs / run_id(1)))
    for used, children, first in (
        (1_780_000, 0, "recorded"),
        (4_000_000, 2_250_000, "recorded"),
        (4_000_000, None, "recorded"),
        (4_000_000, 2_000_000, "The command used 2.00 s of CPU, its threads show 1.73 s."),
    ):
        ended = make_outcome(user_cpu_us=used - 500, system_cpu_us=500, children_cpu_us=children)
        manifest = found.manifest.model_copy(update={"outcome": ended})
        lines = summary(manifest, found, "127.0.0.1:1")
        assert lines[1 if children else 0].startswith(first)
    source = manifest.target.source.model_copy(update={"exits": False, "exits_reason": "No rights"})
    target = manifest.target.model_copy(update={"source": source})
    manifest = manifest.model_copy(update={"target": target})
    line = "The command used 2.00 s of CPU, its threads show 1.73 s. No rights."
    assert summary(manifest, found, "127.0.0.1:1")[1] == line
    # Without the files, the address of their owner is shown.
    elsewhere = summary(manifest, None, "127.0.0.1:1")
    assert elsewhere[-1].endswith(f" http://127.0.0.1:1/runs/{run_id(1)}")


def test_samples_that_were_not_taken_are_printed(runs: Path) -> None:
    folder = RunFolder(runs / run_id(3))
    late = folder.read_manifest().model_copy(update={"losses": losses(deadlines_missed=179)})
    lines = summary(late, None, "127.0.0.1:1")
    assert (
        "  coarser    179 samples due and not taken: the host was busy; totals are whole" in lines
    )


def test_what_is_missing_comes_first(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    """Every command first reports the losses of a run."""
    folder = RunFolder(runs / run_id(3))
    lost = losses(frames=12, gaps=2, missing_ns=1_400_000_000, exit_records_lost=3)
    lossy = folder.read_manifest().model_copy(update={"state": "incomplete", "losses": lost})
    folder.write_manifest(lossy)
    missing = "12 frames in 2 gaps (1.4 s), 3 exit records"
    assert f"  [incomplete: {missing}] after" in reported(capsys, "runs", "list").splitlines()[0]
    shown = reported(capsys, "runs", "show", run_id(3)).splitlines()
    assert shown[0] == f"incomplete: {missing} missing"
    assert summary(lossy, None, "127.0.0.1:1")[0] == shown[0]
    compared = reported(capsys, "compare", run_id(1), run_id(3)).splitlines()
    assert compared[0] == f"incomplete: after: {missing} missing"
    for arguments in (("runs", "list", "--json"), ("runs", "show", run_id(3), "--json")):
        found = json.loads(reported(capsys, *arguments))
        first = found[0] if isinstance(found, list) else found
        assert next(iter(first.items())) == ("missing", missing)
    whole = json.loads(reported(capsys, "runs", "show", "before", "--json"))
    assert next(iter(whole.items())) == ("missing", None)


@pytest.mark.parametrize(
    ("exit_code", "killed_by", "shown"),
    [(0, None, None), (3, None, "[exit code 3]"), (None, "SIGKILL", "[killed by SIGKILL]")],
)
def test_a_command_that_failed_is_marked_in_the_list(
    capsys: pytest.CaptureFixture[str],
    runs: Path,
    exit_code: int | None,
    killed_by: str | None,
    shown: str | None,
) -> None:
    outcome = make_outcome(exit_code=exit_code, signal=killed_by)
    write_run(runs, 4, name="command", outcome=outcome)
    line, *_ = reported(capsys, "runs", "list").splitlines()
    assert line.endswith(f"command {shown}" if shown else "command")
    first, *others = json.loads(reported(capsys, "runs", "list", "--json"))
    assert first["failed"] == (shown is not None)
    assert {other["failed"] for other in others} == {None}


def test_the_size_is_that_of_the_files(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    """Not that of the frames, which the manifest counts until the last part is sealed."""
    folder = RunFolder(runs / run_id(1))
    manifest = folder.read_manifest()
    counts = manifest.counts.model_copy(update={"bytes": 999 * 1024**2})
    folder.write_manifest(manifest.model_copy(update={"counts": counts}))
    size = format_bytes(folder.bytes())
    assert f"{size} on disk" in reported(capsys, "runs", "show", "before").splitlines()[0]
    (line,) = [line for line in reported(capsys, "runs", "list").splitlines() if "before" in line]
    assert size in line
    assert "999" not in line


def test_rename_and_tag(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    reported(capsys, "runs", "rename", "before", "long ago")
    reported(capsys, "runs", "tag", "long", "a", "b")
    manifest = RunFolder(runs / run_id(1)).read_manifest()
    assert (manifest.name, manifest.tags) == ("long ago", ["a", "b"])
    assert "120 char" in refused(capsys, "runs", "rename", "long", "x" * 121)


def test_what_is_being_recorded_is_left_alone(
    capsys: pytest.CaptureFixture[str], runs: Path
) -> None:
    lock = RunLock.acquire(RunFolder(runs / run_id(1)))
    assert lock is not None
    for arguments in (("delete", "before"), ("rename", "before", "x"), ("tag", "before")):
        assert "is being recorded" in refused(capsys, "runs", *arguments)
    lock.release()
    reported(capsys, "runs", "delete", "before")


def test_delete_and_restore(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    assert "could be any of 2" in refused(capsys, "runs", "delete", "after")
    reported(capsys, "runs", "delete", "before")
    assert not (runs / run_id(1)).exists()
    assert "no run" in refused(capsys, "runs", "show", "before")
    reported(capsys, "runs", "restore", run_id(1))
    assert (runs / run_id(1)).exists()
    assert "no run '../x'" in refused(capsys, "runs", "restore", "../x")


@pytest.mark.parametrize("ending", ["tar.zst", "parquet", "csv", "json"])
def test_export(capsys: pytest.CaptureFixture[str], tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"run.{ending}"
    reported(capsys, "runs", "export", "before", str(file))
    assert file.stat().st_size > 100
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [file.name]


def test_import(capsys: pytest.CaptureFixture[str], tmp_path: Path, runs: Path) -> None:
    file = tmp_path / "run.tar.zst"
    reported(capsys, "runs", "export", "before", str(file))
    reported(capsys, "runs", "import", str(file))
    assert len(list(runs.glob("r-*"))) == 4
    file.write_bytes(b"nothing")
    assert "zstd" in refused(capsys, "runs", "import", str(file))
    assert "ends with" in refused(capsys, "runs", "export", run_id(1), str(tmp_path / "run.zip"))


def test_compare(capsys: pytest.CaptureFixture[str]) -> None:
    groups = ("before", f"{run_id(2)},{run_id(3)}")
    found = json.loads(reported(capsys, "compare", *groups, "--json", "--match", "before:main=m"))
    assert [group["runs"] for group in found["groups"]] == [[run_id(1)], [run_id(2), run_id(3)]]
    assert [role["label"] for role in found["roles"] if role["manual"]] == ["m"]
    lines = reported(capsys, "compare", *groups).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("On-CPU time (cores)"))
    assert lines[place].split() == ["On-CPU", "time", "(cores)", "0.7208", "0.7208", "±", "0"]
    assert lines[place + 1].split() == ["+0.0", "%", "equal"]
    assert not [line for line in lines if "threads main" in line]
    assert "threads main:" in reported(capsys, "compare", *groups, "--roles")
    text = reported(capsys, "compare", *groups, "--mark", "x")
    assert "before is aligned at its start: it has no mark 'x'" in text


def test_compare_prints_intervals_and_not_standard_deviations(
    capsys: pytest.CaptureFixture[str], runs: Path
) -> None:
    # Three repeats a side whose lengths, and so their rates, differ.
    for number, seconds in ((4, 2.0), (5, 2.1), (6, 2.2), (7, 4.0), (8, 4.1), (9, 4.2)):
        group = "short" if number < 7 else "long"
        to_ns = time_ns(1) + round(seconds * 1e9)
        write_run(runs, number, name=f"{group}-{number}", group=group, to_ns=to_ns)
    found = json.loads(reported(capsys, "compare", "short", "long", "--json"))
    assert [len(group["runs"]) for group in found["groups"]] == [3, 3]
    assert [group["label"] for group in found["groups"]] == ["short", "long"]
    (row,) = [one for one in found["metrics"] if one["metric"] == "duration_s"]
    first, other = row["groups"]
    # t(2) · s / √3 is 2.48 standard deviations.
    half = first["high"] - first["mean"]
    assert half == pytest.approx(first["std_dev"] * 4.302653 / 3**0.5, rel=1e-5)
    text = reported(capsys, "compare", "short", "long")
    (line,) = [line for line in text.splitlines() if line.startswith("Duration (s)")]
    assert f"{first['mean']:.4g} ± {half:.2g}" in line
    assert f"{other['mean']:.4g} ± {other['high'] - other['mean']:.2g}" in line
    (difference,) = row["differences"]
    below = text.splitlines()[text.splitlines().index(line) + 1]
    low, high = (100 * difference[end] / first["mean"] for end in ("low", "high"))
    assert f"{difference['percent']:+.1f} % [{low:+.1f}, {high:+.1f}] more" in below


def test_compare_knows_groups_by_name(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    for number in (4, 5):
        write_run(runs, number, name=f"night {number}", group="night")
    found = json.loads(reported(capsys, "compare", "before", "night", "--json"))
    assert [group["runs"] for group in found["groups"]] == [[run_id(1)], [run_id(4), run_id(5)]]
    write_run(runs, 7, name="fast", group="four workers, small chunks")
    found = json.loads(
        reported(capsys, "compare", "before", "four workers, small chunks", "--json")
    )
    assert [group["runs"] for group in found["groups"]] == [[run_id(1)], [run_id(7)]]
    # A group of the name of a run: nobody can say which is meant.
    write_run(runs, 6, name="x", group="before")
    assert "both a run and a group of 1 runs" in refused(capsys, "compare", "before", "night")
    found = json.loads(reported(capsys, "compare", "run:before", "group:before", "--json"))
    assert [group["runs"] for group in found["groups"]] == [[run_id(1)], [run_id(6)]]
    assert "groups: before, four workers, small chunks, night" in refused(
        capsys, "compare", "group:day", "night"
    )
    assert "no run in" in refused(capsys, "compare", "day", "night")


def test_compare_totals_only_when_asked(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    write_run(runs, 4, name="long", to_ns=time_ns(1) + 4_800_000_000)
    text = reported(capsys, "compare", "before", "long")
    assert "On-CPU time (cores)" in text
    assert "Operations" not in text
    text = reported(capsys, "compare", "before", "long", "--totals")
    assert "On-CPU time (s)" in text
    assert "Totals of runs of different length have no verdict; leave out --totals." in text


def test_what_cannot_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert "2 to 8 runs" in refused(capsys, "compare", "before")
    assert "twice" in refused(capsys, "compare", "before", "before")
    assert "could be any of 2" in refused(capsys, "compare", "before", "after")
    assert "RUN:ROLE=LABEL" in refused(capsys, "compare", "before", run_id(2), "--match", "x")


def closed_pipe() -> int:
    """The writing end of a pipe whose reader has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize(
    "arguments",
    [
        *((verb, "--help") for verb in VERBS),
        ("runs", "list", "--json"),
        ("runs", "show", "before"),
        ("runs", "export", "before", "-", "--format", "csv"),
        ("compare", "before", run_id(2)),
        ("policies", "list"),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_gone_ends_a_command_quietly(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with open(closed_pipe(), "w") as stdout, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stdout)
        assert main(arguments) == 128 + signal.SIGPIPE
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("arguments", [("--help",), ("runs", "list")], ids=" ".join)
def test_a_reader_that_has_gone_ends_a_process_quietly(arguments: tuple[str, ...]) -> None:
    """The interpreter's own flush at its exit says nothing, either."""
    writing = closed_pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tidscope_backend", *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            # Unbuffered, argparse itself drops the error of a --help.
            env={**os.environ, "PYTHONUNBUFFERED": ""},
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")
