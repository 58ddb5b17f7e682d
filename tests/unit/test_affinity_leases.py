"""Affinity leases, and the masks of CPUs that they set."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_proc import FakeProc
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.affinity_leases import (
    AffinityLease,
    LeaseFolderError,
    Leases,
    left_changed,
)
from tidscope_collector.steering.loop.cpu_masks import (
    CpuShares,
    ThreadMask,
    choose_cpus,
    common_mask,
    read_masks,
    set_masks,
)
from tidscope_collector.steering.loop.setup import open_setup_opener

PROC = ProcFs()
ALL, ONE, TWO = frozenset({0, 1}), frozenset({0}), frozenset({1})


def masks(*cpus: frozenset[int]) -> list[ThreadMask]:
    return [ThreadMask(number, 5, mask) for number, mask in enumerate(cpus)]


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    return Leases(PROC, tmp_path / "leases")


def test_the_mask_of_most() -> None:
    assert common_mask(masks(ONE, ALL, ALL)) == ALL
    assert common_mask(masks(ONE, ONE, ALL)) == ONE
    assert common_mask(masks(ONE, ALL)) == ALL
    assert common_mask(masks(ONE, TWO)) == TWO


def test_what_is_written_is_read(leases: Leases, tmp_path: Path) -> None:
    lease = leases.new(7, 70, masks(ALL, ONE), ALL)
    lease.applied = [[1]]
    leases.write(lease)
    found = leases.find(7)
    assert found == lease
    assert found is not None
    assert [mask.cpus for mask in found.original] == [[0, 1], [0]]
    assert found.owner_pid == os.getpid()
    assert os.listdir(tmp_path / "leases") == ["7.json"]
    assert leases.find(8) is None
    leases.remove(lease)
    leases.remove(lease)
    assert leases.find(7) is None


def test_ones_own_lease_is_not_recovered(leases: Leases) -> None:
    leases.write(leases.new(7, 70, masks(ALL), ALL))
    assert leases.held_by_other(7) is None
    assert leases.recover() == []
    assert leases.find(7) is not None


def test_an_owner_is_known_by_its_start_too(leases: Leases) -> None:
    lease = leases.new(7, 70, masks(ALL), ALL)
    leases.write(lease.model_copy(update={"owner_start_ticks": lease.owner_start_ticks + 1}))
    assert leases.held_by_other(7) is None
    assert [done.pid for done in leases.recover()] == [7]
    # The parent lives, and with the right start it is another collector.
    parent = os.getppid()
    start = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19])
    leases.write(lease.model_copy(update={"owner_pid": parent, "owner_start_ticks": start}))
    assert leases.held_by_other(7) == parent
    assert leases.recover() == []


def test_what_a_dead_owner_left_is_listed_and_not_touched(leases: Leases, tmp_path: Path) -> None:
    me = os.getpid()
    start = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    lease = leases.new(me, start, masks(ALL), ALL)
    leases.write(lease)
    assert left_changed(PROC, tmp_path / "leases") == []
    dead = {"owner_start_ticks": lease.owner_start_ticks + 1}
    leases.write(lease.model_copy(update=dead))
    leases.write(leases.new(7, start + 1, masks(ALL), ALL).model_copy(update=dead))
    (found,) = left_changed(PROC, tmp_path / "leases")
    assert (found.pid, found.undo) == (me, f"taskset -acp 0,1 {me}")
    assert found.name
    assert leases.find(me) is not None
    assert left_changed(PROC, tmp_path / "none") == []


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "\0", '{"pid": 7}', '{"pid": "7"}', "[" * 100_000]
)
def test_a_broken_file_is_thrown_away(leases: Leases, tmp_path: Path, text: str) -> None:
    path = tmp_path / "leases" / "7.json"
    path.write_text(text)
    assert leases.find(7) is None
    assert leases.held_by_other(7) is None
    assert leases.recover() == []
    assert not path.exists()


def test_a_file_under_another_name_is_thrown_away(leases: Leases, tmp_path: Path) -> None:
    lease: AffinityLease = leases.new(7, 70, masks(ALL), ALL)
    (tmp_path / "leases" / "8.json").write_text(lease.model_dump_json())
    assert leases.recover() == []
    assert os.listdir(tmp_path / "leases") == []


def test_what_was_not_finished_is_thrown_away(leases: Leases, tmp_path: Path) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    for name in ("7.new", f"7.{os.getpid()}.new", f"7.{child.pid}.new"):
        (tmp_path / "leases" / name).write_text("{")
    assert leases.recover() == []
    assert os.listdir(tmp_path / "leases") == []


def test_what_another_collector_is_writing_stays(leases: Leases, tmp_path: Path) -> None:
    (tmp_path / "leases" / f"7.{os.getppid()}.new").write_text("{")
    assert leases.recover() == []
    assert os.listdir(tmp_path / "leases") == [f"7.{os.getppid()}.new"]


def test_the_folder_is_closed_to_others(leases: Leases, tmp_path: Path) -> None:
    assert (tmp_path / "leases").stat().st_mode & 0o777 == 0o700
    (tmp_path / "leases").rmdir()
    with pytest.raises(LeaseFolderError, match="cannot be written"):
        leases.write(leases.new(7, 70, masks(ALL), ALL))


def test_programs_that_a_dead_collector_left_are_named(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path / "proc")
    proc.process(os.getpid())
    proc.process(100)
    procfs, folder = ProcFs(tmp_path / "proc"), tmp_path / "leases"
    leases = Leases(procfs, folder)
    for pid in (100, 101):
        lease = leases.new(pid, 1000, [], frozenset({0, 1}), 2)
        leases.write(lease.model_copy(update={"owner_pid": 999_999}))
    _, restored = open_setup_opener(procfs, folder)
    # The other one has ended: nothing of it is left to restore.
    assert [(one.pid, one.threads, one.problem) for one in restored] == [(100, 0, "")]
    assert list(folder.iterdir()) == []
    assert leases.restored_size(100, 1000) is None


PROCFS = ProcFs()


@pytest.fixture
def child() -> Iterator[tuple[int, int]]:
    """ID and start of the process."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid, parse_stat(PROCFS.read(f"{process.pid}/stat")).start_ticks
        process.kill()


def test_masks_are_read_set_and_left_as_they_are(child: tuple[int, int]) -> None:
    pid, start = child
    (mask,) = read_masks(PROCFS, pid, start)
    assert (mask.tid, mask.cpus) == (pid, frozenset(os.sched_getaffinity(pid)))
    one = frozenset({min(mask.cpus)})
    assert set_masks(PROCFS, pid, start, lambda _: one) == (mask.cpus != one)
    assert read_masks(PROCFS, pid, start)[0].cpus == one
    assert set_masks(PROCFS, pid, start, lambda _: None) == 0
    assert set_masks(PROCFS, pid, start, lambda _: one) == 0


def test_another_process_with_the_id_is_left_alone(child: tuple[int, int]) -> None:
    pid, start = child
    for read in (
        lambda: read_masks(PROCFS, pid, start + 1),
        lambda: set_masks(PROCFS, pid, start + 1, lambda mask: mask.cpus),
    ):
        with pytest.raises(ProcessLookupError):
            read()


def test_the_common_mask_is_the_most_frequent_and_then_the_widest() -> None:
    narrow, wide = frozenset({0}), frozenset({0, 1})
    masks = [ThreadMask(tid, 1, cpus) for tid, cpus in enumerate((narrow, wide))]
    assert common_mask(masks) == wide
    assert common_mask([*masks, ThreadMask(3, 1, narrow)]) == narrow


@pytest.mark.parametrize(
    ("number", "own", "others", "wanted"),
    [
        (0, (), [], set()),
        (2, (), [], {0, 1}),
        (4, (), [], {0, 1, 2, 3}),
        (2, (), [{0}], {1, 2}),
        (2, (), [{0}, {1}], {2, 3}),
        (2, {2, 3}, [], {2, 3}),
        (1, {2, 3}, [], {2}),
        (3, {2, 3}, [], {0, 2, 3}),
        (3, {2, 3}, [{0}], {1, 2, 3}),
        (3, (), [{0, 1}], {0, 2, 3}),
        (2, {0, 1}, [{0, 1, 2, 3}], {0, 1}),
        (2, {0, 1}, [{0, 1}], {2, 3}),
        (2, (), [{0, 1, 2, 3}, {0, 1}], {2, 3}),
    ],
)
def test_those_that_others_leave_then_ones_own_then_the_lowest(
    number: int, own: set[int], others: list[set[int]], wanted: set[int]
) -> None:
    assert choose_cpus([3, 2, 1, 0], number, own, others) == wanted


def test_shares_are_remembered_and_given_back() -> None:
    shares = CpuShares()
    assert shares.allocate(10, range(4), 2) == {0, 1}
    assert shares.allocate(11, range(4), 2) == {2, 3}
    assert shares.allocate(10, range(4), 3) == {0, 1, 2}
    assert shares.allocate(11, range(4), 1) == {3}
    shares.free(10)
    shares.free(10)
    assert shares.allocate(11, range(4), 4) == {0, 1, 2, 3}
    assert shares.allocate(12, range(2, 4), 1) == {2}
