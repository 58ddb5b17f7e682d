"""A group's processes, as whoever counts for their threads knows them."""

from collections.abc import Mapping

from tidscope_collector.ebpf.watched import Pids
from tidscope_collector.groups.membership import Membership
from tidscope_collector.locks.group_locks import LockOwner


class GroupProcesses:
    """The `Processes` of a group; hashed by identity.

    Args:
        membership: of the group.
    """

    def __init__(self, membership: Membership) -> None:
        self._membership = membership

    @property
    def pids(self) -> Pids:
        """Ids of those alive and those that ended lately, uint32[m], ascending."""
        return self._membership.members.believed

    def names(self) -> Mapping[int, str]:
        """Names of these processes by their ids: comm of each."""
        return self._membership.members.names()

    def lock_owner(self, pid: int) -> LockOwner | None:
        """The process of an id; None: it is none of them."""
        member = self._membership.members.find(pid)
        if member is None:
            return None
        return LockOwner(pid, member.start_ticks, member.name, not member.ended_ns)
