"""The fallback reader, from a /proc of files."""

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from fake_proc import FakeProc, stat_line
from tidscope_collector.procfs.thread_reader import TICKS_PER_SECOND, ProcThreadReader, monotonic_ns
from tidscope_collector.threads.reading import Reading, TargetExitedError, ThreadReader
from tidscope_wire.generated.catalogue import CATALOGUE

TICK_US = 1_000_000 // TICKS_PER_SECOND


def tids(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array(numbers, np.uint32)


def value(reader: ProcThreadReader, reading: Reading, tid: int, field: str) -> int:
    row = reading.tid.tolist().index(tid)
    return int(reading.counters[row, reader.fields.index(field)])


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    proc = FakeProc(tmp_path)
    proc.process(70, stat_line(70, b"main"))
    proc.thread(
        70,
        71,
        stat_line(71, b"worker (1)", minflt=4, majflt=5, utime=6, stime=7, start=300),
        switches=(8, 9),
        schedstat=b"18446744073709551615 1002 1003\n",
    )
    return proc


def test_every_field_is_read_from_its_file(proc: FakeProc) -> None:
    reader = ProcThreadReader(proc.procfs, 70)
    reading = reader.read(tids(71))
    assert reading.absent is None
    assert dict(zip(reader.fields, reading.counters[0].tolist(), strict=True)) == {
        "cpu_run_ns": 2**64 - 1,
        "cpu_delay_ns": 1002,
        "cpu_count": 1003,
        "user_cpu_us": 6 * TICK_US,
        "system_cpu_us": 7 * TICK_US,
        "voluntary_switches": 8,
        "involuntary_switches": 9,
        "minor_faults": 4,
        "major_faults": 5,
        "read_char_bytes": 11,
        "write_char_bytes": 22,
        "read_syscalls": 33,
        "write_syscalls": 44,
        "disk_read_bytes": 55,
        "disk_write_bytes": 66,
        "disk_cancelled_bytes": 77,
    }
    assert reading.name.tolist() == [b"worker (1)"]


def test_each_thread_field_of_the_catalogue_is_given_or_absent_with_a_reason(
    proc: FakeProc,
) -> None:
    reader: ThreadReader = ProcThreadReader(proc.procfs, 70, "no CAP_NET_ADMIN")
    named = [*reader.fields, *(absent.field for absent in reader.absent)]
    assert sorted(named) == sorted(
        field.name for field in CATALOGUE.fields if field.scope == "thread"
    )
    reasons = {absent.field: absent.reason for absent in reader.absent}
    assert "no CAP_NET_ADMIN" in reasons["blkio_delay_ns"]
    assert "network" in reasons["net_read_bytes"]


def test_threads_keep_the_order_they_were_asked_for_and_gone_ones_are_left_out(
    proc: FakeProc,
) -> None:
    reading = ProcThreadReader(proc.procfs, 70).read(tids(71, 999, 70))
    assert reading.tid.tolist() == [71, 70]
    assert reading.counters.shape == (2, 16)


def test_a_thread_that_vanishes_between_two_of_its_files_is_left_out(proc: FakeProc) -> None:
    reader = ProcThreadReader(proc.procfs, 70)
    (proc.root / "70/task/71/status").unlink()
    assert reader.read(tids(70, 71)).tid.tolist() == [70]


def test_start_is_on_the_monotonic_clock() -> None:
    asleep = time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
    (start,) = monotonic_ns(np.array([5 * TICKS_PER_SECOND], np.int64)).tolist()
    assert start == pytest.approx((5 - asleep) * 1e9, abs=1e6)


@pytest.mark.parametrize(
    ("file", "lost"),
    [("schedstat", {"cpu_run_ns", "cpu_delay_ns", "cpu_count"}), ("io", {"read_char_bytes"})],
)
def test_a_file_that_the_kernel_lacks_takes_its_fields_away(
    proc: FakeProc, file: str, lost: set[str]
) -> None:
    for tid in (70, 71):
        (proc.root / f"70/task/{tid}/{file}").unlink()
    reader = ProcThreadReader(proc.procfs, 70)
    assert not lost & set(reader.fields)
    reasons = {absent.field: absent.reason for absent in reader.absent}
    assert all("built without it" in reasons[field] for field in lost)
    assert reader.read(tids(70, 71)).tid.tolist() == [70, 71]


def test_a_process_that_is_not_there_is_gone(proc: FakeProc) -> None:
    with pytest.raises(TargetExitedError):
        ProcThreadReader(proc.procfs, 1234)


def test_a_process_that_went_away_is_gone(proc: FakeProc) -> None:
    reader = ProcThreadReader(proc.procfs, 70)
    shutil.rmtree(proc.root / "70")
    with pytest.raises(TargetExitedError):
        reader.read(tids(70, 71))


def test_a_zombie_is_gone(proc: FakeProc) -> None:
    reader = ProcThreadReader(proc.procfs, 70)
    proc.write("70/task/70/stat", stat_line(70, state="Z"))
    with pytest.raises(TargetExitedError):
        reader.read(tids(70))
    with pytest.raises(TargetExitedError):
        reader.read(tids(999))


def test_a_main_thread_that_ended_before_the_others_is_read(proc: FakeProc) -> None:
    reader = ProcThreadReader(proc.procfs, 70)
    proc.write("70/task/70/stat", stat_line(70, state="Z", threads=2))
    assert reader.read(tids(70, 71)).tid.tolist() == [70, 71]


def test_no_threads_of_a_living_process_is_an_empty_reading(proc: FakeProc) -> None:
    reading = ProcThreadReader(proc.procfs, 70).read(tids())
    assert reading.counters.shape == (0, 16)
    assert reading.name.shape == (0,)


def test_a_file_that_is_closed_for_one_thread_leaves_holes_there(
    proc: FakeProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = ProcThreadReader(proc.procfs, 70)
    open_file = os.open

    def forbid(path: str, flags: int, *, dir_fd: int) -> int:
        if path == "71/io":
            raise PermissionError(path)
        return open_file(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", forbid)
    reading = reader.read(tids(70, 71))
    assert reading.absent is not None
    holes = [name for name, hole in zip(reader.fields, reading.absent[1], strict=True) if hole]
    assert holes == [
        "read_char_bytes",
        "write_char_bytes",
        "read_syscalls",
        "write_syscalls",
        "disk_read_bytes",
        "disk_write_bytes",
        "disk_cancelled_bytes",
    ]
    assert not reading.absent[0].any()
    assert value(reader, reading, 70, "disk_cancelled_bytes") == 77
    assert value(reader, reading, 71, "cpu_run_ns") == 2**64 - 1
