"""The Iceberg table of totals by role: each part once, whatever happens to the committer."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from processes import wait_until
from pyiceberg.exceptions import CommitFailedException
from tidscope_backend.fleet import committer, table_care
from tidscope_backend.fleet.committer import commit
from tidscope_backend.fleet.part_store import STAGED, PartStore
from tidscope_backend.fleet.queries import connect
from tidscope_backend.fleet.role_keeper import COMMITTER, write_part
from tidscope_backend.fleet.role_rows import SCHEMA, table_of
from tidscope_backend.fleet.role_table import NoTableError, open_table, staged_parts
from tidscope_backend.processes import run_module

NOW = datetime(2026, 11, 29, 12, 30, tzinfo=UTC)
MONTH = 30 * 86400.0


def row(host: int, time: datetime = NOW, role: str | None = "worker-#") -> dict[str, Any]:
    return {
        **{"time": time, "host": f"h-{host:012x}", "host_name": f"host-{host}", "target": "t-1-a"},
        **{"program": "work", "pid": 1, "role": role, "live": 1, "exited": 0, "cpu_run_ns": host},
    }


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    table, _ = table_of(rows)
    return write_part(folder / STAGED, table)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A folder whose name an address would escape."""
    made = tmp_path / "roles of 100% hosts"
    made.mkdir()
    return made


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
        wait_until(lambda: moment(tmp_path, before) or process.poll() is not None, 120)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    commit(tmp_path, MONTH, datetime.now(UTC))
    assert hosts(tmp_path) == sorted(f"host-{host}" for host in range(12))


def test_a_part_that_comes_again_after_its_snapshot_is_gone_is_not_added_twice(
    tmp_path: Path,
) -> None:
    """A backend that was cut off sends a part again, whose first answer it never got."""
    now = datetime.now(UTC)
    old = write(tmp_path, row(1, now - timedelta(hours=5)), row(2, now - timedelta(hours=5)))
    part = old.rename(old.with_name(f"{int((now.timestamp() - 18000) * 1000)}-00000000.parquet"))
    data = part.read_bytes()
    assert commit(tmp_path, MONTH, now) == 2
    write(tmp_path, row(3, now))
    assert commit(tmp_path, MONTH, now + timedelta(hours=2)) == 1
    assert len(open_table(tmp_path).snapshots()) < 3
    part.write_bytes(data)
    assert commit(tmp_path, MONTH, now + timedelta(hours=2)) == 0
    assert (hosts(tmp_path), staged_parts(tmp_path)) == (["host-1", "host-2", "host-3"], [])


def test_a_backlog_is_committed_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committer, "AT_ONCE", 2)
    for host in range(5):
        write(tmp_path, row(host))
    assert commit(tmp_path, MONTH, NOW) == 5
    assert len(open_table(tmp_path).snapshots()) == 3
    assert hosts(tmp_path) == [f"host-{host}" for host in range(5)]


def test_without_a_lock_the_slower_of_two_committers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It read the same parts, before the other one added them."""
    write(tmp_path, row(1))
    read = committer._read

    def read_late(parts: PartStore, name: str) -> Any:
        found = read(parts, name)
        monkeypatch.setattr(committer, "_read", read)
        assert commit(tmp_path, MONTH, NOW) == 1
        return found

    monkeypatch.setattr(committer, "_read", read_late)
    monkeypatch.setattr(PartStore, "exclusive", lambda *_: nullcontext(True))
    with pytest.raises(CommitFailedException):
        commit(tmp_path, MONTH, NOW)
    assert hosts(tmp_path) == ["host-1"]


def test_unfinished_parts_of_dead_processes_are_removed(tmp_path: Path) -> None:
    (tmp_path / STAGED).mkdir()
    left, fresh = (tmp_path / STAGED / f"{number}.parquet.new" for number in range(2))
    for path in (left, fresh):
        path.touch()
    os.utime(left, (1, 1))
    commit(tmp_path, MONTH, NOW)
    assert list((tmp_path / STAGED).iterdir()) == [fresh]


def test_files_of_an_hour_are_merged_up_to_a_number_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_care, "MAX_MERGED_ROWS", 3)
    for _ in range(4):
        write(tmp_path, row(1))
        commit(tmp_path, MONTH, NOW)
    commit(tmp_path, MONTH, NOW + timedelta(hours=2))
    sizes = [task.file.record_count for task in open_table(tmp_path).scan().plan_files()]
    assert sorted(sizes) == [1, 3]
    assert hosts(tmp_path) == ["host-1"] * 4


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
