"""What a target's frames say about its process as a whole: CPU time, memory, limits."""

from typing import NamedTuple

from tidscope_wire.generated.models import GomaxprocsChanged, ProcessGauges

from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader
from tidscope_collector.procfs.cgroup import ThrottlingMeter
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import rss_bytes
from tidscope_collector.sampling.process_clock import process_cpu_ns

SLOW_GAUGES_NS = 950_000_000
LIMIT_NS = 9_500_000_000
"""A process without a CPU limit is looked at so often, whether it has one now."""


class Question(NamedTuple):
    """How GOMAXPROCS is asked for: of a child, by a byte.

    Attributes:
        child: descriptor of the connection to it.
        size: what it answered last.
    """

    child: int
    size: int


class ProcessMeter:
    """Reads the gauges of one process; belongs to the sampling thread.

    Args:
        pid: of the process.
        procfs: root of /proc.
        delays: the switch of delay accounting, whose state is reported; None: it is not.
        reader: of GOMAXPROCS, or None; closed with the meter.
        size: GOMAXPROCS as it is known already; None if it is not.
    """

    def __init__(
        self,
        pid: int,
        procfs: ProcFs,
        delays: DelayAccounting | None,
        reader: GomaxprocsReader | None,
        size: int | None,
    ) -> None:
        self._pid = pid
        self._procfs = procfs
        self._delays = delays
        self._gomaxprocs = reader
        self._size = self._known_size = size
        self._throttling = ThrottlingMeter(procfs, pid)
        self._limit_ns = -LIMIT_NS
        self._rss: int | None = None
        self._accounting: bool | None = None
        self._slow_ns = -SLOW_GAUGES_NS
        self._cpu_ns: int | None = None
        self._cpu_read_ns = -SLOW_GAUGES_NS
        self._read: tuple[float | None, ...] = ()
        self._gauges = ProcessGauges(gomaxprocs=None, rss_bytes=None)

    def close_gomaxprocs(self) -> None:
        """Close the reader of GOMAXPROCS, whose value is not known any more."""
        self._size = self._known_size = None
        if self._gomaxprocs is not None:
            self._gomaxprocs.close()
            self._gomaxprocs = None

    def replace_gomaxprocs(self, reader: GomaxprocsReader | None) -> None:
        """Read GOMAXPROCS of another program."""
        self.close_gomaxprocs()
        self._gomaxprocs = reader

    def request_gomaxprocs(self) -> None:
        """Ask for GOMAXPROCS; `collect_gomaxprocs` takes the answer."""
        if self._gomaxprocs is not None:
            self._gomaxprocs.request()

    def collect_gomaxprocs(self) -> GomaxprocsChanged | None:
        """Take GOMAXPROCS; the change, if it is one."""
        if self._gomaxprocs is None:
            return None
        self._size = size = self._gomaxprocs.collect()
        if size is None:
            return None
        previous, self._known_size = self._known_size, size
        if previous is None or size == previous:
            return None
        return GomaxprocsChanged(size=size, previous=previous)

    @property
    def reads_gomaxprocs(self) -> bool:
        """Whether GOMAXPROCS is asked for in each sample."""
        return self._gomaxprocs is not None

    def question(self) -> "Question | None":
        """How compiled code asks for GOMAXPROCS; None: it cannot now."""
        free = None if self._gomaxprocs is None else self._gomaxprocs.free
        return None if free is None or self._size is None else Question(free, self._size)

    def asked(self, pending: bool) -> None:
        """Compiled code has asked for GOMAXPROCS; whether the answer is still to come."""
        if self._gomaxprocs is not None:
            self._gomaxprocs.asked(pending)

    def read_cpu(self, now_ns: int, *, due: bool = False) -> None:
        """Read the CPU time about once a second: the kernel sums up all threads.

        `take_cpu_ns` takes it.

        Args:
            now_ns: CLOCK_MONOTONIC.
            due: read it now, whenever it was read before.
        """
        if due or now_ns - self._cpu_read_ns >= SLOW_GAUGES_NS:
            self._cpu_read_ns = now_ns
            self._cpu_ns = self._read_cpu()

    def _read_cpu(self) -> int | None:
        return process_cpu_ns(self._pid)

    def _read_rss(self) -> int | None:
        return rss_bytes(self._procfs, self._pid)

    def take_cpu_ns(self) -> int | None:
        """CPU time, nanoseconds; None if it was not read since it was taken."""
        cpu_ns, self._cpu_ns = self._cpu_ns, None
        return cpu_ns

    def read_slow(self, now_ns: int) -> None:
        """Read what costs more, about once a second.

        Args:
            now_ns: CLOCK_MONOTONIC.
        """
        if now_ns - self._slow_ns >= SLOW_GAUGES_NS:
            self._slow_ns = now_ns
            self._rss = self._read_rss()
            if self._throttling.cores is not None or now_ns - self._limit_ns >= LIMIT_NS:
                self._limit_ns = now_ns
                self._throttling.read()
            self._accounting = None if self._delays is None else self._delays.state()

    def gauges(self) -> ProcessGauges:
        """As read last, without the CPU time; the same object while they do not change."""
        missed = None if self._gomaxprocs is None else self._gomaxprocs.missed
        limit = self._throttling
        throttled = (limit.cores, limit.periods, limit.throttled, limit.throttled_us)
        read = (self._size, missed, self._rss, self._accounting, *throttled)
        if read != self._read:
            self._read = read
            self._gauges = ProcessGauges(
                gomaxprocs=self._size,
                gomaxprocs_missed=missed,
                rss_bytes=self._rss,
                cpu_ns=None,
                delay_accounting=self._accounting,
                cpu_limit=limit.cores,
                cgroup_periods=limit.periods,
                cgroup_throttled=limit.throttled,
                cgroup_throttled_us=limit.throttled_us,
            )
        return self._gauges
