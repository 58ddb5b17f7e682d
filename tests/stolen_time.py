"""Time that a hypervisor took of this machine."""

import os
from pathlib import Path

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
"""Unit of times in /proc/stat (proc_stat(5)), in nanoseconds."""


def stolen_ns() -> int:
    """Stolen time of all CPUs since boot, in nanoseconds, rounded down to a tick."""
    return int(Path("/proc/stat").read_text().split()[8]) * TICK_NS


def stolen_since(before_ns: int) -> int:
    """Upper bound of the time stolen since an earlier `stolen_ns`, in nanoseconds."""
    return stolen_ns() - before_ns + TICK_NS
