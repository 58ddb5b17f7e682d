"""Gauges of a target as a whole, read about once a second: memory, limits, delay accounting."""

from typing import NamedTuple

from tidscope_collector.procfs.control_groups import memberships
from tidscope_collector.procfs.cpu_limit import ThrottlingMeter
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.group_limits import NO_LIMITS, Limits, LimitsMeter
from tidscope_collector.procfs.process import rss_bytes

LIMIT_NS = 9_500_000_000
"""Interval between two searches for limits while there are none, in nanoseconds."""


class Gauges(NamedTuple):
    """Gauges of a process; see `ProcessGauges` of the wire.

    Attributes:
        rss_bytes: resident memory; None if unknown.
        delay_accounting: True if delay accounting is on; None if unknown.
        cpu_limit: cores; None without a limit.
        cgroup: periods of the limit, throttled ones, and throttled time in microseconds.
        limits: memory and disk limits.
    """

    rss_bytes: int | None
    delay_accounting: bool | None
    cpu_limit: float | None
    cgroup: tuple[int | None, int | None, int | None]
    limits: Limits


class ProcessMeter:
    """Reads the gauges of one process.

    Args:
        pid: process ID.
        procfs: root of /proc.
        delays: switch of delay accounting, whose state is reported; None for no report.
    """

    def __init__(self, pid: int, procfs: ProcFs, delays: DelayAccounting | None) -> None:
        self._pid = pid
        self._procfs = procfs
        self._delays = delays
        self._throttling = ThrottlingMeter()
        self._limits = LimitsMeter()
        self._found = NO_LIMITS
        self._limit_ns = -LIMIT_NS

    def read(self, now_ns: int) -> Gauges:
        """Read all gauges.

        Args:
            now_ns: CLOCK_MONOTONIC.
        """
        limit = self._throttling
        limited = limit.cores is not None or any(one is not None for one in self._found)
        if limited or now_ns - self._limit_ns >= LIMIT_NS:
            self._limit_ns = now_ns
            member = memberships(self._procfs, self._pid)
            limit.read(member)
            self._found = self._limits.read(member, now_ns)
        accounting = None if self._delays is None else self._delays.state()
        throttled = limit.periods, limit.throttled, limit.throttled_us
        return Gauges(self._read_rss(), accounting, limit.cores, throttled, self._found)

    def _read_rss(self) -> int | None:
        return rss_bytes(self._procfs, self._pid)
