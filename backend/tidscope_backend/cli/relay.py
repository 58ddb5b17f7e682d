"""Lets a held command run to its exit, relaying output and signals."""

import os
import selectors
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage

from tidscope_wire.generated.models import RunOutcome

from tidscope_backend.cli.held_child import HeldChild
from tidscope_backend.cli.job_control import FORWARDED, TerminalModes, pass_on, stop_with
from tidscope_backend.cli.output_relay import OutputRelay, OutputTail
from tidscope_backend.cli.signal_queue import SignalQueue

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
CHILDREN_TICKS = slice(13, 15)
"""cutime and cstime, of the fields of /proc/PID/stat behind the name (proc(5): fields 16, 17)."""


@dataclass(frozen=True)
class CommandExit:
    """How a command exited, from wait4(2).

    Attributes:
        status: as wait4(2) gives it.
        usage: of the command and the children it waited for.
        children_cpu_us: CPU time of those children, microseconds; None: cannot be read.
        elapsed_s: from its release, seconds.
        tail: of the output that came through pipes; None: none did.
    """

    status: int
    usage: struct_rusage
    children_cpu_us: int | None
    elapsed_s: float
    tail: OutputTail | None

    @property
    def code(self) -> int:
        """The exit code that a shell would report."""
        if os.WIFSIGNALED(self.status):
            return 128 + os.WTERMSIG(self.status)
        return os.WEXITSTATUS(self.status)

    def outcome(self, command: list[str], output: str | None) -> RunOutcome:
        """The same for the run's manifest, with what it keeps of arguments and output."""
        killed = os.WIFSIGNALED(self.status)
        return RunOutcome(
            # A command line of the kernel may be longer than a manifest has room for.
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


def relay_until_exit(child: HeldChild) -> CommandExit:
    """Release a held command and relay until it exits."""
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
        queue.read()  # What came before the exit was for the command.
        _, status, usage = os.wait4(child.pid, 0)
        if os.WIFSIGNALED(status):
            modes.restore()
        selector.unregister(pidfd)
        os.close(pidfd)
        _finish(relay, selector, queue)
    tail = relay.tail if child.pipes else None
    return CommandExit(status, usage, children_cpu_us, elapsed_s, tail)


def _finish(relay: OutputRelay, selector: selectors.BaseSelector, queue: SignalQueue) -> None:
    """Wait until all output is relayed, or somebody ends us for waiting: our reader is slow."""
    relay.command_exited()
    selector.register(relay, selectors.EVENT_READ)
    while not any(key.fileobj is relay for key, _ in selector.select()):
        if any(received.number in ENDING for received in queue.read()):
            return


def _children_cpu_us(pid: int) -> int | None:
    """What the children that a process waited for have used, if it was not waited for yet."""
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
