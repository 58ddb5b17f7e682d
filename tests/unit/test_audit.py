"""The log of what people did: lines are only added."""

import json
import os
from pathlib import Path

import pytest
from tidscope_collector.steering.audit import AuditError, AuditLog


def test_lines_are_added_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log" / "audit.jsonl"
    AuditLog(path).record("steer", actor="a", pid=1)
    AuditLog(path).record("release", actor="b\nc", pid=1)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["action"], line["actor"]) for line in lines] == [
        ("steer", "a"),
        ("release", "b\nc"),
    ]
    assert lines[0]["unix_us"] <= lines[1]["unix_us"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_symbolic_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    (tmp_path / "audit.jsonl").symlink_to(other)
    with pytest.raises(AuditError, match=r"audit\.jsonl"):
        AuditLog(tmp_path / "audit.jsonl").record("steer")
    assert other.read_text() == ""


def test_a_full_disk_is_an_error() -> None:
    full = Path("/dev/full")
    assert full.is_char_device()
    with pytest.raises(AuditError, match=os.strerror(28)):
        AuditLog(full).record("steer")
