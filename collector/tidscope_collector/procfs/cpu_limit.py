"""CPU limit of a process' control groups, and throttling by it.

Sources: the kernel's admin-guide/cgroup-v2.rst (cpu.max, cpu.stat) and scheduler/sched-bwc.rst
(version 1: cpu.cfs_quota_us, cpu.cfs_period_us, cpu.stat).
"""

from dataclasses import dataclass
from pathlib import Path

from tidscope_collector.procfs.control_groups import ControlGroup, Memberships


@dataclass(frozen=True)
class CpuLimit:
    """A CPU limit of a control group, with the group's throttling figures.

    Attributes:
        cores: average CPU time per second, in cores.
        group: folder of the group.
        periods: periods in which the group ran.
        throttled: periods in which it was throttled.
        throttled_us: throttled time, in microseconds.
    """

    cores: float
    group: Path
    periods: int
    throttled: int
    throttled_us: int


class ThrottlingMeter:
    """Limit and throttling of a process since the first reading.

    A shared parent group may throttle a process although the process' own limit is tighter. Figures
    are those of the group that was throttled longest since the previous reading, or of the tightest
    one.

    Attributes:
        cores: limit in cores; None if there is none, or it is unreadable.
        periods, throttled, throttled_us: as in `CpuLimit`, since the first reading; None until
            there is a limit.
    """

    def __init__(self) -> None:
        self._last: dict[Path, CpuLimit] = {}
        self.cores: float | None = None
        self.periods: int | None = None
        self.throttled: int | None = None
        self.throttled_us: int | None = None

    def read(self, member: Memberships) -> None:
        """Update the figures.

        Args:
            member: current groups of the process.
        """
        limits = cpu_limits(member)
        limits.sort(key=lambda one: one.cores)
        last, self._last = self._last, {one.group: one for one in limits}
        self.cores = limits[0].cores if limits else None
        # Counts from before the group had a limit are excluded.
        grown = [_growth(last.get(one.group, one), one) for one in limits]
        if not grown:
            return
        periods, throttled, throttled_us = max(grown, key=lambda one: one[2])
        self.periods = (self.periods or 0) + periods
        self.throttled = (self.throttled or 0) + throttled
        self.throttled_us = (self.throttled_us or 0) + throttled_us


def _growth(before: CpuLimit, now: CpuLimit) -> tuple[int, int, int]:
    """Return grown periods, throttled periods, and throttled time in microseconds."""
    return (
        max(0, now.periods - before.periods),
        max(0, now.throttled - before.throttled),
        max(0, now.throttled_us - before.throttled_us),
    )


def cpu_limit(member: Memberships) -> CpuLimit | None:
    """Return the tightest CPU limit of a process, or None if there is none or it is unreadable."""
    return min(cpu_limits(member), key=lambda one: one.cores, default=None)


def cpu_limits(member: Memberships) -> list[CpuLimit]:
    """Return all CPU limits of a process' control groups and their parents."""
    return [limit for group in member.of("cpu") if (limit := _limit_of(group)) is not None]


def _limit_of(group: ControlGroup) -> CpuLimit | None:
    if group.version == 1:
        quota = group.number("cpu.cfs_quota_us")  # -1: no limit
        period = group.number("cpu.cfs_period_us")
    else:
        words = group.read("cpu.max").split()
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            return None
        quota, period = (int(word) for word in words)
    if quota is None or not period:
        return None
    stat = group.counts("cpu.stat")
    throttled_us = stat.get("throttled_usec", stat.get("throttled_time", 0) // 1000)
    periods, throttled = stat.get("nr_periods", 0), stat.get("nr_throttled", 0)
    return CpuLimit(quota / period, group.folder, periods, throttled, throttled_us)
