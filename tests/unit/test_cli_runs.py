"""`tidscope runs` and `tidscope compare`, over a folder of runs and without a backend."""

import json
from pathlib import Path

import pytest
from compared_runs import run_id
from scripted_run import write_run
from tidscope_backend.cli import main
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.lock import RunLock


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("TIDSCOPE_RUNS", str(folder))
    for number, name in ((1, "before"), (2, "after"), (3, "after")):
        write_run(folder, number, name=name)
    return folder


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 1
    return capsys.readouterr().err


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, "runs", "list").splitlines()
    assert [line.split()[0] for line in lines] == [run_id(3), run_id(2), run_id(1)]
    assert "2.4 s" in lines[0]
    as_json = json.loads(told(capsys, "runs", "list", "--json"))
    assert [run["name"] for run in as_json] == ["after", "after", "before"]


def test_show(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    text = told(capsys, "runs", "show", "before")
    # 1.2 s of main, 80 ms of worker-1 and 450 ms of worker-2.
    assert "CPU 1.73 s" in text
    assert "1.20 s  main (1 thread)" in text
    assert "530.00 ms  worker-# (2 threads)" in text
    assert str(runs / run_id(1)) in text
    assert json.loads(told(capsys, "runs", "show", "before", "--json"))["id"] == run_id(1)


def test_rename_and_tag(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    told(capsys, "runs", "rename", "before", "long ago")
    told(capsys, "runs", "tag", "long", "a", "b")
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
    told(capsys, "runs", "delete", "before")


def test_delete_and_restore(capsys: pytest.CaptureFixture[str], runs: Path) -> None:
    assert "could be any of 2" in refused(capsys, "runs", "delete", "after")
    told(capsys, "runs", "delete", "before")
    assert not (runs / run_id(1)).exists()
    assert "no run" in refused(capsys, "runs", "show", "before")
    told(capsys, "runs", "restore", run_id(1))
    assert (runs / run_id(1)).exists()
    assert "no run '../x'" in refused(capsys, "runs", "restore", "../x")


@pytest.mark.parametrize("ending", ["tar.zst", "parquet", "csv", "json"])
def test_export(capsys: pytest.CaptureFixture[str], tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"run.{ending}"
    told(capsys, "runs", "export", "before", str(file))
    assert file.stat().st_size > 100
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [file.name]


def test_import(capsys: pytest.CaptureFixture[str], tmp_path: Path, runs: Path) -> None:
    file = tmp_path / "run.tar.zst"
    told(capsys, "runs", "export", "before", str(file))
    told(capsys, "runs", "import", str(file))
    assert len(list(runs.glob("r-*"))) == 4
    file.write_bytes(b"nothing")
    assert "zstd" in refused(capsys, "runs", "import", str(file))
    assert "ends with" in refused(capsys, "runs", "export", run_id(1), str(tmp_path / "run.zip"))


def test_compare(capsys: pytest.CaptureFixture[str]) -> None:
    groups = ("before", f"{run_id(2)},{run_id(3)}")
    found = json.loads(told(capsys, "compare", *groups, "--json", "--match", "before:main=m"))
    assert [group["runs"] for group in found["groups"]] == [[run_id(1)], [run_id(2), run_id(3)]]
    assert [role["label"] for role in found["roles"] if role["manual"]] == ["m"]
    lines = told(capsys, "compare", *groups).splitlines()
    (cpu,) = [line for line in lines if line.startswith("On-CPU time (s)")]
    assert cpu.split() == ["On-CPU", "time", "(s)", "1.73", "1.73", "±", "0", "(+0.0", "%)"]
    assert not [line for line in lines if "threads main" in line]
    assert "threads main:" in told(capsys, "compare", *groups, "--roles")
    text = told(capsys, "compare", *groups, "--mark", "x")
    assert "before stands at its start: it has no mark 'x'" in text


def test_what_cannot_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert "2 to 8 runs" in refused(capsys, "compare", "before")
    assert "twice" in refused(capsys, "compare", "before", "before")
    assert "could be any of 2" in refused(capsys, "compare", "before", "after")
    assert "RUN:ROLE=LABEL" in refused(capsys, "compare", "before", run_id(2), "--match", "x")
