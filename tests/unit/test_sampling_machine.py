"""Counters of the machine since attach, from a /proc and a /sys of files."""

import time
from pathlib import Path

import pytest
from fake_proc import FakePowercap, FakeProc
from tidscope_collector.energy.rapl import find_zones
from tidscope_collector.procfs.machine import CpuTimes, cpu_times
from tidscope_collector.sampling import machine
from tidscope_collector.sampling.machine import MachineMeter

CPU = b"cpu  100 10 50 9000 400 5 6 70 30 1 \ncpu0 50 5 25 4500 200 2 3 35 15 0\n"


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    made = FakeProc(tmp_path / "proc")
    made.write("stat", CPU)
    return made


def test_busy_is_all_that_ran_here(proc: FakeProc) -> None:
    """Neither idle, iowait nor stolen, which stands apart; guests are in user already."""
    ticks = 100 + 10 + 50 + 5 + 6
    assert cpu_times(proc.procfs) == CpuTimes(busy_us=ticks * 10_000, steal_us=700_000)


@pytest.mark.parametrize("content", [b"", b"cpu  1 2 3\n", b"cpu0 1 2 3 4 5 6 7 8 9 10\n", b"\0"])
def test_nonsense_is_not_known(proc: FakeProc, content: bytes) -> None:
    proc.write("stat", content)
    assert cpu_times(proc.procfs) is None


def test_no_file_is_not_known(tmp_path: Path) -> None:
    assert cpu_times(FakeProc(tmp_path / "empty").procfs) is None


def test_each_target_counts_from_its_attach(
    proc: FakeProc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "READ_NS", 0)
    tree = FakePowercap(tmp_path / "sys").zone("intel-rapl:0", "package-0", 1_000)
    meter = MachineMeter(proc.procfs, find_zones(tree.sys))
    assert meter.source.reason == "RAPL, sum of package-0"
    began = time.monotonic_ns()
    first = meter.watch(began)
    tree.set("intel-rapl:0", 1_500)
    proc.write("stat", CPU.replace(b"cpu  100", b"cpu  103").replace(b" 70 30", b" 74 30"))
    second = meter.watch(began)
    tree.set("intel-rapl:0", 1_700)
    counters = first.counters()
    assert (counters.package_uj, counters.domains_uj) == (700, [700])
    assert (counters.cpu_busy_us, counters.cpu_steal_us) == (30_000, 40_000)
    assert 0 < counters.time_ns <= time.monotonic_ns() - began
    assert second.counters().package_uj == 200
    assert second.counters().cpu_busy_us == 0
    meter.close()


def test_frames_between_two_readings_repeat_one(proc: FakeProc, tmp_path: Path) -> None:
    meter = MachineMeter(proc.procfs, find_zones(tmp_path))
    watch = meter.watch(time.monotonic_ns())
    counters = watch.counters()
    proc.write("stat", CPU.replace(b"cpu  100", b"cpu  999"))
    assert watch.counters() is counters
    assert counters.package_uj is None
    assert counters.domains_uj == []
