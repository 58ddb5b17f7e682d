"""Accounts of the collector's own CPU, and times of samples."""

import pytest
from tidscope_collector.sampling.selfwatch import SampleTimes, SelfWatch

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
