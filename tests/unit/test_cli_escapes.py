"""No name that somebody chose steers the terminal of who reads about it."""

import ast
import io
import json
import os
import pty
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backend_builders import host, target
from compared_runs import run_id
from pydantic import BaseModel
from run_builders import outcome
from scripted_run import FIELDS, write_run
from tidscope_backend import cli
from tidscope_backend.cli import doctor, main
from tidscope_backend.cli.backend_client import BackendClient, RefusedError
from tidscope_backend.cli.command import ProgressLine, print_lines
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.part_files import write_table
from tidscope_wire.generated.models import (
    DoctorCheck,
    DoctorReport,
    KnobOption,
    PoliciesResponse,
    SteeringOptions,
)

HOSTILE = "a\x1b]0;owned\x07\x9b2J\r\n\t\u202eb\u2066\x7f"
SHOWN = r"a\u001b]0;owned\u0007\u009b2J\u000d\u000a\u0009\u202eb\u2066\u007f"


@pytest.fixture
def hostile_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs in which every name is hostile."""
    monkeypatch.setenv("TIDSCOPE_RUNS", str(tmp_path))
    program = target().process.model_copy(update={"name": HOSTILE})
    for number in (1, 2):
        manifest = write_run(
            tmp_path,
            number,
            name=HOSTILE,
            tags=[HOSTILE],
            notes=f"first\n{HOSTILE}",
            host=host(name=HOSTILE),
            target=target().model_copy(update={"process": program, "fields": list(FIELDS)}),
            outcome=outcome(command=["run", HOSTILE]),
            end="backend-lost",
            end_detail=HOSTILE,
        )
        path = RunFolder(tmp_path / manifest.id).threads
        threads = pq.read_table(path)
        names = pa.array([HOSTILE] * threads.num_rows, pa.utf8())
        for column in ("name", "role"):
            threads = threads.set_column(threads.column_names.index(column), column, names)
        write_table(path, threads)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Output of a command, checked to be harmless."""
    assert main(arguments) == code
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert {character for character in text if not character.isprintable()} == {"\n"}
    return text


def test_list_of_runs(capsys: pytest.CaptureFixture[str], hostile_runs: Path) -> None:
    lines = printed(capsys, "runs", "list").splitlines()
    assert len(lines) == 2
    assert all(f"{SHOWN} #{SHOWN}" in line for line in lines)


def test_show_of_a_run(capsys: pytest.CaptureFixture[str], hostile_runs: Path) -> None:
    lines = printed(capsys, "runs", "show", run_id(1)).splitlines()
    assert lines[0].startswith(f"{run_id(1)} ({SHOWN}): ")
    assert f"  command    run {SHOWN}" in lines
    assert f"  cut short  {SHOWN}" in lines
    assert any(line.startswith(f"  process    {SHOWN} (100) on {SHOWN}, ") for line in lines)
    # Notes keep their own lines.
    place = lines.index("  notes      first")
    assert lines[place + 1].strip() == r"a\u001b]0;owned\u0007\u009b2J\u000d"
    # A role and three threads, a line each.
    tables = lines[lines.index("", 1) :]
    assert len([line for line in tables if line.endswith(f"  {SHOWN}")]) == 1 + 3


def test_comparison(capsys: pytest.CaptureFixture[str], hostile_runs: Path) -> None:
    text = printed(capsys, "compare", run_id(1), run_id(2), "--roles", "--mark", "none")
    assert f"{SHOWN} is aligned at its start" in text


def test_an_error_keeps_its_lines_and_nothing_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> BaseModel:
        raise RefusedError(f"one\ntwo {HOSTILE}")

    monkeypatch.setenv("TIDSCOPE_TOKEN", "a token")
    monkeypatch.setattr(BackendClient, "request_model", fail)
    lines = printed(capsys, "steer", "--pid", "100", "--options", code=1).splitlines()
    assert lines[:2] == ["tidscope steer: one", r"  two a\u001b]0;owned\u0007\u009b2J\u000d"]
    assert all(line.startswith("  ") for line in lines[1:])


def test_json_is_the_same_json(capsys: pytest.CaptureFixture[str], hostile_runs: Path) -> None:
    assert [run["name"] for run in json.loads(printed(capsys, "runs", "list", "--json"))] == [
        HOSTILE,
        HOSTILE,
    ]
    shown = json.loads(printed(capsys, "runs", "show", run_id(1), "--json"))
    assert {thread["name"] for thread in shown["threads"]} == {HOSTILE}
    compared = json.loads(printed(capsys, "compare", run_id(1), run_id(2), "--json"))
    assert {run["name"] for run in compared["runs"]} == {HOSTILE}


@pytest.mark.parametrize("as_json", [False, True])
def test_doctor(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    as_json: bool,
) -> None:
    check = DoctorCheck(
        name="a", title=HOSTILE, status="ok", finding=HOSTILE, impact=HOSTILE, fix=HOSTILE
    )
    report = DoctorReport(
        host=HOSTILE, kernel="6.18", checked_unix_ms=1, status="ok", checks=[check]
    )
    file = tmp_path / "report.json"
    file.write_text(report.model_dump_json())
    monkeypatch.setattr(doctor, "collector_command", lambda *_: ["cat", str(file)])
    if as_json:
        assert json.loads(printed(capsys, "doctor", "--json"))["host"] == HOSTILE
    else:
        assert printed(capsys, "doctor").startswith(f"{SHOWN}, Linux 6.18: ok\n")


@pytest.mark.parametrize("as_json", [False, True])
def test_steer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    knob = KnobOption(kind="go-agent", refusal=HOSTILE, lower=None, upper=None, size=None)
    answers: dict[type[BaseModel], BaseModel] = {
        SteeringOptions: SteeringOptions(knobs=[knob], signals=[], steering=None),
        PoliciesResponse: PoliciesResponse(policies=[]),
    }
    monkeypatch.setenv("TIDSCOPE_TOKEN", "a token")
    monkeypatch.setattr(
        BackendClient,
        "request_model",
        lambda _self, _path, answer, *_: answers.get(answer, target()),
    )
    if as_json:
        text = printed(capsys, "steer", "--pid", "100", "--options", "--json")
        assert json.loads(text)["knobs"][0]["refusal"] == HOSTILE
    else:
        text = printed(capsys, "steer", "--pid", "100", "--options")
        assert f"knob    go-agent       {SHOWN}\n" in text


def test_policies_name_a_file_that_cannot_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = printed(capsys, "policies", "bench", "--scenario", str(tmp_path / HOSTILE), code=2)
    assert f"{tmp_path}/{SHOWN}: cannot be read" in text


def test_progress_is_escaped_and_then_cut() -> None:
    reading, writing = pty.openpty()
    stream = os.fdopen(writing, "w")
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(sys, "stderr", stream)
            ProgressLine(shown=True).show("\x1b" * 100)
        assert os.read(reading, 4096).decode() == "\r\x1b[K" + (r"\u001b" * 14)[:79]
    finally:
        stream.close()
        os.close(reading)


def test_a_line_is_one_line() -> None:
    file = io.StringIO()
    print_lines("one\ntwo", "three", file=file)
    assert file.getvalue() == "one\\u000atwo\nthree\n"


def test_nothing_else_of_the_command_line_prints() -> None:
    (folder,) = cli.__path__
    paths = list(Path(folder).rglob("*.py"))
    assert len(paths) > 20
    printers = {("command.py", "print_lines"), ("command.py", "ProgressLine")}
    found = [
        f"{path.name}:{node.lineno}"
        for path in paths
        for part in ast.parse(path.read_text()).body
        if (path.name, getattr(part, "name", "")) not in printers
        for node in ast.walk(part)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("print", "sys.stdout.write", "sys.stderr.write")
    ]
    assert found == []
