"""Conditions on the machine during an experiment: other load, and steal time of the hypervisor."""

import os
import platform
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STAT = Path("/proc/stat")
CPUFREQ = Path("/sys/devices/system/cpu")
TICKS = os.sysconf("SC_CLK_TCK")
BUSY = (0, 1, 2, 5, 6)
"""Indices of user, nice, system, irq and softirq in the line `cpu` (proc(5))."""
STEAL = 7
STEAL_BOUND, OTHERS_BOUND = 0.02, 0.1
"""Shares of the machine's time above which a repeat has a warning."""
UNKNOWN = "unknown"
OBSERVATION_SECONDS = 0.4
"""Duration of a measurement of other programs' CPU use, in seconds."""


@dataclass(frozen=True)
class Conditions:
    """Cumulative CPU times of the machine and of child processes, in seconds; None if unknown."""

    busy_s: float | None
    steal_s: float | None
    total_s: float | None
    own_s: float

    @classmethod
    def now(cls) -> "Conditions":
        """Read the current values; child processes count only when they have ended."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        own_s = children.ru_utime + children.ru_stime
        try:
            times = parse_stat(STAT.read_text())
        except (OSError, ValueError, IndexError):
            return cls(None, None, None, own_s)
        return cls(*times, own_s)


def parse_stat(text: str) -> tuple[float, float, float]:
    """Return busy, stolen and total seconds of /proc/stat's first line. Raises ValueError."""
    name, *fields = text.partition("\n")[0].split()
    # guest and guest_nice are already in user and nice.
    ticks = [int(field) for field in fields[:8]]
    if name != "cpu" or len(ticks) <= STEAL:
        raise ValueError("no line of all CPUs")
    return sum(ticks[at] for at in BUSY) / TICKS, ticks[STEAL] / TICKS, sum(ticks) / TICKS


def figures_between(before: Conditions, after: Conditions) -> dict[str, float]:
    """Return the shares of the machine's CPU time that were stolen or used by other programs."""
    if before.total_s is None or after.total_s is None:
        return {}
    total = after.total_s - before.total_s
    if total <= 0:
        return {}
    busy = (after.busy_s or 0.0) - (before.busy_s or 0.0)
    others = busy - (after.own_s - before.own_s)
    steal = (after.steal_s or 0.0) - (before.steal_s or 0.0)
    return {"steal_share": steal / total, "other_share": max(0.0, others / total)}


def wait_until_quiet(seconds: float) -> None:
    """Wait, with a timeout, until other programs use little CPU time.

    This keeps tidscope's own work after one repeat from disturbing the next.
    """
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        before = Conditions.now()
        time.sleep(min(OBSERVATION_SECONDS, left))
        others = figures_between(before, Conditions.now()).get("other_share", 0.0)
        if others <= OTHERS_BOUND:
            return


def warnings_of(figures: Mapping[str, float]) -> list[str]:
    """Return warnings about figures that disturb a measurement."""
    found = []
    if (steal := figures.get("steal_share", 0.0)) > STEAL_BOUND:
        found.append(f"The hypervisor took {steal:.0%} of the CPU time (steal).")
    if (others := figures.get("other_share", 0.0)) > OTHERS_BOUND:
        found.append(f"Other programs took {others:.0%} of the CPU time.")
    return found


def governor() -> str:
    """Return frequency governors of the CPUs."""
    found = set()
    for path in CPUFREQ.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        try:
            found.add(path.read_text().strip())
        except OSError:
            continue
    return ", ".join(sorted(found)) or UNKNOWN


def setup_of_machine() -> dict[str, str]:
    """Return the machine properties that results depend on, name to text."""
    load = os.getloadavg()[0]
    return {
        "CPUs": str(len(os.sched_getaffinity(0))),
        "processor": _processor(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "frequency governor": governor(),
        "load average at the start": f"{load:.2f}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return UNKNOWN
    return next((line.partition(":")[2].strip() for line in lines if "model name" in line), UNKNOWN)
