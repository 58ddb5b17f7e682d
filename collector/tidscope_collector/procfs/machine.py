"""CPU time of the machine as a whole."""

import os
from dataclasses import dataclass

from tidscope_collector.procfs.files import ProcFs

_TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """CPU time since boot, all CPUs together, microseconds.

    Attributes:
        busy_us: of all that ran: user, nice, system, irq and softirq. Guests are in user and nice.
        steal_us: what the hypervisor gave to others while something here was runnable.
    """

    busy_us: int
    steal_us: int


def cpu_times(procfs: ProcFs) -> CpuTimes | None:
    """CPU times of the machine; None if they are not known.

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


NOTHING_HIDDEN = ("0", "off")


def hidepid(procfs: ProcFs) -> str | None:
    """The mount option of that name; "0" if it is not given, None if that cannot be read.

    The last mount counts: in proc_pid_mountinfo(5) the super block's options come last.
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
