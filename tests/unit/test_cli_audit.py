"""`tidscope audit`: the logs of a machine as one list, escaped."""

from pathlib import Path

import pytest
from backend_builders import ACTOR
from tidscope_backend.cli import main
from tidscope_wire.audit import AuditLog
from tidscope_wire.generated.models import Actor, AuditRecord

HOSTILE = Actor(session=None, role=None, label="\x1b]0;owned\x07")


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    AuditLog(first).write("sign-in", "done", ACTOR, "s-9")
    AuditLog(second).write("attach", "refused", HOSTILE, "process 1", {"process": "\x9b2J"})
    AuditLog(first).write("release", "done", ACTOR, "t-1")
    return ["--file", str(first), "--file", str(second)]


def test_logs_are_joined_by_time_and_escaped(
    logs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", *logs]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == [
        "a test  sign-in  s-9  done",
        r"\u001b]0;owned\u0007  attach  process 1  refused  process=\u009b2J",
        "a test  release  t-1  done",
    ]


def test_as_json(logs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--json", *logs]) == 0
    text = capsys.readouterr().out
    records = [AuditRecord.model_validate_json(line) for line in text.splitlines()]
    assert [record.action for record in records] == ["sign-in", "attach", "release"]
    assert records[1].actor == HOSTILE
    assert "\x1b" not in text


def test_a_log_that_cannot_be_read_is_named(
    logs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.jsonl").mkdir()
    assert main(["audit", *logs, "--file", str(tmp_path / "c.jsonl")]) == 1
    said = capsys.readouterr()
    assert "c.jsonl: Is a directory" in said.err
    assert len(said.out.splitlines()) == 3


def test_no_log_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--file", str(tmp_path / "none.jsonl")]) == 1
    assert "there is no audit log here" in capsys.readouterr().err
