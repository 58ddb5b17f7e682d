"""One process in words: title, user, container, unit, control group."""

import pwd
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tidscope_wire.generated.limits import MAX_PROCESS_TITLE
from tidscope_wire.generated.models import Runtime

from tidscope_collector.naming.source import read_title, role_of_title
from tidscope_collector.processes.cgroup_names import (
    CgroupNames,
    ContainerNames,
    cgroup_path,
    names_of_cgroup,
)
from tidscope_collector.processes.details import UNKNOWN as UNKNOWN_PROGRAM
from tidscope_collector.processes.details import Details, Identity
from tidscope_collector.processes.identity import group_and_uid
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import namespace_pid, parse_stat


@dataclass(frozen=True, slots=True)
class Description:
    """One process in words; what is not known is empty.

    Attributes:
        title: its arguments, what looks like a secret left out.
        user: name, or number, of its real user.
        container: id or name.
        unit: of systemd.
        cgroup: path of its control group below the mount.
        namespace_pid: its id in its own PID namespace; 0: that of /proc.
        runtime: of which language its program is.
        role: what it does by its title; empty: it has none.
    """

    title: str = ""
    user: str = ""
    container: str = ""
    unit: str = ""
    cgroup: str = ""
    namespace_pid: int = 0
    runtime: Runtime = "unknown"
    role: str = ""


class _Place(NamedTuple):
    """Control group, user, and ID in its own PID namespace of a process."""

    cgroup: str
    names: CgroupNames
    uid: int
    namespace_pid: int | None


def describe(
    procfs: ProcFs,
    containers: ContainerNames,
    wanted: Iterable[Identity],
    details: Mapping[Identity, Details],
) -> dict[Identity, Description]:
    """Describe processes. Slow: names of containers may be looked up.

    Args:
        procfs: root of /proc.
        containers: knows names of containers.
        wanted: processes.
        details: what `DetailReader` says of them; the rest of the description does without.

    Returns:
        By process. Processes that have ended, or whose id another one has by now, are missing.
    """
    placed = {one: place for one in wanted if (place := _place(procfs, one)) is not None}
    containers.look_for(
        place.names.container for place in placed.values() if place.names.container is not None
    )
    return {
        one: _described(place, details.get(one, UNKNOWN_PROGRAM), containers)
        for one, place in placed.items()
    }


def _place(procfs: ProcFs, process: Identity) -> _Place | None:
    """Read the place of a process; None if it has ended."""
    pid, start_ticks = process
    try:
        listed = procfs.read(f"{pid}/cgroup", 1 << 16).decode(errors="replace")
        status = procfs.read(f"{pid}/status", 8192)
        _, uid = group_and_uid(status)
        # Read last: a process that began later has got the id of the one that is asked about.
        if parse_stat(procfs.read(f"{pid}/stat", 4096)).start_ticks != start_ticks:
            return None
    except (OSError, ValueError):
        return None
    cgroup = cgroup_path(listed) or "/"
    return _Place(cgroup, names_of_cgroup(cgroup), uid, namespace_pid(status))


def _described(place: _Place, program: Details, containers: ContainerNames) -> Description:
    container, unit = place.names.container, place.names.unit
    title = read_title(program.command.encode())
    return Description(
        title=shortened(program.command),
        user=user_name(place.uid),
        container="" if container is None else containers.of(container) or container.id,
        unit="" if unit is None else unit.name,
        cgroup=shortened(place.cgroup),
        namespace_pid=place.namespace_pid or 0,
        runtime=program.runtime,
        role="" if title is None else role_of_title(title),
    )


def shortened(text: str) -> str:
    """A text of at most MAX_PROCESS_TITLE bytes."""
    return text.encode(errors="replace")[:MAX_PROCESS_TITLE].decode(errors="ignore")


@lru_cache
def user_name(uid: int) -> str:
    """The name of a user; the number if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
