"""Title, user, container, unit of members, found out beside sampling."""

import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future

from tidscope_collector.groups.members import Member, Members
from tidscope_collector.processes.cgroup_names import ContainerNames
from tidscope_collector.processes.description import Description, describe, user_name
from tidscope_collector.processes.details import DetailReader
from tidscope_collector.procfs.files import ProcFs

LOG = logging.getLogger(__name__)
EVERY_NS = 2_000_000_000
"""Interval between descriptions of an older process, whose title may change, nanoseconds."""
NEW_NS = 250_000_000
"""Minimum age of a process that is described, and interval between attempts, nanoseconds."""
MAX_DESCRIBED = 1024
"""Maximum processes described at a time."""


UNKNOWN = Description()
Found = dict[int, Description]
"""Descriptions by member number."""


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
        """Separate reader for new members: a reader keeps state of the processes that it is
        asked about.
        """
        self._known: Found = {}
        self._asked: Future[None] | None = None
        self._due_ns = 0
        self._new_due_ns = 0
        self._closed = False

    def of(self, member: Member) -> Description:
        """Return the known description of a member."""
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
        """True if this round describes the member; `again` marks rounds for all members, not new
        ones only.
        """
        age_ns = now_ns - member.start_ns
        if member.number in self._known:
            return again and age_ns > EVERY_NS
        return again or age_ns > NEW_NS

    def _read(self, reader: DetailReader, wanted: dict[int, tuple[int, int]]) -> None:
        """In a worker."""
        details = reader.read(wanted.values())
        made = describe(self._procfs, self._containers, wanted.values(), details)
        # A member that did not answer keeps its description.
        found = {
            number: made[one]
            for number, one in wanted.items()
            if one in made and (one in details or number not in self._known)
        }
        self._give(lambda: self._take(found))

    def _take(self, found: Found) -> None:
        self._known |= found

    def forget(self, numbers: set[int]) -> None:
        """Keep what is known of these only."""
        self._known = {number: one for number, one in self._known.items() if number in numbers}

    def executed(self, member: Member) -> None:
        """Forget a member's description: it has executed another program."""
        self._known.pop(member.number, None)

    def close(self) -> None:
        """Ask no more."""
        self._closed = True
