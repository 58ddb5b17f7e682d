"""Totals by role as rows, and their way into parts."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from backend_builders import HOST_ID, host, target
from builders import frame_header
from tidscope_backend.fleet import role_keeper
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.recent_roles import RecentRoles
from tidscope_backend.fleet.role_keeper import RoleKeeper
from tidscope_backend.fleet.role_rows import COUNTERS, SCHEMA, Reading, rows_of
from tidscope_backend.fleet.role_table import staged_parts
from tidscope_backend.metrics.meters import Meters
from tidscope_backend.store import folder
from tidscope_backend.store.disk import Disk
from tidscope_wire.generated.models import FrameHeader, RoleTotals

WORKER = RoleTotals(role="worker-#", live=4, exited=2, totals={"cpu_run_ns": 7})
REST = RoleTotals(role=None, live=1, exited=0, totals={"cpu_run_ns": 1, "cpu_delay_ns": 2})


class Watched:
    """A target whose frames come by hand."""

    def __init__(self) -> None:
        self.meters = Meters(lambda: 0.0, lambda _: 1)

    def see(self, unix_us: int, *roles: RoleTotals) -> None:
        """Receive a frame."""
        made = frame_header(target=target().id)
        sent = [one.model_dump() for one in roles]
        header = {**made.model_dump(), "unix_us": unix_us, "roles": sent}
        self.meters.observe(HOST_ID, FrameHeader.model_validate(header), b"")

    def readings(self) -> Iterator[Reading]:
        """Yield what was received."""
        for meter in self.meters.targets.values():
            yield Reading(target(), host().name, meter)


@pytest.fixture
def watched() -> Watched:
    made = Watched()
    made.see(1000, WORKER, REST)
    return made


def test_a_role_is_a_row_and_what_is_not_known_is_absent(watched: Watched) -> None:
    worker, rest = rows_of(watched.readings(), {})
    assert worker == {
        **{"time": 1000, "host": HOST_ID, "host_name": host().name, "target": target().id},
        **{"program": "work", "pid": 100, "role": "worker-#", "live": 4, "exited": 2},
        "cpu_run_ns": 7,
    }
    assert (rest["role"], rest["cpu_delay_ns"]) == (None, 2)
    assert {*worker, *COUNTERS, "labels"} == set(SCHEMA.names)
    (reading,) = watched.readings()
    labelled = rows_of([reading._replace(labels='{"region":"b"}')], {})
    assert {one["labels"] for one in labelled} == {'{"region":"b"}'}


def test_a_target_without_a_newer_frame_has_no_new_rows(watched: Watched) -> None:
    assert not rows_of(watched.readings(), {target().id: 1000})
    watched.see(1001, WORKER)
    assert len(rows_of(watched.readings(), {target().id: 1000})) == 1


def test_a_clock_that_is_set_back_repeats_times_and_rows_go_on(watched: Watched) -> None:
    recent = RecentRoles(watched.readings)
    hour_us = 3_600_000_000
    for unix_us in (2 * hour_us, hour_us, hour_us + 1, 2 * hour_us, 2 * hour_us + 1):
        watched.see(unix_us, WORKER)
        recent.take()
    times = recent.table()["time"].cast("int64").to_pylist()
    assert times == [2 * hour_us, hour_us + 1, 2 * hour_us, 2 * hour_us + 1]


async def test_a_part_has_what_was_taken_since_the_one_before(
    watched: Watched, tmp_path: Path
) -> None:
    keeper = RoleKeeper(tmp_path, Disk(), 1.0)
    recent = RecentRoles(watched.readings, keeper)
    recent.take()
    recent.take()
    await keeper.seal()
    watched.see(2000, WORKER)
    recent.take()
    await keeper.close()
    first, second = (pq.read_table(part) for part in staged_parts(tmp_path))
    assert first.schema == SCHEMA
    assert (first.num_rows, second.num_rows, keeper.outcomes["taken"]) == (2, 1, 3)


async def test_rows_wait_for_a_disk_and_beyond_a_bound_are_counted(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / STAGED).write_text("no folder can be made here")
    keeper = RoleKeeper(tmp_path, Disk(), 1.0)
    recent = RecentRoles(watched.readings, keeper)
    recent.take()
    assert not await keeper.seal()
    monkeypatch.setattr(role_keeper, "MAX_ROWS", 2)
    watched.see(2000, WORKER)
    recent.take()
    await keeper.close()
    assert keeper.outcomes["lost"] == 2
    (tmp_path / STAGED).unlink()
    await keeper.close()
    (part,) = staged_parts(tmp_path)
    assert [row.as_py() for row in pq.read_table(part)["role"]] == ["worker-#"]


async def test_a_part_that_could_not_be_flushed_is_written_again_with_the_same_rows(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in place, and the committer may have taken it: new rows need another part."""

    def refuse(path: Path) -> None:
        raise OSError(errno.EIO, "the disk is broken")

    keeper = RoleKeeper(tmp_path, Disk(), 1.0)
    recent = RecentRoles(watched.readings, keeper)
    recent.take()
    with monkeypatch.context() as patched:
        patched.setattr(folder, "sync_folder", refuse)
        assert not await keeper.seal()
    (before,) = staged_parts(tmp_path)
    data = before.read_bytes()
    watched.see(2000, WORKER)
    recent.take()
    await keeper.close()
    first, second = staged_parts(tmp_path)
    assert (first, first.read_bytes()) == (before, data)
    assert pq.read_table(second).num_rows == 1


async def test_rows_that_no_part_can_have_are_counted_and_the_others_kept(
    watched: Watched, tmp_path: Path
) -> None:
    watched.see(2000, WORKER.model_copy(update={"totals": {"cpu_run_ns": 2**63}}), REST)
    keeper = RoleKeeper(tmp_path, Disk(), 1.0)
    recent = RecentRoles(watched.readings, keeper)
    recent.take()
    await keeper.close()
    (part,) = staged_parts(tmp_path)
    assert [row.as_py() for row in pq.read_table(part)["role"]] == [None]
    assert keeper.outcomes == {"taken": 2, "refused": 1, "lost": 0}
    assert recent.table()["role"].to_pylist() == [None]


async def test_parts_and_waiting_rows_are_bounded_whatever_is_taken_at_once(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(role_keeper, "PART_ROWS", 3)
    monkeypatch.setattr(role_keeper, "MAX_ROWS", 7)
    keeper = RoleKeeper(tmp_path, Disk(), 1.0)
    recent = RecentRoles(watched.readings, keeper)
    for unix_us in (1000, 2000, 3000, 4000):
        watched.see(unix_us, WORKER, REST)
        recent.take()
    await keeper.close()
    parts = [pq.read_table(part) for part in staged_parts(tmp_path)]
    assert sorted(part.num_rows for part in parts) == [1, 3, 3]
    rows = [(row["time"].microsecond, row["role"]) for part in parts for row in part.to_pylist()]
    taken = [(unix_us, role) for unix_us in (1000, 2000, 3000, 4000) for role in ("worker-#", None)]
    assert sorted(rows, key=taken.index) == taken[1:]
    assert keeper.outcomes == {"taken": 8, "refused": 0, "lost": 1}
