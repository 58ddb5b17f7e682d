"""CPU time of the machine as a whole."""

import os

from tidscope_collector.procfs.files import ProcFs

_TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")


def busy_us(procfs: ProcFs) -> int | None:
    """CPU time of all that ran since boot, microseconds; None if it is not known.

    Source: first line of /proc/stat (proc_stat(5)), in ticks: user, nice, system, idle, iowait,
    irq, softirq, steal, guest, guest_nice. Guests are in user and nice already. Stolen time is not
    counted: others ran then, on hardware that the hypervisor hands out.
    """
    try:
        label, *ticks = procfs.read("stat", 4096).split(b"\n", 1)[0].split()
        user, nice, system, _idle, _iowait, irq, softirq = map(int, ticks[:7])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq) * _TICK_US if label == b"cpu" else None
