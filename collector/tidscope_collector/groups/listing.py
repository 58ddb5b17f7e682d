"""Processes of the host and their descent, from /proc."""

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tidscope_collector.groups.members import Newcomer
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import ENDED, TICKS_PER_SECOND, parse_parent, parse_stat

_PROCS_BYTES = 1 << 20
_NS = 1_000_000_000


def read_process(procfs: ProcFs, pid: int) -> Newcomer | None:
    """A process as /proc tells it now; None: it has ended, or is no program."""
    try:
        line = procfs.read(f"{pid}/stat", 4096)
        stat = parse_stat(line)
    except (OSError, ValueError):
        return None
    if stat.kernel_thread or (stat.state in ENDED and stat.threads <= 1):
        return None
    # Starts count on CLOCK_BOOTTIME.
    asleep = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    start_ns = stat.start_ticks * (_NS // TICKS_PER_SECOND) - asleep
    name = stat.name.decode("utf-8", "replace")
    return Newcomer(stat.pid, parse_parent(line), start_ns, stat.start_ticks, name, None)


def read_processes(procfs: ProcFs) -> dict[int, Newcomer]:
    """All programs by their ids."""
    found = {pid: read_process(procfs, pid) for pid in procfs.pids()}
    return {pid: one for pid, one in found.items() if one is not None}


def descendants(processes: Mapping[int, Newcomer], roots: Iterable[int]) -> set[int]:
    """Ids of the roots and of all who descend from them, as far as they are listed. Pure."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid in processes]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return found


def folders_below(folder: Path) -> list[Path]:
    """A control group and all below it; empty: it is gone."""
    return [Path(path) for path, _, _ in os.walk(folder)]


def processes_of(folders: Iterable[Path]) -> set[int]:
    """Ids of the processes of control groups."""
    found: set[int] = set()
    for folder in folders:
        try:
            with (folder / "cgroup.procs").open("rb") as file:
                found.update(int(line) for line in file.read(_PROCS_BYTES).split())
        except (OSError, ValueError):
            continue
    return found - {0}
