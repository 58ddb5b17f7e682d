"""Run of a held command to its exit, with relay of output and signals.

The terminal sends its signals (Ctrl-C, Ctrl-\\, Ctrl-Z, window size, hang-up) to the complete
foreground process group, which includes the command. Signals sent only to this process are passed
on. When Ctrl-Z has stopped the command, this process stops as well, so that the shell can continue
both.
"""

import ctypes
import os
import selectors
import signal
import struct
import termios
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage
from typing import NamedTuple, Self

from tidscope_wire.generated.models import RunOutcome

from tidscope_backend.cli.held_child import HeldChild
from tidscope_backend.cli.output_relay import OutputRelay, OutputTail

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
CHILDREN_TICKS = slice(13, 15)
"""cutime and cstime, among the fields of /proc/PID/stat after the name (proc(5): fields 16, 17)."""


@dataclass(frozen=True)
class CommandExit:
    """Exit of a command, from wait4(2).

    Attributes:
        status: status from wait4(2).
        usage: resource usage of the command and the children it waited for.
        children_cpu_us: CPU time of those children, in microseconds; None if unreadable.
        elapsed_s: time since the release, in seconds.
        tail: end of the output through pipes; None without pipes.
    """

    status: int
    usage: struct_rusage
    children_cpu_us: int | None
    elapsed_s: float
    tail: OutputTail | None

    @property
    def code(self) -> int:
        """Exit code that a shell would report."""
        if os.WIFSIGNALED(self.status):
            return 128 + os.WTERMSIG(self.status)
        return os.WEXITSTATUS(self.status)

    def outcome(self, command: list[str], output: str | None) -> RunOutcome:
        """Return the outcome for the run's manifest, with the stored arguments and output."""
        killed = os.WIFSIGNALED(self.status)
        return RunOutcome(
            # A command line may exceed the manifest's limit.
            command=command[:1024],
            exit_code=None if killed else os.WEXITSTATUS(self.status),
            signal=_name(os.WTERMSIG(self.status)) if killed else None,
            elapsed_us=round(self.elapsed_s * 1e6),
            user_cpu_us=round(self.usage.ru_utime * 1e6),
            system_cpu_us=round(self.usage.ru_stime * 1e6),
            children_cpu_us=self.children_cpu_us,
            max_rss_bytes=self.usage.ru_maxrss * 1024,
            major_faults=self.usage.ru_majflt,
            minor_faults=self.usage.ru_minflt,
            voluntary_switches=self.usage.ru_nvcsw,
            involuntary_switches=self.usage.ru_nivcsw,
            output_bytes=None if self.tail is None else self.tail.total,
            output_tail=output,
        )


FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGWINCH,
    signal.SIGTSTP,
    signal.SIGCONT,
)


def relay_until_exit(child: HeldChild) -> CommandExit:
    """Release a held command and relay signals and output until it exits."""
    relay = OutputRelay(child.pipes)
    modes = TerminalModes()
    pidfd = os.pidfd_open(child.pid)
    with (
        selectors.DefaultSelector() as selector,
        SignalQueue((*FORWARDED, signal.SIGCHLD)) as queue,
    ):
        selector.register(pidfd, selectors.EVENT_READ)
        selector.register(queue, selectors.EVENT_READ)
        relay.start()
        started = time.monotonic()
        child.release()
        while not any(key.fd == pidfd for key, _ in selector.select()):
            for received in queue.read():
                if received.number == signal.SIGCHLD:
                    stop_with(child.pid)
                else:
                    pass_on(received, child.pid)
        elapsed_s = time.monotonic() - started
        children_cpu_us = _children_cpu_us(child.pid)
        queue.read()  # Signals from before the exit were meant for the command.
        _, status, usage = os.wait4(child.pid, 0)
        if os.WIFSIGNALED(status):
            modes.restore()
        selector.unregister(pidfd)
        os.close(pidfd)
        _finish(relay, selector, queue)
    tail = relay.tail if child.pipes else None
    return CommandExit(status, usage, children_cpu_us, elapsed_s, tail)


class ReceivedSignal(NamedTuple):
    """A received signal.

    Attributes:
        number: number of the signal.
        code: signal code: 0 or below if a process sent the signal (such as SI_USER), above 0 if the
            kernel did.
        sender: process ID of the sender; 0 for the kernel or another PID namespace.
    """

    number: signal.Signals
    code: int
    sender: int

    @property
    def from_kernel(self) -> bool:
        """Return True if the kernel sent the signal, as for Ctrl-C in a terminal."""
        return self.code > 0


_RECORD = struct.Struct("=IiiI112x")
"""signalfd_siginfo: number, errno, code, process ID of the sender, and unused fields."""
_SET = struct.Struct("@Q120x")
"""sigset_t of the C library: one bit per signal, starting with signal 1."""


class SignalQueue:
    """Context manager that queues signals. A selector can wait for the queue.

    Signals for a process reach any thread that does not block them, so all threads must block them.
    Start threads of libraries within `blocked_signals`.

    Args:
        numbers: signals to queue; ignored signals stay ignored and are not queued.
    """

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        self._numbers = [one for one in numbers if signal.getsignal(one) != signal.SIG_IGN]
        self._descriptor = -1
        self._before: set[int | signal.Signals] = set()

    def __enter__(self) -> Self:
        bits = sum(1 << (number - 1) for number in self._numbers)
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.signalfd(-1, _SET.pack(bits), os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "signalfd")
        self._before = set(signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers))
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def fileno(self) -> int:
        """Readable while a signal waits."""
        return self._descriptor

    def read(self) -> list[ReceivedSignal]:
        """Remove and return the queued signals. Does not block."""
        try:
            data = os.read(self._descriptor, _RECORD.size * len(self._numbers))
        except BlockingIOError:
            return []
        return [
            ReceivedSignal(signal.Signals(number), code, sender)
            for number, _, code, sender in _RECORD.iter_unpack(data)
        ]


def _finish(relay: OutputRelay, selector: selectors.BaseSelector, queue: SignalQueue) -> None:
    """Wait until all output is relayed, or a signal ends the wait for a slow reader."""
    relay.command_exited()
    selector.register(relay, selectors.EVENT_READ)
    while not any(key.fileobj is relay for key, _ in selector.select()):
        if any(received.number in ENDING for received in queue.read()):
            return


def _children_cpu_us(pid: int) -> int | None:
    """Return CPU time of the children that a process waited for, in µs; None if it was reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[CHILDREN_TICKS])) * 1_000_000 // TICKS_PER_SECOND


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


def pass_on(received: ReceivedSignal, pid: int) -> None:
    """Send a signal to an unreaped child, unless the child already received the signal."""
    if received.sender == pid:
        return  # The command sent the signal to its process group, as editors do on Ctrl-Z.
    if received.number == signal.SIGCONT and not _is_stopped(pid):
        return  # A shell continues the whole process group.
    if received.from_kernel:
        # A shell started here has its own foreground groups. It learns of the terminal's end only
        # as session leader, a role that this process may hold.
        other_group = os.getpgid(pid) != os.getpgrp()
        if received.number != signal.SIGHUP or not other_group:
            return
    os.kill(pid, received.number)


def _is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def stop_with(pid: int) -> None:
    """Stop this process until it is continued, if Ctrl-Z has stopped the child.

    A child stopped by SIGSTOP is recorded unchanged.
    """
    try:
        stopped = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG)
    except ChildProcessError:  # The child has exited, so waitpid cannot report a stop.
        return
    if stopped is None or stopped.si_status != signal.SIGTSTP:
        return
    # The kernel ignores the signal in an orphaned process group, which no shell could continue.
    os.kill(os.getpid(), signal.SIGTSTP)
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


class TerminalModes:
    """Modes of the terminal, if this process is in the foreground of one."""

    def __init__(self) -> None:
        self._terminal = next(filter(_is_foreground, range(3)), None)
        self._modes = None if self._terminal is None else termios.tcgetattr(self._terminal)

    def restore(self) -> None:
        """Restore the modes and the foreground process group.

        A shell does so for a job killed by a signal, but sees only the exit code of this process.
        """
        if self._terminal is None or self._modes is None:
            return
        # A background process would be stopped by this call.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        with suppress(OSError, termios.error):
            os.tcsetpgrp(self._terminal, os.getpgrp())
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._modes)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_foreground(descriptor: int) -> bool:
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Start threads within this context to block all signals there."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupted_twice(first: str) -> Iterator[None]:
    """Print a line at the first Ctrl-C or SIGTERM; the second one raises KeyboardInterrupt.

    SIGHUP ends nothing: after the kernel, the shell reports the terminal's end too.

    Args:
        first: line printed at the first interrupt.
    """
    seen: list[int] = []

    def interrupt(number: int, _: object) -> None:
        seen.append(number)
        if len(seen) > 1:
            raise KeyboardInterrupt
        # The interrupted code may itself be printing.
        os.write(2, f"{first}\n".encode())

    handlers = ((signal.SIGINT, interrupt), (signal.SIGTERM, interrupt), (signal.SIGHUP, _go_on))
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _go_on(*_: object) -> None:
    """Ignore a signal."""
