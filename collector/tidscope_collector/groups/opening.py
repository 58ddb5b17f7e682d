"""Which ways there are to follow and to read groups here, and the readers of groups."""

import logging

from tidscope_collector.discovery.task_iterator import TaskIterators
from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.groups.boundaries import Boundary
from tidscope_collector.groups.counters import (
    AskedCounters,
    GroupCounters,
    GroupTaskstats,
    ListedCounters,
    WalkedCounters,
)
from tidscope_collector.groups.membership import Membership, PolledMembership, ReportedMembership
from tidscope_collector.groups.programs import GroupPrograms
from tidscope_collector.groups.reader import GroupReader
from tidscope_collector.groups.walks import GroupWalks
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.reader import BatchQuery
from tidscope_collector.walk.choice import WalkSource

LOG = logging.getLogger(__name__)
_ELSEWHERE = Obstacle(
    "the control group is in a hierarchy of version 1 without cpuacct, which eBPF does not follow",
    "",
)


class GroupSource:
    """Decided once, at start.

    Args:
        procfs: root of /proc.
        programs: that follow processes, or why there are none.
        query: for taskstats; None: there is none.
        why: there is no taskstats, for people.
        delays: the switch of delay accounting.
        walk: whether counters can be walked.
        iterators: what walks; or why there is nothing better than asking.
        extended: whether taskstats gives network numbers.
    """

    def __init__(
        self,
        procfs: ProcFs,
        programs: GroupPrograms | Obstacle,
        query: BatchQuery | None,
        why: str,
        delays: DelayAccounting,
        walk: WalkSource,
        iterators: TaskIterators | Obstacle,
        *,
        extended: bool,
    ) -> None:
        self._procfs = procfs
        self.programs = programs
        self._query = query
        self._why = why
        self._delays = delays
        self._walk = walk
        self._iterators = iterators
        self._extended = extended
        self._walks: GroupWalks | None = None

    def close(self) -> None:
        """Take the programs out of the kernel; groups are followed no more."""
        if isinstance(self.programs, GroupPrograms):
            self.programs.close()

    def membership(self, boundary: Boundary, attach_ns: int) -> Membership:
        """Begin to follow a group.

        Args:
            boundary: which processes belong to it.
            attach_ns: CLOCK_MONOTONIC of the attachment.
        """
        if isinstance(self.programs, Obstacle):
            return PolledMembership(boundary, attach_ns, self.programs)
        if boundary.cgroups and not any(one.followed for one in boundary.cgroups):
            return PolledMembership(boundary, attach_ns, _ELSEWHERE)
        try:
            return ReportedMembership(self.programs, boundary, attach_ns)
        except BpfError as error:
            LOG.warning("a group is looked for again and again: %s", error)
            return PolledMembership(boundary, attach_ns, Obstacle(str(error), ""))

    def reader(self, membership: Membership, name: str) -> GroupReader:
        """Make what reads a group.

        Args:
            membership: of the group; closed with the reader.
            name: of the group, for messages.

        Raises:
            TargetExitedError: it has no members any more.
        """
        query = self._query
        if query is None:
            pid = next(iter(membership.members.alive), 0)
            listed = ListedCounters(self._procfs, pid, self._why)
            return GroupReader(membership, listed, None, None, name)
        since = self._delays.on_since_ns()
        taskstats = GroupTaskstats(
            query,
            lambda: membership.members.believed,
            delay_accounting=since is not None,
            delays_from_ns=since or 0,
            network=self._extended,
        )

        def asked() -> GroupCounters:
            return AskedCounters(self._procfs, taskstats)

        walks = self._group_walks(taskstats)
        if walks is None:
            return GroupReader(membership, asked(), None, taskstats, name)
        walked = WalkedCounters(walks, taskstats)
        return GroupReader(membership, walked, asked, taskstats, name)

    def _group_walks(self, taskstats: GroupTaskstats) -> GroupWalks | None:
        """What walks over many processes; None: they are asked for."""
        walks = self._walk.walks_of(taskstats.fields)
        if walks is None or isinstance(self._iterators, Obstacle):
            return None
        if self._walks is None:
            try:
                self._walks = GroupWalks(self._iterators, walks)
            except BpfError as error:
                LOG.info("threads of groups are asked for one by one: %s", error)
        return self._walks
