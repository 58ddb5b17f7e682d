"""Control groups as the eBPF programs know them: by number, within their hierarchy."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tidscope_collector.groups.listing import folders_below, processes_of
from tidscope_collector.procfs.cgroup import GROUPS
from tidscope_collector.procfs.files import ProcFs

_CPUACCT = ("cpuacct", "cpu,cpuacct", "cpuacct,cpu", "cpu")


@dataclass(frozen=True)
class Cgroup:
    """A control group.

    Attributes:
        folder: where it is mounted.
        id: the kernel's number of it.
        hierarchy: number of its hierarchy; 0: that of version 2.
    """

    folder: Path
    id: int
    hierarchy: int


def find_cgroups(procfs: ProcFs, path: str, groups: Path = GROUPS) -> list[Cgroup]:
    """The control groups of a path: one for each hierarchy in which programs are followed.

    Args:
        procfs: root of /proc.
        path: below the mount of its hierarchy.
        groups: where control groups are mounted.

    Returns:
        Empty if there is none, or if the path leads out of the mount.
    """
    parts = [part for part in path.split("/") if part]
    if any(part in (".", "..") for part in parts):
        return []
    candidates = [(root, 0) for root in (groups, groups / "unified")]
    number = v1_hierarchy(procfs)
    if number:
        candidates += [(groups / name, number) for name in _CPUACCT]
    found: dict[int, Cgroup] = {}
    for root, hierarchy in candidates:
        folder = root.joinpath(*parts)
        if hierarchy in found or not (folder / "cgroup.procs").is_file():
            continue
        found[hierarchy] = Cgroup(folder, folder.stat().st_ino, hierarchy)
    return list(found.values())


def processes_in(procfs: ProcFs, path: str) -> set[int]:
    """Ids of the processes of a control group, and of those below it, in any hierarchy.

    Args:
        procfs: root of /proc.
        path: of the group, below the mount of its hierarchy.
    """
    cgroups = find_cgroups(procfs, path)
    return processes_of(folder for one in cgroups for folder in folders_below(one.folder))


def v1_hierarchy(procfs: ProcFs) -> int:
    """The number of the hierarchy of version 1 that has cpuacct; 0: there is none."""
    try:
        listed = procfs.read("self/cgroup", 1 << 16).decode(errors="replace")
    except OSError:
        return 0
    for line in listed.splitlines():
        number, _, rest = line.partition(":")
        if "cpuacct" in rest.partition(":")[0].split(",") and number.isdecimal():
            return int(number)
    return 0


def cpu_used_ns(cgroups: Sequence[Cgroup]) -> int | None:
    """CPU time that the processes of a control group have used, nanoseconds; None: unknown.

    Args:
        cgroups: the same group in one or more hierarchies.
    """
    used = [one for one in (_used_ns(cgroup) for cgroup in cgroups) if one is not None]
    return max(used, default=None)


def _used_ns(cgroup: Cgroup) -> int | None:
    try:
        if cgroup.hierarchy:
            return int((cgroup.folder / "cpuacct.usage").read_text())
        for line in (cgroup.folder / "cpu.stat").read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == "usage_usec":
                return int(value) * 1000
    except (OSError, ValueError):
        return None
    return None
