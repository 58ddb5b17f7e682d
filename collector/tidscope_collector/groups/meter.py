"""What a group's frames say about its processes as a whole: CPU time and memory."""

from math import ceil

from tidscope_wire.generated.models import GomaxprocsChanged

from tidscope_collector.groups.accounts import GroupAccount, Used
from tidscope_collector.groups.members import Members
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import rss_bytes
from tidscope_collector.sampling.process_meter import ProcessMeter

MAX_MEASURED = 512
"""Processes whose memory is read; of more it is not said."""
AT_ONCE = 100
"""Processes that are looked at again in a second; of more, some are each time."""


class GroupMeter(ProcessMeter):
    """Reads the gauges of a group; GOMAXPROCS and the CPU limit are those of its lead process.

    Args:
        pid: of the lead process.
        procfs: root of /proc.
        delays: the switch of delay accounting, whose state is reported; None: it is not.
        reader: of GOMAXPROCS, or None; closed with the meter.
        size: GOMAXPROCS as it is known already; None if it is not.
        members: of the group.
        account: of the group, read about once a second; one of the group alone is its CPU time.
            None: there is none.
    """

    def __init__(
        self,
        pid: int,
        procfs: ProcFs,
        delays: DelayAccounting | None,
        reader: GomaxprocsReader | None,
        size: int | None,
        members: Members,
        account: GroupAccount | None,
    ) -> None:
        super().__init__(pid, procfs, delays, reader, size)
        self._members = members
        self._account = account
        self._used: Used | None = None
        self._seconds = 0
        self._rss_of: dict[int, int] = {}
        """By number of the process, bytes."""

    def _read_cpu(self) -> int | None:
        account, self._used = self._account, None
        if account is not None and not account.whole:
            self._seconds += 1
            if self._seconds % max(1, ceil(len(self._members.alive) / AT_ONCE)):
                return None
        used = self._used = None if account is None else account.read()
        return used.cpu_ns if used is not None and account is not None and account.whole else None

    def collect_gomaxprocs(self) -> GomaxprocsChanged | None:
        """See `ProcessMeter`."""
        changed = super().collect_gomaxprocs()
        return changed and changed.model_copy(update={"pid": self._pid})

    @property
    def gomaxprocs(self) -> int | None:
        """Of the lead process; None: it is not known."""
        return self._size

    def take_used(self) -> Used | None:
        """What the account says; None if it was not read since it was taken."""
        used, self._used = self._used, None
        return used

    def _read_rss(self) -> int | None:
        """Pages that processes share count for each of them."""
        alive = {one.number: one.pid for one in self._members.alive.values()}
        if len(alive) > MAX_MEASURED:
            return None
        known = {number: size for number, size in self._rss_of.items() if number in alive}
        new = [number for number in alive if number not in known]
        # Of the others those that were read longest ago.
        due = [*new, *list(known)[: max(0, AT_ONCE - len(new))]]
        for number in due:
            known.pop(number, None)
        self._rss_of = known | {
            number: rss_bytes(self._procfs, alive[number]) or 0 for number in due
        }
        return sum(self._rss_of.values())
