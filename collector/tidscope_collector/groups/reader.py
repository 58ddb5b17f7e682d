"""Reads all threads of a group's processes, as a target is read."""

import logging
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField, CountersSource

from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.groups.counters import GroupCounters, GroupTaskstats
from tidscope_collector.groups.exits import GroupExits, Late
from tidscope_collector.groups.members import Members
from tidscope_collector.groups.membership import MAX_MEMBERS, Execution, Membership
from tidscope_collector.threads.reading import ExitDecoder, Reading, TargetExitedError
from tidscope_collector.walk.crosscheck import DisagreementError

LOG = logging.getLogger(__name__)


class GroupReader:
    """A `TargetReader` of several processes; closes their membership with it.

    Args:
        membership: who they are.
        counters: reads their threads.
        asking: reads them where `counters` has turned out to be wrong; None: nothing does.
        taskstats: understands exit records; None: there are none.
        name: of the group, for messages.

    Attributes:
        members: the processes.
        uncounted: processes that were not read, because there were too many.
    """

    def __init__(
        self,
        membership: Membership,
        counters: GroupCounters,
        asking: Callable[[], GroupCounters] | None,
        taskstats: GroupTaskstats | None,
        name: str,
    ) -> None:
        self.membership = membership
        self._counters = counters
        self._asking = asking
        self._name = name
        self._executions: list[Execution] = []
        self.exits: ExitDecoder | None = None
        self._ends: GroupExits | None = None
        if taskstats is not None:
            self.exits = self._ends = GroupExits(taskstats, membership)
        self.listed = np.empty(0, np.uint32)
        self._seen: npt.NDArray[np.uint32] | None = None
        self.reason = ""
        self.disagreement: str | None = None
        self.uncounted = 0

    @property
    def members(self) -> Members:
        return self.membership.members

    @property
    def fields(self) -> tuple[str, ...]:
        return self._counters.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._counters.absent

    @property
    def asked(self) -> int:
        return self._counters.asked

    @property
    def source(self) -> CountersSource:
        return self._counters.source

    def expect_rate(self, rate_hz: float) -> None:
        """See `TargetReader`: the way to read does not depend on it."""

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`.

        Raises:
            TargetExitedError: there are no members, and will be none.
            OSError: the kernel answered nonsense.
        """
        self.membership.update()
        if self.membership.is_over:
            raise TargetExitedError(f"no process of {self._name} is left")
        pids = self.members.ids
        self.uncounted = max(0, len(pids) - MAX_MEMBERS)
        reading = self._read(pids[:MAX_MEMBERS])
        self.listed = reading.tid
        if self._ends is not None:
            self._ends.seen = reading
        # Where a reading is brought up to date in place, nobody is seen who was not before.
        if reading.process is not None and reading.process is not self._seen:
            self._seen = reading.process
            self.members.see(np.unique(reading.process))
        return reading

    def _read(self, pids: npt.NDArray[np.uint32]) -> Reading:
        executions = self.membership.take_executions()
        self._executions += executions
        reported = self.membership.discovery == "ebpf"
        executed = np.array([one.pid for one in executions], np.uint32) if reported else pids
        self._counters.executed = executed
        try:
            return self._counters.read(pids)
        except (BpfError, DisagreementError) as error:
            if self._asking is None:
                raise OSError(str(error)) from error
            LOG.warning("every thread of %s is asked for: %s", self._name, error)
            if isinstance(error, DisagreementError):
                self.disagreement = str(error)
            self.reason = f"walk and taskstats disagreed: {error}"
            self._counters.close()
            self._counters, self._asking = self._asking(), None
            return self._counters.read(pids)

    def take_executions(self) -> list[Execution]:
        """What members executed since this was asked last."""
        taken, self._executions = self._executions, []
        return taken

    def take_late(self) -> list[Late]:
        """What ended threads used more than was said with their ends, since this was asked last."""
        return [] if self._ends is None else self._ends.take_late()

    def close(self) -> None:
        """Follow nobody any more; twice does no harm."""
        self._counters.close()
        self.membership.close()
