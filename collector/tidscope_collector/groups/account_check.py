"""Compares the sums of a group's threads with an account that the kernel keeps of the group.

Both count from the first reading.
"""

from collections.abc import Mapping, Sequence

from tidscope_wire.generated.models import GroupCheck

from tidscope_collector.groups.accounts import GroupAccount, Used
from tidscope_collector.groups.process_table import ProcessRow

_CPU, _READ, _WRITE = "cpu_run_ns", "disk_read_bytes", "disk_write_bytes"


class AccountCheck:
    """Belongs to the thread of targets.

    Args:
        account: account of the group; None if there is none.

    Attributes:
        found: the last comparison; None if there is none.
    """

    def __init__(self, account: GroupAccount | None) -> None:
        self._account = account
        self._first: tuple[Mapping[str, int], Used] | None = None
        self.found: GroupCheck | None = None

    def note(self, rows: Sequence[ProcessRow], used: Used) -> None:
        """Compare what was read right after each other.

        Args:
            rows: rows of all processes, the ended ones included.
            used: what the account says.
        """
        if self._account is None:
            return
        now = {name: sum(row.sums.get(name, 0) for row in rows) for name in (_CPU, _READ, _WRITE)}
        if self._first is None:
            self._first = now, used
        before, began = self._first
        io = used.read_bytes is not None and began.read_bytes is not None
        self.found = GroupCheck(
            cpu_by=self._account.cpu_by,
            threads_cpu_ns=max(0, now[_CPU] - before[_CPU]),
            kernel_cpu_ns=max(0, used.cpu_ns - began.cpu_ns),
            io_by=self._account.io_by if io else None,
            threads_read_bytes=_grown(now[_READ], before[_READ]) if io else None,
            kernel_read_bytes=_grown(used.read_bytes, began.read_bytes),
            threads_write_bytes=_grown(now[_WRITE], before[_WRITE]) if io else None,
            kernel_write_bytes=_grown(used.write_bytes, began.write_bytes),
        )


def _grown(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else max(0, now - before)
