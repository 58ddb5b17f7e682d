"""Signals that wait with who sent them, and which of them a command gets from us."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tidscope_backend.cli.relay import (
    ReceivedSignal,
    SignalQueue,
    blocked_signals,
    interrupted_twice,
    pass_on,
    stop_with,
)

BY_KERNEL, BY_PROCESS = 0x80, 0


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """Writes the numbers of signals that it gets."""
    code = (
        "import signal, sys\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
        "print('ready', flush=True)\n"
        "while True: print(int(signal.sigwait(signal.valid_signals())), flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as made:
        assert made.stdout is not None
        assert made.stdout.readline() == "ready\n"
        yield made
        made.kill()


def next_of(child: subprocess.Popen[str]) -> int:
    assert child.stdout is not None
    return int(child.stdout.readline())


def test_signals_wait_with_their_sender() -> None:
    """Those for this thread alone: another one of the test runner would not block them."""
    with SignalQueue((signal.SIGUSR1, signal.SIGUSR2)) as queue:
        signal.raise_signal(signal.SIGUSR2)
        signal.raise_signal(signal.SIGUSR1)
        received = queue.read()
        assert [one.number for one in received] == [signal.SIGUSR1, signal.SIGUSR2]
        assert [one.sender for one in received] == 2 * [os.getpid()]
        assert not any(one.from_kernel for one in received)
        assert queue.read() == []
    assert not {signal.SIGUSR1, signal.SIGUSR2} & signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ignored_signals_stay_ignored() -> None:
    """Of nohup, say: a blocked one would wait all the same."""
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with SignalQueue((signal.SIGUSR1, signal.SIGUSR2)) as queue:
            signal.raise_signal(signal.SIGUSR1)
            signal.raise_signal(signal.SIGUSR2)
            assert [received.number for received in queue.read()] == [signal.SIGUSR2]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_the_command_does_not_have_already_is_passed_on(child: subprocess.Popen[str]) -> None:
    with blocked_signals():
        for number, code, sender in (
            (signal.SIGINT, BY_KERNEL, 0),  # Ctrl-C: the terminal has sent it to both.
            (signal.SIGHUP, BY_KERNEL, 0),
            (signal.SIGTERM, BY_PROCESS, child.pid),  # It has sent it to its own process group.
            (signal.SIGUSR1, BY_PROCESS, os.getpid()),
        ):
            pass_on(ReceivedSignal(number, code, sender), child.pid)
    assert next_of(child) == signal.SIGUSR1


def test_a_command_with_a_group_of_its_own_learns_of_the_end_of_the_terminal() -> None:
    # Under nohup we ignore it, and so would the child.
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        child = subprocess.Popen(["sleep", "600"], process_group=0)
    finally:
        signal.signal(signal.SIGHUP, before)
    with child:
        # Ctrl-C came to our group, and not to that one.
        pass_on(ReceivedSignal(signal.SIGINT, BY_KERNEL, 0), child.pid)
        pass_on(ReceivedSignal(signal.SIGHUP, BY_KERNEL, 0), child.pid)
    assert child.returncode == -signal.SIGHUP


def test_a_second_interrupt_interrupts(capfd: pytest.CaptureFixture[str]) -> None:
    def interrupt_often() -> None:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        assert capfd.readouterr().err == "again to end it\n"
        signal.raise_signal(signal.SIGINT)

    # A shell lets commands in its background ignore it, and so would we.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        with pytest.raises(KeyboardInterrupt), interrupted_twice("again to end it"):
            interrupt_often()
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_child_that_has_exited_is_none_that_stops() -> None:
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        stop_with(ended.pid)
