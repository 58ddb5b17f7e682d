"""Which process of which machine a process id means, as collectors identify both."""

from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def local_host_id() -> str:
    """Identity of this machine, as its collector gives it."""
    return "h-" + BOOT_ID.read_text().replace("-", "")[:12]


def start_ticks(pid: int) -> int:
    """Start of a process in clock ticks since boot (proc(5): field 22 of stat).

    Raises:
        OSError: there is no such process.
    """
    stat = Path(f"/proc/{pid}/stat").read_text()
    # The comm, in parentheses, may hold blanks and parentheses itself.
    return int(stat.rpartition(")")[2].split()[19])
