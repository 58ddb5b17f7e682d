"""The Iceberg table of totals by role: each part once, whatever happens to the committer."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from processes import wait_until
from tidscope_backend.fleet.committer import commit
from tidscope_backend.fleet.queries import connect
from tidscope_backend.fleet.role_keeper import COMMITTER, write_rows
from tidscope_backend.fleet.role_rows import SCHEMA
from tidscope_backend.fleet.role_table import STAGED, NoTableError, open_table, staged_parts
from tidscope_backend.processes import run_module

NOW = datetime(2026, 11, 29, 12, 30, tzinfo=UTC)
MONTH = 30 * 86400.0


def row(host: int, time: datetime = NOW, role: str | None = "worker-#") -> dict[str, Any]:
    return {
        **{"time": time, "host": f"h-{host:012x}", "host_name": f"host-{host}", "target": "t-1-a"},
        **{"program": "work", "pid": 1, "role": role, "live": 1, "exited": 0, "cpu_run_ns": host},
    }


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    return write_rows(folder / STAGED, list(rows))


def hosts(folder: Path) -> list[str]:
    with connect(folder) as database:
        found = database.sql("select host_name from roles order by all").fetchall()
    return [name for (name,) in found]


def data_files(folder: Path) -> list[Path]:
    return list(folder.glob("tidscope/roles/data/**/*.parquet"))


def test_parts_are_seen_before_and_after_their_commit(tmp_path: Path) -> None:
    with pytest.raises(NoTableError, match="keep-roles-days"):
        connect(tmp_path)
    commit(tmp_path, MONTH, NOW)
    with pytest.raises(NoTableError, match="no rows yet"):
        connect(tmp_path)
    write(tmp_path, row(1), row(2))
    assert hosts(tmp_path) == ["host-1", "host-2"]
    assert commit(tmp_path, MONTH, NOW) == 2
    write(tmp_path, row(3, role=None))
    assert data_files(tmp_path)
    assert hosts(tmp_path) == ["host-1", "host-2", "host-3"]
    with connect(tmp_path) as database:
        kinds = database.sql("describe roles").fetchall()
    assert [name for name, *_ in kinds] == SCHEMA.names


def test_a_part_that_is_still_there_is_not_added_twice(tmp_path: Path) -> None:
    part = write(tmp_path, row(1))
    data = part.read_bytes()
    assert commit(tmp_path, MONTH, NOW) == 1
    part.write_bytes(data)
    assert hosts(tmp_path) == ["host-1"]
    assert commit(tmp_path, MONTH, NOW) == 0
    assert (hosts(tmp_path), staged_parts(tmp_path)) == (["host-1"], [])


def _data(folder: Path, before: int) -> bool:
    return len(data_files(folder)) > before


def _metadata(folder: Path, before: int) -> bool:
    return len(list(folder.glob("tidscope/roles/metadata/*.metadata.json"))) > before


def _unlinked(folder: Path, before: int) -> bool:
    return not staged_parts(folder)


@pytest.mark.parametrize("moment", [_data, _metadata, _unlinked])
def test_a_committer_killed_at_any_moment_neither_loses_nor_repeats(
    tmp_path: Path, moment: Callable[[Path, int], bool]
) -> None:
    write(tmp_path, row(0))
    commit(tmp_path, MONTH, datetime.now(UTC))
    for host in range(1, 12):
        write(tmp_path, row(host, datetime.now(UTC)))
    before = len(list(tmp_path.glob("tidscope/roles/metadata/*.metadata.json")))
    if moment is _data:
        before = len(data_files(tmp_path))
    process = subprocess.Popen(run_module(COMMITTER, str(tmp_path), f"{MONTH}"))
    try:
        wait_until(lambda: moment(tmp_path, before) or process.poll() is not None)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    commit(tmp_path, MONTH, datetime.now(UTC))
    assert hosts(tmp_path) == sorted(f"host-{host}" for host in range(12))


def test_one_committer_at_a_time(tmp_path: Path) -> None:
    write(tmp_path, row(1))
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert commit(tmp_path, MONTH, NOW) == 0
    assert len(staged_parts(tmp_path)) == 1
    os.close(other)
    assert commit(tmp_path, MONTH, NOW) == 1


def test_a_damaged_part_is_set_aside(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    damaged = write(tmp_path, row(1))
    damaged.write_bytes(b"PAR1 but no more")
    write(tmp_path, row(2))
    assert commit(tmp_path, MONTH, NOW) == 1
    assert hosts(tmp_path) == ["host-2"]
    assert damaged.with_suffix(".damaged").exists()
    assert "damaged" in capfd.readouterr().err


def test_finished_hours_are_merged_and_old_ones_deleted(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    began = now.replace(minute=30) - timedelta(hours=3)
    for minute in range(3):
        for host in (1, 2):
            write(tmp_path, row(host, began + timedelta(minutes=minute)))
        commit(tmp_path, MONTH, began)
    write(tmp_path, row(3, now))
    many = len(data_files(tmp_path))
    commit(tmp_path, MONTH, now)
    files = [task.file for task in open_table(tmp_path).scan().plan_files()]
    partitions = {(one.partition[0], one.partition[1]) for one in files}
    assert len(files) == len(partitions) < many
    assert len(hosts(tmp_path)) == 7
    # Readers that began earlier keep their files for an hour.
    assert len(data_files(tmp_path)) > len(files)
    commit(tmp_path, 7200.0, now + timedelta(minutes=30))
    assert hosts(tmp_path) == ["host-3"]
    commit(tmp_path, MONTH, now + timedelta(hours=2))
    assert len(data_files(tmp_path)) == 1
