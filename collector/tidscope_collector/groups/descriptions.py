"""Title, user, container, unit of members, found out beside sampling."""

import logging
import pwd
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tidscope_wire.generated.limits import MAX_PROCESS_TITLE
from tidscope_wire.generated.models import Runtime

from tidscope_collector.groups.members import Member, Members
from tidscope_collector.naming.source import read_title, role_of_title
from tidscope_collector.processes.cgroup_names import (
    CgroupNames,
    ContainerNames,
    cgroup_path,
    names_of_cgroup,
)
from tidscope_collector.processes.details import UNKNOWN as UNKNOWN_PROGRAM
from tidscope_collector.processes.details import DetailReader, Details
from tidscope_collector.processes.identity import group_and_uid
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import namespace_pid

LOG = logging.getLogger(__name__)
EVERY_NS = 2_000_000_000
"""Titles may change: they are read so often, of those who live longer than that."""
NEW_NS = 250_000_000
"""Those who live for so long and of whom nothing is known are read so often."""
MAX_DESCRIBED = 1024
"""Maximum processes described at a time."""


@dataclass(frozen=True, slots=True)
class Description:
    """One process in words; what is not known is empty.

    Attributes:
        title: its arguments, what looks like a secret left out.
        user: name, or number, of its real user.
        container: id or name.
        unit: of systemd.
        namespace_pid: its id in its own PID namespace; 0: that of /proc.
        runtime: of which language its program is.
        role: what it does by its title; empty: it has none.
    """

    title: str = ""
    user: str = ""
    container: str = ""
    unit: str = ""
    namespace_pid: int = 0
    runtime: Runtime = "unknown"
    role: str = ""


UNKNOWN = Description()
Found = dict[int, Description]
"""By the number of the member."""


class _Place(NamedTuple):
    """Where a process is: its groups, its user, its id in its own PID namespace."""

    names: CgroupNames
    uid: int
    namespace_pid: int | None


class Descriptions:
    """Descriptions of the members of one group; all methods run in the thread of targets.

    Args:
        procfs: root of /proc.
        workers: read them.
        give: runs something in the thread of targets.
        containers: knows their names.
    """

    def __init__(
        self,
        procfs: ProcFs,
        workers: Executor,
        give: Callable[[Callable[[], None]], object],
        containers: ContainerNames | None = None,
    ) -> None:
        self._procfs = procfs
        self._containers = containers or ContainerNames()
        self._workers = workers
        self._give = give
        self._reader = DetailReader()
        self._new_reader = DetailReader()
        """Of its own, since a reader keeps what it knows of those that it is asked about."""
        self._known: Found = {}
        self._asked: Future[None] | None = None
        self._due_ns = 0
        self._new_due_ns = 0
        self._closed = False

    def of(self, member: Member) -> Description:
        """What is known of a member."""
        known = self._known.get(member.number)
        if known is not None:
            return known
        return UNKNOWN if member.uid is None else Description(user=user_name(member.uid))

    def ask(self, members: Members, now_ns: int) -> None:
        """Have them described again, if it is time.

        Args:
            members: of the group.
            now_ns: CLOCK_MONOTONIC.
        """
        busy = self._asked is not None and not self._asked.done()
        if now_ns < self._new_due_ns or busy or self._closed:
            return
        self._new_due_ns = now_ns + NEW_NS
        again = now_ns >= self._due_ns
        if again:
            self._due_ns = now_ns + EVERY_NS
        wanted = {
            one.number: (one.pid, one.start_ticks)
            for one in list(members.alive.values())[:MAX_DESCRIBED]
            if self._is_wanted(one, now_ns, again=again)
        }
        if wanted:
            try:
                reader = self._reader if again else self._new_reader
                self._asked = self._workers.submit(self._read, reader, wanted)
            except RuntimeError:  # it is shut down
                self._closed = True

    def _is_wanted(self, member: Member, now_ns: int, *, again: bool) -> bool:
        """Whether a member is described in this round, of all (`again`) or of new ones only."""
        age_ns = now_ns - member.start_ns
        if member.number in self._known:
            return again and age_ns > EVERY_NS
        return again or age_ns > NEW_NS

    def _read(self, reader: DetailReader, wanted: dict[int, tuple[int, int]]) -> None:
        """In a worker."""
        details = reader.read(wanted.values())
        placed = {
            number: (one, placed)
            for number, one in wanted.items()
            if (placed := self._place(one[0])) is not None
        }
        self._containers.look_for(
            one.names.container for _, one in placed.values() if one.names.container is not None
        )
        # Who did not answer is what it was.
        found = {
            number: self._describe(place, details.get(one, UNKNOWN_PROGRAM))
            for number, (one, place) in placed.items()
            if one in details or number not in self._known
        }
        self._give(lambda: self._take(found))

    def _place(self, pid: int) -> _Place | None:
        """Where a process is; None: it has ended."""
        try:
            listed = self._procfs.read(f"{pid}/cgroup", 1 << 16).decode(errors="replace")
            status = self._procfs.read(f"{pid}/status", 8192)
            _, uid = group_and_uid(status)
        except (OSError, ValueError):
            return None
        return _Place(names_of_cgroup(cgroup_path(listed) or "/"), uid, namespace_pid(status))

    def _describe(self, place: _Place, program: Details) -> Description:
        container, unit = place.names.container, place.names.unit
        title = read_title(program.command.encode())
        return Description(
            title=shortened(program.command),
            user=user_name(place.uid),
            container="" if container is None else self._containers.of(container) or container.id,
            unit="" if unit is None else unit.name,
            namespace_pid=place.namespace_pid or 0,
            runtime=program.runtime,
            role="" if title is None else role_of_title(title),
        )

    def _take(self, found: Found) -> None:
        self._known |= found

    def forget(self, numbers: set[int]) -> None:
        """Keep what is known of these only."""
        self._known = {number: one for number, one in self._known.items() if number in numbers}

    def executed(self, member: Member) -> None:
        """It runs another program: what is known is not of that one."""
        self._known.pop(member.number, None)

    def close(self) -> None:
        """Ask no more."""
        self._closed = True


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
