"""The table of a group's processes, as frames carry it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table, Tables, dtype_of

from tidscope_collector.groups.account_check import AccountCheck
from tidscope_collector.groups.descriptions import Descriptions
from tidscope_collector.groups.members import Member
from tidscope_collector.groups.process_sums import ProcessRow, ProcessSums
from tidscope_collector.sampling.table_changes import TableSource

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "cpu_ns": ("cpu_run_ns",),
    "run_delay_ns": ("cpu_delay_ns",),
    "blkio_delay_ns": ("blkio_delay_ns",),
    "read_bytes": ("disk_read_bytes",),
    "write_bytes": ("disk_write_bytes",),
    "rx_bytes": ("net_read_bytes",),
    "tx_bytes": ("net_write_bytes",),
    "minor_faults": ("minor_faults",),
    "major_faults": ("major_faults",),
    "switches": ("voluntary_switches", "involuntary_switches"),
}
"""Columns of the table, and the fields of threads that they are sums of."""
SUMMED = frozenset(name for names in _FIELDS.values() for name in names)

Live = tuple[
    npt.NDArray[np.uint32], npt.NDArray[np.uint64], npt.NDArray[np.bool_] | None, Sequence[str]
]
"""See `Tracker.by_process`."""


class ProcessTable:
    """A `TableSource` with one table.

    Args:
        sums: of the processes.
        live: gives their live threads, as of an instant of CLOCK_MONOTONIC.
        descriptions: of the processes.
        size_of: GOMAXPROCS of a process; 0: not known.
    """

    def __init__(
        self,
        sums: ProcessSums,
        live: Callable[[int], Live],
        descriptions: Descriptions,
        size_of: Callable[[Member], int],
    ) -> None:
        self._sums = sums
        self._live = live
        self._descriptions = descriptions
        self._size_of = size_of

    def read(self, rows: Sequence[ProcessRow] | None = None) -> Iterator[Tables]:
        """See `TableSource`.

        Args:
            rows: of the last sample; None: those of now.
        """
        if rows is None:
            now_ns = time.monotonic_ns()
            processes, counters, absent, _ = self._live(now_ns)
            rows = self._sums.rows(processes, counters, absent, now_ns)
        self._descriptions.forget({row.number for row in rows})
        yield {"processes": self._table(sorted(rows, key=lambda row: row.number))}

    def _table(self, rows: Sequence[ProcessRow]) -> Table:
        table = np.zeros(len(rows), dtype_of("processes"))
        # By columns: to write one value of one row costs as much as to convert a list of some.
        table["process"] = [row.number for row in rows]
        table["name"] = [row.name for row in rows]
        table["live"] = [row.live for row in rows]
        table["threads"] = [row.threads for row in rows]
        table["count"] = [row.sums.count for row in rows]
        table["threads_ended"] = [row.sums.threads_ended for row in rows]
        for column, fields in _FIELDS.items():
            table[column] = [sum(row.sums.values.get(name, 0) for name in fields) for row in rows]
        for column in ("title", "user", "container", "unit"):
            table[column] = ""
        placed = [(place, row.member) for place, row in enumerate(rows) if row.member is not None]
        if placed:
            at, members = map(list, zip(*placed, strict=True))
            self._describe(table, at, members)
        return table

    def _describe(self, table: Table, at: list[int], members: list[Member]) -> None:
        """Write what is known of processes into their rows."""
        for column in ("pid", "parent", "start_ticks"):
            table[column][at] = [getattr(member, column) for member in members]
        known = [self._descriptions.of(member) for member in members]
        for column in ("title", "user", "container", "unit", "namespace_pid"):
            table[column][at] = [getattr(one, column) for one in known]
        table["gomaxprocs"][at] = [
            0 if member.ended_ns else self._size_of(member) for member in members
        ]

    def close(self) -> None:
        """Ask for no more descriptions."""
        self._descriptions.close()


class JoinedTables:
    """A `TableSource` of the processes' table and others.

    Args:
        processes: the table.
        others: None: there are none. Closed with it.
        check: of what the processes' rows add up to; None: there is none.
    """

    def __init__(
        self,
        processes: ProcessTable,
        others: TableSource | None,
        check: AccountCheck | None = None,
    ) -> None:
        self._processes = processes
        self._others = others
        self._check = check

    @property
    def locks_reason(self) -> str:
        """See `TableSource`."""
        return "" if self._others is None else self._others.locks_reason

    def read(self) -> Iterator[Tables]:
        """See `TableSource`; when all are read, the check is that of the same rows."""
        noted = None if self._check is None else self._check.noted
        yield from self._processes.read(None if noted is None else noted.rows)
        if self._others is not None:
            yield from self._others.read()
        if self._check is not None and noted is not None:
            self._check.found = noted.check

    def close(self) -> None:
        """Close both."""
        self._processes.close()
        if self._others is not None:
            self._others.close()
