"""Machine-wide values of /proc: CPU time, and how /proc itself is mounted."""

import os
from dataclasses import dataclass

from tidscope_collector.procfs.files import ProcFs

_TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")
NOTHING_HIDDEN = ("0", "off")


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """CPU time since boot, summed over all CPUs, in microseconds.

    Attributes:
        busy_us: user, nice, system, irq and softirq; guests are included in user and nice.
        steal_us: time the hypervisor gave to other machines while something was runnable here.
    """

    busy_us: int
    steal_us: int


def cpu_times(procfs: ProcFs) -> CpuTimes | None:
    """Return CPU times of the machine, or None if unknown.

    Source: first line of /proc/stat (proc_stat(5)), in ticks: user, nice, system, idle, iowait,
    irq, softirq, steal, guest, guest_nice.
    """
    try:
        label, *ticks = procfs.read("stat", 4096).split(b"\n", 1)[0].split()
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, ticks[:8])
    except (OSError, ValueError):
        return None
    if label != b"cpu":
        return None
    return CpuTimes((user + nice + system + irq + softirq) * _TICK_US, steal * _TICK_US)


def hidepid(procfs: ProcFs) -> str | None:
    """Return the mount option hidepid; "0" if absent, None if unreadable.

    The last mount counts; in proc_pid_mountinfo(5) the super block's options come last.
    """
    try:
        mounts = procfs.read("self/mountinfo", 1 << 20).decode(errors="replace")
    except OSError:
        return None
    found = None
    for line in mounts.splitlines():
        columns = line.split()
        if len(columns) > 5 and columns[4] == str(procfs.root) and " - proc " in line:
            options = dict(
                option.partition("=")[::2] for option in columns[-1].split(",") if "=" in option
            )
            found = options.get("hidepid", "0")
    return found
