"""Control groups as the eBPF programs know them: by number, within their hierarchy."""

from dataclasses import dataclass
from pathlib import Path

from tidscope_collector.groups.listing import folders_below, processes_of
from tidscope_collector.procfs.control_groups import GROUPS
from tidscope_collector.procfs.files import ProcFs


@dataclass(frozen=True)
class Cgroup:
    """A control group.

    Attributes:
        folder: where it is mounted.
        id: the kernel's number of it.
        hierarchy: number of its hierarchy; 0: that of version 2.
        followed: whether eBPF programs see who comes into it.
    """

    folder: Path
    id: int
    hierarchy: int
    followed: bool = True


def find_cgroups(procfs: ProcFs, path: str, groups: Path = GROUPS) -> list[Cgroup]:
    """The control groups of a path: one for each hierarchy in which processes are followed.

    A path that is in none of these (where version 1 counts no CPU time of it) is that of the first
    other hierarchy that has it.

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
    for controllers, number in _v1_hierarchies(procfs).items():
        if "cpuacct" in controllers.split(","):
            candidates += [(groups / controllers, number), (groups / "cpuacct", number)]
    found: dict[int, Cgroup] = {}
    for root, hierarchy in candidates:
        folder = root.joinpath(*parts)
        if hierarchy in found or not (folder / "cgroup.procs").is_file():
            continue
        found[hierarchy] = Cgroup(folder, folder.stat().st_ino, hierarchy)
    return list(found.values()) or _elsewhere(procfs, parts, groups)


def _elsewhere(procfs: ProcFs, parts: list[str], groups: Path) -> list[Cgroup]:
    """A group of a hierarchy of version 1 in which nobody is followed; empty: there is none."""
    for controllers, number in sorted(_v1_hierarchies(procfs).items()):
        folder = (groups / controllers.removeprefix("name=")).joinpath(*parts)
        if (folder / "cgroup.procs").is_file():
            return [Cgroup(folder, folder.stat().st_ino, number, followed=False)]
    return []


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
    for controllers, number in _v1_hierarchies(procfs).items():
        if "cpuacct" in controllers.split(","):
            return number
    return 0


def _v1_hierarchies(procfs: ProcFs) -> dict[str, int]:
    """Numbers of the hierarchies of version 1 by their controllers."""
    try:
        listed = procfs.read("self/cgroup", 1 << 16).decode(errors="replace")
    except OSError:
        return {}
    found: dict[str, int] = {}
    for line in listed.splitlines():
        number, _, rest = line.partition(":")
        controllers = rest.partition(":")[0]
        if controllers and number.isdecimal() and "/" not in controllers:
            found[controllers] = int(number)
    return found
