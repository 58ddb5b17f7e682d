"""Watches over a command: hands on what it writes and the signals that we get, until it ends."""

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

from tidscope_backend.cli.launched import Launched

TAIL_BYTES = 16 * 1024
CHUNK = 64 * 1024
BEAT_SECONDS = 0.5
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""A terminal sends these to all of its foreground group, the command included."""


class Tail:
    """Keeps the end of what was written, and counts all of it."""

    def __init__(self, keep: int = TAIL_BYTES) -> None:
        self._keep = keep
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """More was written."""
        self.total += len(data)
        self._chunks.append(data)
        self._held += len(data)
        while self._held - len(self._chunks[0]) >= self._keep:
            self._held -= len(self._chunks.popleft())

    def text(self) -> str:
        """The end, as text."""
        return b"".join(self._chunks)[-self._keep :].decode(errors="replace")


@dataclass(frozen=True)
class Ended:
    """How a command ended: as wait4(2) tells it."""

    status: int
    usage: struct_rusage
    elapsed_s: float
    tail: Tail

    @property
    def code(self) -> int:
        """What a shell would give as its exit code."""
        if os.WIFSIGNALED(self.status):
            return 128 + os.WTERMSIG(self.status)
        return os.WEXITSTATUS(self.status)

    def outcome(self, command: list[str]) -> RunOutcome:
        """The same for the manifest."""
        killed = os.WIFSIGNALED(self.status)
        return RunOutcome(
            # A command line of the kernel may be longer than a manifest has room for.
            command=[argument.encode(errors="replace").decode() for argument in command[:1024]],
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
            output_tail=self.tail.text(),
        )


def run_to_end(child: Launched, beat: Callable[[], None]) -> Ended:
    """Let a command go and stay with it.

    Args:
        child: stands before its first instruction.
        beat: called about twice a second.
    """
    tail = Tail()
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    before = {number: signal.signal(number, _nothing) for number in PASSED_ON}
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
            child.let_go()
            _watch(selector, child, pidfd, waking, tail, beat)
            elapsed_s = time.monotonic() - started
            # What it wrote before it ended; whoever it left behind may go on writing.
            for source, sink in ((child.output, 1), (child.errors, 2)):
                while _hand_on(selector, source, sink, tail):
                    pass
            _, status, usage = os.wait4(child.pid, 0)
        finally:
            signal.set_wakeup_fd(previous)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(pidfd)
    return Ended(status, usage, elapsed_s, tail)


def _watch(
    selector: selectors.BaseSelector,
    child: Launched,
    pidfd: int,
    waking: socket.socket,
    tail: Tail,
    beat: Callable[[], None],
) -> None:
    """Hand on until it has ended."""
    next_beat = time.monotonic() + BEAT_SECONDS
    while True:
        ready = {key.fd: key for key, _ in selector.select(max(0, next_beat - time.monotonic()))}
        for number in waking.recv(256) if waking.fileno() in ready else b"":
            _pass_on(child.pid, signal.Signals(number))
        for fd, key in ready.items():
            if fd in (child.output, child.errors):
                _hand_on(selector, fd, key.data, tail)
        if pidfd in ready:
            return
        if time.monotonic() >= next_beat:
            beat()
            next_beat = time.monotonic() + BEAT_SECONDS


def _hand_on(selector: selectors.BaseSelector, source: int, sink: int, tail: Tail) -> bool:
    """Read once and write it; whether there was something."""
    if source not in selector.get_map():
        return False
    try:
        data = os.read(source, CHUNK)
    except BlockingIOError:
        return False
    if data:
        tail.add(data)
        try:
            _write(sink, data)
        except OSError:
            data = b""  # Nobody reads it any more: the command learns that as it would without us.
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
            # Whoever shares this descriptor has set it so.
            os.set_blocking(sink, True)


def _pass_on(pid: int, number: signal.Signals) -> None:
    if number not in PASSED_ON or (number in FROM_TERMINAL and _is_foreground()):
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


def _nothing(*_: object) -> None:
    """The wake-up descriptor tells of it."""
