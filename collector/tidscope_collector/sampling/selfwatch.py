"""What measuring costs: CPU of the collector and of its parts, and how long samples take."""

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidscope_collector.sampling.budget import CpuSpent

ACCOUNT_NS = 1_000_000_000
STRETCH_NS = 5_000_000_000


@dataclass(frozen=True, slots=True)
class Load:
    """Of frames on their way to the backend, and of what went there since the collector started.

    Attributes:
        replay_bytes: held for replay.
        replay_frames: the same, in frames.
        unsent_frames: of them not sent yet.
        undelivered_bytes: of frames that the backend has not confirmed.
        backlog: whether so many frames wait that fewer are to be made.
        network_calls_uncounted: socket calls that the eBPF program could not count.
        ledger_threads_uncounted: threads without a ledger, because all slots were in use.
        dropped: by target the frames that no backend has received, and none will.
        sent_frames: sent, repeated ones too.
        sent_bytes: of messages and frames.
    """

    replay_bytes: int = 0
    replay_frames: int = 0
    unsent_frames: int = 0
    undelivered_bytes: int = 0
    backlog: bool = False
    network_calls_uncounted: int = 0
    ledger_threads_uncounted: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    sent_frames: int = 0
    sent_bytes: int = 0


@dataclass(slots=True)
class _Stretch:
    count: int = 0
    sum_us: int = 0
    max_us: int = 0


class SampleTimes:
    """How long samples took over the last five to ten seconds."""

    def __init__(self) -> None:
        self._now, self._before = _Stretch(), _Stretch()
        self._began_ns = 0

    def note(self, sample_us: int, now_ns: int) -> None:
        """Take one in."""
        if now_ns - self._began_ns >= STRETCH_NS:
            self._before = self._now if now_ns - self._began_ns < 2 * STRETCH_NS else _Stretch()
            self._now, self._began_ns = _Stretch(), now_ns
        self._now.count += 1
        self._now.sum_us += sample_us
        self._now.max_us = max(self._now.max_us, sample_us)

    @property
    def mean_us(self) -> int:
        """Their mean; 0 before the first."""
        count = self._now.count + self._before.count
        return (self._now.sum_us + self._before.sum_us) // count if count else 0

    @property
    def max_us(self) -> int:
        """The longest."""
        return max(self._now.max_us, self._before.max_us)


@dataclass
class _Spending:
    """CPU of one target since the last account, in the sampling thread, and bytes to send."""

    cpu_ns: int = 0
    bytes: int = 0


def sampling_clock() -> int:
    """CPU of the calling thread, nanoseconds."""
    return time.thread_time_ns()


def process_clock() -> int:
    """CPU of this process with all its threads, ended ones too, nanoseconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return round((used.ru_utime + used.ru_stime) * 1e9)


@dataclass
class SelfWatch:
    """Accounts about once a second; belongs to the sampling thread.

    Args:
        sending: CPU of the thread that sends, nanoseconds, as it grows.
        sampling: the same of the thread that samples, which is the caller.
        process: the same of the whole process.

    Attributes:
        cpu_percent: of the process over the last account, 100 = one core; None before the first.
        overhead_percent: of sampling, of sending, and of our programs in the kernel.
    """

    sending: Callable[[], int]
    sampling: Callable[[], int] = sampling_clock
    process: Callable[[], int] = process_clock
    cpu_percent: float | None = None
    overhead_percent: float | None = None
    _kernel_ns: int = 0
    _began_ns: int | None = None
    _clocks: tuple[int, int, int] = (0, 0, 0)
    _targets: dict[str, _Spending] = field(default_factory=dict)

    def restart(self, now_ns: int) -> None:
        """Begin an account again: what was before is nobody's."""
        self._began_ns = now_ns
        self._clocks = self.sampling(), self.sending(), self.process()
        self._targets.clear()
        self._kernel_ns = 0

    def note(self, target: str, cpu_ns: int, size: int) -> None:
        """A sample of a target took so much CPU, and its frame has so many bytes."""
        spending = self._targets.setdefault(target, _Spending())
        spending.cpu_ns += cpu_ns
        spending.bytes += size

    def note_kernel(self, cpu_ns: int) -> None:
        """Programs of ours in the kernel took so much of the machine's CPUs, by estimate."""
        self._kernel_ns += cpu_ns

    def account(self, now_ns: int) -> CpuSpent | None:
        """Close an account, if it is time for it.

        The CPU of the sending thread is divided among targets by the bytes of their frames.
        """
        if self._began_ns is None:
            self.restart(now_ns)
            return None
        elapsed_ns = now_ns - self._began_ns
        if elapsed_ns < ACCOUNT_NS:
            return None
        before, targets, kernel_ns = self._clocks, dict(self._targets), self._kernel_ns
        self.restart(now_ns)
        sampling, sending, process = (
            now - then for now, then in zip(self._clocks, before, strict=True)
        )
        size = sum(one.bytes for one in targets.values())
        cost = {
            target: (one.cpu_ns + (sending * one.bytes / size if size else 0)) / 1e9
            for target, one in targets.items()
        }
        measuring_s = (sampling + sending) / 1e9
        fixed_s = max(0.0, measuring_s - sum(cost.values())) + kernel_ns / 1e9
        spent = CpuSpent(elapsed_ns / 1e9, fixed_s, cost)
        self.cpu_percent = 100 * process / elapsed_ns
        self.overhead_percent = 100 * (sampling + sending + kernel_ns) / elapsed_ns
        return spent
