"""Readings of a steered process from /proc."""

import os
import signal
import time

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.process_state import ProcessState

PROC = ProcFs()


def start_of(pid: int) -> int:
    return parse_stat(PROC.read(f"{pid}/stat")).start_ticks


def test_this_process() -> None:
    state = ProcessState(PROC, os.getpid(), start_of(os.getpid()))
    assert state.name() == PROC.read("self/comm").decode().strip()
    assert not state.is_paused()
    assert not state.is_gone()
    found = state.cpu_s()
    assert found is not None
    # /proc counts in ticks of 10 ms, and this process goes on meanwhile.
    assert found <= time.process_time() + 0.02


def test_an_id_that_another_process_has_by_now() -> None:
    state = ProcessState(PROC, os.getpid(), start_of(os.getpid()) + 1)
    assert (state.name(), state.is_paused(), state.is_gone()) == ("", False, True)
    assert state.cpu_s() is None


def test_a_stopped_process_and_its_end() -> None:
    child = os.posix_spawn("/bin/sleep", ["sleep", "600"], os.environ)
    state = ProcessState(PROC, child, start_of(child))
    os.kill(child, signal.SIGSTOP)
    os.waitpid(child, os.WUNTRACED)
    assert state.is_paused()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert state.is_gone()
    assert not state.is_paused()
