"""The audit trail, and the command that reads it."""

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from backend_builders import ACTOR
from tidscope_backend.cli import main
from tidscope_wire.audit import FILES, AuditError, AuditLog, AuditTrail, older_file, read_records
from tidscope_wire.generated.models import Actor, AuditRecord

HOSTILE = 'x"}\n{"unix_us":1,"action":"release"}\u2028\x1b[2J\x9b1m\x7f\ud800'


def records(path: Path) -> list[AuditRecord]:
    return list(read_records(path))


def test_lines_are_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log" / "audit.jsonl"
    AuditLog(path).write("steer", "started", ACTOR, "t-1", {"policy": "fixed"})
    AuditLog(path).write("steer", "done", ACTOR)
    first, second = records(path)
    assert (first.action, first.outcome, first.actor, first.object) == (
        *("steer", "started", ACTOR, "t-1"),
    )
    assert (first.details, second.details, second.object) == ({"policy": "fixed"}, {}, None)
    assert first.unix_us <= second.unix_us
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_no_name_can_forge_a_line_or_reach_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    actor = Actor(session=None, role=None, label=HOSTILE[:-1])
    AuditLog(path).write("attach", "done", actor, HOSTILE, {"process": HOSTILE})
    text = path.read_bytes()
    assert text.count(b"\n") == 1
    assert text.strip().decode("ascii").isprintable()
    (record,) = records(path)
    assert record.actor.label == HOSTILE[:-1]
    assert record.object == record.details["process"] == HOSTILE[:-1] + "?"


def test_long_names_and_many_details_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    details = {f"d{number}": "y" * 100_000 for number in range(1000)}
    AuditLog(path).write("patch", "done", ACTOR, "z" * 100_000, details)
    assert path.stat().st_size < 8192
    (record,) = records(path)
    assert (len(record.object or ""), len(record.details)) == (256, 16)


def test_files_are_rotated_and_the_oldest_lines_go(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path, file_bytes=2000)
    for number in range(400):
        log.write("attach", "done", ACTOR, str(number))
    files = sorted(tmp_path.iterdir())
    assert files == [older_file(path, number) for number in range(FILES)]
    assert all(file.stat().st_size <= 2000 for file in files)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    left = [int(record.object or "") for record in records(path)]
    assert left == list(range(left[0], 400))
    assert len(left) > 40


def test_several_processes_write_whole_lines_and_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    program = (
        "import sys; from pathlib import Path; from tidscope_wire import audit\n"
        "from tidscope_wire.audit import AuditLog, TIDSCOPE\n"
        # Three that write all the time wait for each other and for the disk.
        "audit.LOCK_SECONDS = 120.0\n"
        "log = AuditLog(Path(sys.argv[1]), file_bytes=20000)\n"
        "for number in range(100): log.write('attach', 'done', TIDSCOPE, sys.argv[2] + str(number))"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    found = [record.object or "" for record in records(path)]
    assert sorted(found) == sorted(f"{name}{number}" for name in "abc" for number in range(100))
    assert older_file(path, 1).exists()


def test_a_torn_last_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b'{"unix_us": 17, "act')
    AuditLog(path).write("detach", "done", ACTOR)
    assert [record.action for record in records(path)] == ["detach"]


def test_a_symbolic_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    (tmp_path / "audit.jsonl").symlink_to(other)
    with pytest.raises(AuditError, match=r"audit\.jsonl"):
        AuditLog(tmp_path / "audit.jsonl").write("steer", "started", ACTOR)
    assert other.read_text() == ""


def test_a_full_disk_is_an_error() -> None:
    with pytest.raises(AuditError, match=os.strerror(errno.ENOSPC)):
        AuditLog(Path("/dev/full")).write("steer", "started", ACTOR)


def test_a_disk_that_is_full_for_a_while_leaves_no_half_line_and_is_counted(
    tmp_path: Path,
) -> None:
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from tidscope_wire.audit import AuditError, AuditLog, TIDSCOPE\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "log = AuditLog(Path(sys.argv[1])); lost = 0\n"
        "log.write('attach', 'done', TIDSCOPE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))\n"
        "for _ in range(3):\n"
        "    try: log.write('attach', 'done', TIDSCOPE, 'x' * 200)\n"
        "    except AuditError: lost += 1\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n"
        "log.write('detach', 'done', TIDSCOPE); print(lost)"
    )
    path = tmp_path / "audit.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, check=True, text=True
    )
    assert done.stdout == "3\n"
    assert [
        (one["action"], one["lost"]) for one in map(json.loads, path.read_text().splitlines())
    ] == [
        ("attach", 0),
        ("detach", 3),
    ]


async def test_a_disk_that_hangs_delays_nobody_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidscope_wire.audit.WRITE_SECONDS", 0.01)
    monkeypatch.setattr("tidscope_wire.audit.MAX_WAITING", 3)
    answers = threading.Event()
    log = AuditLog(tmp_path / "audit.jsonl")
    append = log._append

    def hang(line: bytes) -> None:
        answers.wait()
        append(line)

    monkeypatch.setattr(log, "_append", hang)
    trail = AuditTrail(log)
    failures = [await trail.write("release", "done", ACTOR, str(number)) for number in range(5)]
    assert ["answer" in str(failure) for failure in failures] == [True, True, True, False, False]
    assert "keep up" in str(failures[4])
    answers.set()
    trail.close()
    written = records(log.path)
    assert [record.object for record in written] == ["0", "1", "2"]
    assert sum(record.lost for record in written) == 2


HOSTILE_LABEL = Actor(session=None, role=None, label="\x1b]0;owned\x07")


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    AuditLog(first).write("sign-in", "done", ACTOR, "s-9")
    AuditLog(second).write("attach", "refused", HOSTILE_LABEL, "process 1", {"process": "\x9b2J"})
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
    assert records[1].actor == HOSTILE_LABEL
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
