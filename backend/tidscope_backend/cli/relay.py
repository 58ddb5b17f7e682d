"""Relays a command's output and our signals to it, until it exits."""

import os
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from resource import struct_rusage

from tidscope_wire.generated.models import RunOutcome
from tidscope_wire.redaction import MARGIN

from tidscope_backend.cli.held_child import HeldChild

TAIL_BYTES = 16 * 1024
CHUNK = 64 * 1024
TICK_SECONDS = 0.5
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""A terminal sends these to its whole foreground group, the command included."""


class OutputTail:
    """The end of the output, and the count of all of its bytes."""

    def __init__(self, keep: int = TAIL_BYTES + MARGIN) -> None:
        self._keep = keep
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self.total = 0

    def append(self, data: bytes) -> None:
        """Append output."""
        self.total += len(data)
        self._chunks.append(data)
        self._held += len(data)
        while self._held - len(self._chunks[0]) >= self._keep:
            self._held -= len(self._chunks.popleft())

    @property
    def cut(self) -> bool:
        """Whether there was more before it."""
        return self.total > self._keep

    def text(self) -> str:
        """The end, as text."""
        return b"".join(self._chunks)[-self._keep :].decode(errors="replace")


@dataclass(frozen=True)
class CommandExit:
    """How a command exited, from wait4(2)."""

    status: int
    usage: struct_rusage
    elapsed_s: float
    tail: OutputTail

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
            max_rss_bytes=self.usage.ru_maxrss * 1024,
            major_faults=self.usage.ru_majflt,
            minor_faults=self.usage.ru_minflt,
            voluntary_switches=self.usage.ru_nvcsw,
            involuntary_switches=self.usage.ru_nivcsw,
            output_bytes=self.tail.total,
            output_tail=output,
        )


def relay_until_exit(child: HeldChild, tick: Callable[[], None]) -> CommandExit:
    """Release a held command and relay until it exits.

    Args:
        child: held before its first instruction.
        tick: called about twice a second.
    """
    tail = OutputTail()
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    before = {number: signal.signal(number, _wake_up_only) for number in FORWARDED}
    previous = signal.set_wakeup_fd(woken.fileno())
    pidfd = os.pidfd_open(child.pid)
    with selectors.DefaultSelector() as selector, waking, woken:
        try:
            for source, sink in ((child.output, 1), (child.errors, 2)):
                os.set_blocking(source, False)
                selector.register(source, selectors.EVENT_READ, sink)
            selector.register(pidfd, selectors.EVENT_READ)
            selector.register(waking, selectors.EVENT_READ)
            started = time.monotonic()
            child.release()
            _watch(selector, child, pidfd, waking, tail, tick)
            elapsed_s = time.monotonic() - started
            # Output written before the exit; processes it left behind may go on writing.
            for source, sink in ((child.output, 1), (child.errors, 2)):
                while _relay(selector, source, sink, tail):
                    pass
            _, status, usage = os.wait4(child.pid, 0)
        finally:
            signal.set_wakeup_fd(previous)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(pidfd)
    return CommandExit(status, usage, elapsed_s, tail)


def _watch(
    selector: selectors.BaseSelector,
    child: HeldChild,
    pidfd: int,
    waking: socket.socket,
    tail: OutputTail,
    tick: Callable[[], None],
) -> None:
    """Relay until it exits."""
    next_tick = time.monotonic() + TICK_SECONDS
    while True:
        ready = {key.fd: key for key, _ in selector.select(max(0, next_tick - time.monotonic()))}
        for number in waking.recv(256) if waking.fileno() in ready else b"":
            _forward(child.pid, signal.Signals(number))
        for fd, key in ready.items():
            if fd in (child.output, child.errors):
                _relay(selector, fd, key.data, tail)
        if pidfd in ready:
            return
        if time.monotonic() >= next_tick:
            tick()
            next_tick = time.monotonic() + TICK_SECONDS


def _relay(selector: selectors.BaseSelector, source: int, sink: int, tail: OutputTail) -> bool:
    """Read and write one chunk; returns whether there was one."""
    if source not in selector.get_map():
        return False
    try:
        data = os.read(source, CHUNK)
    except BlockingIOError:
        return False
    if data:
        tail.append(data)
        try:
            _write(sink, data)
        except OSError:
            data = b""  # Our reader has gone: the command gets SIGPIPE as it would without us.
    if not data:
        selector.unregister(source)
        os.close(source)
    return bool(data)


def _write(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(sink, view) :]
        except BlockingIOError:
            # A process that shares this descriptor has made it non-blocking.
            os.set_blocking(sink, True)


def _forward(pid: int, number: signal.Signals) -> None:
    if number not in FORWARDED or (number in FROM_TERMINAL and _is_foreground()):
        return
    os.kill(pid, number)  # Not waited for yet, so the id is still its own.


def _is_foreground() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


def _wake_up_only(*_: object) -> None:
    """The wake-up descriptor reports the signal."""
