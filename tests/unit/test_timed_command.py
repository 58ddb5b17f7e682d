"""Timed runs of commands: what they take, how they fail, and that nothing is left."""

import os
import signal
import threading
from pathlib import Path

import pytest
from processes import wait_until
from tidscope_backend.cli.held_child import Surroundings
from tidscope_backend.cli.interrupts import held_interrupts, interruptible
from tidscope_backend.cli.timed_command import check_exit, held_command, run_held
from tidscope_backend.experiments.workload import RepeatError

APART = Surroundings(apart=True)


def descriptors() -> set[str]:
    return {one.name for one in Path("/proc/self/fd").iterdir()}


def run(*command: str, timeout_s: float = 60.0) -> str:
    with held_command(command, APART) as child:
        ended = run_held(child, timeout_s)
    check_exit(ended)
    assert ended.tail is not None
    return ended.tail.text()


def test_a_command_is_run() -> None:
    assert run("echo", "one $HOME") == "one $HOME\n"
    before = descriptors()
    for _ in range(20):
        run("true")
    # Objects of earlier tests may close theirs meanwhile.
    assert descriptors() <= before


def test_time_and_usage_are_those_of_the_command_and_its_children() -> None:
    with held_command(["sh", "-c", "sleep 0.2"], APART) as child:
        ended = run_held(child, 60.0)
    assert 0.2 <= ended.elapsed_s < 30
    assert ended.usage.ru_maxrss > 0


def test_failures_say_the_end_of_the_output() -> None:
    with pytest.raises(RepeatError, match=r"ended with exit code 3; its output ends:\nlast$"):
        run("sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo; done; echo last; exit 3")
    with pytest.raises(RepeatError, match="ended with exit code 1; it wrote nothing"):
        run("false")
    with pytest.raises(RepeatError, match="was killed by SIGTERM"):
        run("sh", "-c", "kill $$")


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    script = f"sleep 1000 & echo $! > {file}.new; mv {file}.new {file}; wait"
    with pytest.raises(RepeatError, match=r"did not end within 0\.5 s"):
        run("sh", "-c", script, timeout_s=0.5)
    if file.exists():
        pid = int(file.read_text())
        wait_until(lambda: not is_running(pid))


def test_a_command_that_is_never_released_is_ended() -> None:
    with held_command(["sleep", "1000"], APART) as child:
        pid = child.pid
        assert is_running(pid)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def test_an_interrupt_ends_the_run(tmp_path: Path) -> None:
    file = tmp_path / "began"

    def interrupt() -> None:
        wait_until(file.exists)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    pid = 0
    try:
        command = ["sh", "-c", f"touch {file}; exec sleep 1000"]
        with (
            interruptible(),
            pytest.raises(KeyboardInterrupt),
            held_command(command, APART) as child,
        ):
            pid = child.pid
            run_held(child, 60.0)
    finally:
        thread.join()
    assert not is_running(pid)


def test_held_interrupts_come_at_the_end() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), held_interrupts():
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("all of it")
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
