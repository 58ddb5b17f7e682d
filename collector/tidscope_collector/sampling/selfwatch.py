"""Cost of measuring: CPU of the collector and of its parts."""

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidscope_collector.sampling.budget import CpuSpent

ACCOUNT_NS = 950_000_000


@dataclass(frozen=True, slots=True)
class Load:
    """Frames in flight to the backend, and frames sent since the collector started.

    Attributes:
        replay_bytes: held for replay.
        replay_frames: the same, in frames.
        unsent_frames: of them not sent yet.
        undelivered_bytes: of frames that the backend has not confirmed.
        backlog: whether so many frames wait that fewer are to be made.
        dropped: by target the frames that no backend has received, and none will.
        sent_frames: sent, repeated ones too.
        sent_bytes: of messages and frames.
    """

    replay_bytes: int = 0
    replay_frames: int = 0
    unsent_frames: int = 0
    undelivered_bytes: int = 0
    backlog: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)
    sent_frames: int = 0
    sent_bytes: int = 0


@dataclass
class _Spending:
    """CPU of one target since the last account, and bytes to send."""

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
    """Accounts about once a second; belongs to the thread of targets.

    Args:
        sending: CPU of the thread that sends, nanoseconds, as it grows.
        sampling: the same of the caller's thread; that of the sampler comes by `note_sampler`.
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
    _sampler_ns: int = 0
    _began_ns: int | None = None
    _clocks: tuple[int, int, int] = (0, 0, 0)
    _targets: dict[str, _Spending] = field(default_factory=dict)

    def restart(self, now_ns: int) -> None:
        """Begin an account again: what was before is nobody's."""
        self._began_ns = now_ns
        self._clocks = self.sampling() + self._sampler_ns, self.sending(), self.process()
        self._targets.clear()
        self._kernel_ns = 0

    def note(self, target: str, cpu_ns: int, size: int) -> None:
        """A sample of a target took so much CPU, and its frame has so many bytes."""
        spending = self._targets.setdefault(target, _Spending())
        spending.cpu_ns += cpu_ns
        spending.bytes += size

    def note_sampler(self, cpu_ns: int) -> None:
        """The sampler's thread took so much CPU."""
        self._sampler_ns += cpu_ns

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
