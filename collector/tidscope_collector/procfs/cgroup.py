"""CPU limit of a process' control groups, and throttling by it.

Sources: the kernel's admin-guide/cgroup-v2.rst (cpu.max, cpu.stat) and scheduler/sched-bwc.rst
(version 1: cpu.cfs_quota_us, cpu.cfs_period_us, cpu.stat).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tidscope_collector.procfs.files import ProcFs

GROUPS = Path("/sys/fs/cgroup")
_MAX_BYTES = 4096
_DEEPEST = 64


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

    Args:
        procfs: root of /proc.
        pid: process ID.
        groups: mount point of control groups.

    Attributes:
        cores: limit in cores; None if there is none, or it is unreadable.
        periods, throttled, throttled_us: as in `CpuLimit`, since the first reading; None until
            there is a limit.
    """

    def __init__(self, procfs: ProcFs, pid: int, groups: Path = GROUPS) -> None:
        self._procfs = procfs
        self._pid = pid
        self._groups = groups
        self._last: dict[Path, CpuLimit] = {}
        self.cores: float | None = None
        self.periods: int | None = None
        self.throttled: int | None = None
        self.throttled_us: int | None = None

    def read(self) -> None:
        """Update the figures."""
        limits = cpu_limits(self._procfs, self._pid, self._groups)
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


def cpu_limit(procfs: ProcFs, pid: int, groups: Path = GROUPS) -> CpuLimit | None:
    """Return the tightest CPU limit of a process, or None if there is none or it is unreadable.

    Args:
        procfs: root of /proc.
        pid: process ID.
        groups: mount point of control groups.
    """
    return min(cpu_limits(procfs, pid, groups), key=lambda one: one.cores, default=None)


def cpu_limits(procfs: ProcFs, pid: int, groups: Path = GROUPS) -> list[CpuLimit]:
    """Return all CPU limits of a process' control groups and their parents; arguments as above."""
    try:
        listed = procfs.read(f"{pid}/cgroup", 1 << 16).decode(errors="replace")
    except OSError:
        return []
    limits: list[CpuLimit] = []
    for line in listed.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        # A path outside our own root does not refer to what is mounted here.
        if not path.startswith("/") or path.startswith("/.."):
            continue
        if number == "0" and not controllers:
            for root in (groups, groups / "unified"):
                limits += [one for folder in _chain(root, path) if (one := _of_v2(folder))]
        elif "cpu" in controllers.split(","):
            for root in dict.fromkeys((groups / controllers, groups / "cpu")):
                found = [one for folder in _chain(root, path) if (one := _of_v1(folder))]
                if found:
                    limits += found
                    break
    return limits


def _chain(root: Path, path: str) -> Iterator[Path]:
    """Yield the folders from a group up to the root, whose limits are the machine's."""
    folder = root / path.lstrip("/")
    for _ in range(_DEEPEST):
        yield folder
        if folder == root:
            return
        folder = folder.parent


def _of_v2(folder: Path) -> CpuLimit | None:
    words = _read(folder, "cpu.max").split()
    if len(words) != 2 or words[0] == "max":
        return None
    stat = _stat(folder)
    return _limit(folder, words[0], words[1], stat, stat.get("throttled_usec", 0))


def _of_v1(folder: Path) -> CpuLimit | None:
    quota = _read(folder, "cpu.cfs_quota_us").strip()
    if not quota.isdecimal():  # -1: no limit
        return None
    period, stat = _read(folder, "cpu.cfs_period_us").strip(), _stat(folder)
    return _limit(folder, quota, period, stat, stat.get("throttled_time", 0) // 1000)


def _limit(
    folder: Path, quota: str, period: str, stat: dict[str, int], throttled_us: int
) -> CpuLimit | None:
    if not quota.isdecimal() or not period.isdecimal() or not int(period):
        return None
    return CpuLimit(
        int(quota) / int(period),
        folder,
        stat.get("nr_periods", 0),
        stat.get("nr_throttled", 0),
        throttled_us,
    )


def _stat(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in _read(folder, "cpu.stat").splitlines():
        name, _, value = line.partition(" ")
        if value.isdecimal():
            found[name] = int(value)
    return found


def _read(folder: Path, name: str) -> str:
    """Return a file of a control group; empty if it does not exist."""
    try:
        return ProcFs(folder).read(name, _MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
