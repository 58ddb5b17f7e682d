"""The switch of delay accounting, in a /proc of files."""

from pathlib import Path

import pytest
from fake_proc import FakeProc
from tidscope_collector.procfs.delay_accounting import SWITCH, DelayAccounting, SwitchRefusedError


class Clock:
    """A clock that is set by hand."""

    now = 1000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    proc = FakeProc(tmp_path / "proc")
    proc.write(SWITCH, b"0\n")
    proc.write("cmdline", b"quiet root=/dev/vda\n")
    return proc


def test_set_writes_the_value_and_nothing_else(proc: FakeProc) -> None:
    delays = DelayAccounting(proc.procfs)
    before = set(proc.root.rglob("*"))
    delays.set(True)
    assert (proc.root / SWITCH).read_bytes().startswith(b"1")
    assert delays.state() is True
    delays.set(False)
    assert (proc.root / SWITCH).read_bytes().startswith(b"0")
    assert delays.state() is False
    assert set(proc.root.rglob("*")) == before


def test_threads_have_records_from_the_moment_it_was_switched_on(proc: FakeProc) -> None:
    clock = Clock()
    delays = DelayAccounting(proc.procfs, clock)
    assert delays.on_since_ns() is None
    clock.now = 2000
    delays.set(True)
    clock.now = 3000
    assert delays.on_since_ns() == 2000
    delays.set(True)
    assert delays.on_since_ns() == 2000
    delays.set(False)
    assert delays.on_since_ns() is None


def test_someone_else_switches(proc: FakeProc) -> None:
    clock = Clock()
    delays = DelayAccounting(proc.procfs, clock)
    proc.write(SWITCH, b"1\n")
    clock.now = 5000
    assert delays.on_since_ns() == 5000
    proc.write(SWITCH, b"0\n")
    assert delays.state() is False
    proc.write(SWITCH, b"1\n")
    clock.now = 6000
    assert delays.state() is True
    assert delays.on_since_ns() == 6000


def test_on_at_start_is_known_from_then_on_and_given_at_boot_from_the_beginning(
    proc: FakeProc,
) -> None:
    proc.write(SWITCH, b"1\n")
    clock = Clock()
    assert DelayAccounting(proc.procfs, clock).on_since_ns() == 1000
    proc.write("cmdline", b"quiet delayacct root=/dev/vda\n")
    assert DelayAccounting(proc.procfs, clock).on_since_ns() == 0


def test_a_kernel_without_it(tmp_path: Path) -> None:
    delays = DelayAccounting(FakeProc(tmp_path).procfs)
    assert delays.state() is None
    assert delays.on_since_ns() is None
    with pytest.raises(SwitchRefusedError, match=r"has no kernel\.task_delayacct") as refused:
        delays.set(True)
    assert "CONFIG_TASK_DELAY_ACCT" in refused.value.hint
    assert not (tmp_path / SWITCH).exists()


def test_a_switch_that_goes_back_is_reported(proc: FakeProc) -> None:
    """As when something else sets it at once."""
    (proc.root / SWITCH).unlink()
    (proc.root / SWITCH).symlink_to("/dev/zero")  # takes any value and reads as none
    with pytest.raises(SwitchRefusedError, match="still on"):
        DelayAccounting(proc.procfs).set(False)
