"""Gauges of a group: its memory and its account; limits are those of its lead process."""

from math import ceil

from tidscope_collector.groups.accounts import GroupAccount, Used
from tidscope_collector.groups.members import Members
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import rss_bytes
from tidscope_collector.sampling.process_meter import ProcessMeter

MAX_MEASURED = 512
"""Processes whose memory is read; of larger groups it is unknown."""
AT_ONCE = 100
"""Processes read in a second; of more, some are each time."""


class GroupMeter(ProcessMeter):
    """Reads the gauges of a group.

    Args:
        pid: process ID of the lead process.
        procfs: root of /proc.
        delays: switch of delay accounting, whose state is reported; None for no report.
        members: processes of the group.
        account: account of the group, or None.
    """

    def __init__(
        self,
        pid: int,
        procfs: ProcFs,
        delays: DelayAccounting | None,
        members: Members,
        account: GroupAccount | None,
    ) -> None:
        super().__init__(pid, procfs, delays)
        self._members = members
        self._account = account
        self._seconds = 0
        self._rss_of: dict[int, int] = {}
        """Resident memory by process number, bytes."""

    def read_used(self, *, last: bool = False) -> Used | None:
        """Read the account, about once a second; less often where it is one of many processes.

        Args:
            last: read it in any case.
        """
        account = self._account
        if account is None:
            return None
        if not account.whole:
            self._seconds += 1
            if self._seconds % max(1, ceil(len(self._members.alive) / AT_ONCE)) and not last:
                return None
        return account.read()

    def _read_rss(self) -> int | None:
        """Pages that processes share count for each of them."""
        alive = {one.number: one.pid for one in self._members.alive.values()}
        if len(alive) > MAX_MEASURED:
            return None
        known = {number: size for number, size in self._rss_of.items() if number in alive}
        new = [number for number in alive if number not in known]
        # Known members follow in the order of their last reading, oldest first.
        due = [*new, *list(known)[: max(0, AT_ONCE - len(new))]]
        for number in due:
            known.pop(number, None)
        self._rss_of = known | {
            number: rss_bytes(self._procfs, alive[number]) or 0 for number in due
        }
        return sum(self._rss_of.values())
