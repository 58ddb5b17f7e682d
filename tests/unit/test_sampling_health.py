"""The collector's own health, memory and CPU time, and the machine's counters."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import collector_health
from fake_proc import FakePowercap, FakeProc
from tidscope_collector.energy.rapl import find_zones
from tidscope_collector.procfs.machine import CpuTimes, cpu_times
from tidscope_collector.sampling import machine
from tidscope_collector.sampling.health import MADE_NS, HealthNow
from tidscope_collector.sampling.machine import MachineMeter
from tidscope_collector.sampling.selfwatch import SampleTimes, SelfWatch
from tidscope_wire.generated.models import CollectorHealth

# Health is made once a second, at the end, and when it may not be a second old.


def test_health_is_made_when_it_is_due() -> None:
    made: list[CollectorHealth] = []
    rates = [10.0]

    def make() -> CollectorHealth:
        made.append(collector_health())
        return made[-1]

    health = HealthNow(make, lambda: rates[-1])
    first = health.read(5)
    assert health.read(5 + MADE_NS - 1) is first
    assert health.read(5 + MADE_NS) is made[1]
    rates.append(4.0)
    assert health.read(6 + MADE_NS) is made[2]
    assert health.read(7 + MADE_NS) is made[2]
    assert health.read(8 + MADE_NS, last=True) is made[3]
    assert len(made) == 4


# Accounts of the collector's own CPU, and times of samples.


SECOND = 1_000_000_000
MS = 1_000_000


class Clocks:
    """CPU of three clocks, as the test moves them."""

    def __init__(self) -> None:
        self.sending = self.sampling = self.process = 0

    def watch(self) -> SelfWatch:
        return SelfWatch(lambda: self.sending, lambda: self.sampling, lambda: self.process)


def test_an_account_divides_sending_by_bytes_and_leaves_the_rest_fixed() -> None:
    clocks = Clocks()
    watch = clocks.watch()
    assert watch.account(5 * SECOND) is None
    watch.note("a", 3 * MS, 3000)
    watch.note("b", 1 * MS, 1000)
    watch.note("a", 2 * MS, 0)
    clocks.sampling, clocks.sending, clocks.process = 8 * MS, 4 * MS, 30 * MS
    assert watch.account(5 * SECOND + SECOND - 1) is None
    spent = watch.account(7 * SECOND)
    assert spent is not None
    assert spent.seconds == 2
    assert spent.targets_s == pytest.approx({"a": 0.008, "b": 0.002})
    assert spent.fixed_s == pytest.approx(0.002)
    assert spent.percent == pytest.approx(0.6)
    assert watch.overhead_percent == pytest.approx(0.6)
    assert watch.cpu_percent == pytest.approx(1.5)


def test_sending_that_belongs_to_no_frame_is_fixed() -> None:
    clocks = Clocks()
    watch = clocks.watch()
    watch.restart(0)
    clocks.sending = 5 * MS
    spent = watch.account(SECOND)
    assert spent is not None
    assert spent.fixed_s == pytest.approx(0.005)
    assert spent.targets_s == {}


def test_programs_in_the_kernel_count_and_no_rate_changes_what_they_take() -> None:
    clocks = Clocks()
    watch = clocks.watch()
    watch.restart(0)
    watch.note("a", 3 * MS, 1)
    watch.note_kernel(5 * MS)
    watch.note_kernel(1 * MS)
    clocks.sampling = clocks.process = 4 * MS
    spent = watch.account(SECOND)
    assert spent is not None
    assert spent.fixed_s == pytest.approx(0.007)
    assert watch.overhead_percent == pytest.approx(1.0)
    assert watch.cpu_percent == pytest.approx(0.4)
    assert (watch.account(2 * SECOND) or spent).fixed_s == 0


def test_what_was_before_a_restart_is_in_no_account() -> None:
    clocks = Clocks()
    watch = clocks.watch()
    watch.restart(0)
    watch.note("a", MS, 1)
    clocks.sampling = clocks.process = 900 * MS
    watch.restart(100 * SECOND)
    spent = watch.account(101 * SECOND)
    assert spent is not None
    assert (spent.percent, watch.cpu_percent) == (0, 0)


def test_times_are_those_of_the_last_five_to_ten_seconds() -> None:
    times = SampleTimes()
    assert (times.mean_us, times.max_us) == (0, 0)
    times.note(9000, 0)
    times.note(100, 4 * SECOND)
    times.note(200, 6 * SECOND)
    assert (times.mean_us, times.max_us) == (3100, 9000)
    times.note(300, 12 * SECOND)
    assert (times.mean_us, times.max_us) == (250, 300)
    times.note(50, 60 * SECOND)
    assert (times.mean_us, times.max_us) == (50, 50)


# Counters of the machine since attach, from a /proc and a /sys of files.


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


# What the collector has freed goes back to the system, below blocks that stay, too.


FRAGMENT = """
import ctypes
import os
from pathlib import Path
from tidscope_collector.service import limit_allocators, release_freed_memory
limit_allocators()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])
def filled():
    block = libc.malloc(1000)
    ctypes.memset(block, 1, 1000)
    return block
blocks = [filled() for _ in range(64_000)]
stays = filled()
for block in blocks:
    libc.free(block)
del blocks
before = pages()
release_freed_memory()
print((before - pages()) * os.sysconf("SC_PAGE_SIZE"))
"""


def test_memory_below_a_block_that_stays_is_returned() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRAGMENT], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 40e6
