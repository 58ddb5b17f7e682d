"""The table of a group's processes, as frames carry it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table, Tables, dtype_of

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

    def read(self) -> Iterator[Tables]:
        """See `TableSource`."""
        now_ns = time.monotonic_ns()
        processes, counters, absent, _ = self._live(now_ns)
        rows = self._sums.rows(processes, counters, absent, now_ns)
        self._descriptions.forget({row.number for row in rows})
        yield {"processes": self._table(sorted(rows, key=lambda row: row.number))}

    def _table(self, rows: list[ProcessRow]) -> Table:
        table = np.zeros(len(rows), dtype_of("processes"))
        for place, row in enumerate(rows):
            member, sums, one = row.member, row.sums, table[place]
            one["process"], one["name"] = row.number, row.name
            one["count"], one["live"], one["threads"] = sums.count, row.live, row.threads
            one["threads_ended"] = sums.threads_ended
            for column, fields in _FIELDS.items():
                one[column] = sum(sums.values.get(name, 0) for name in fields)
            for column in ("title", "user", "container", "unit"):
                one[column] = ""
            if member is not None:
                one["pid"], one["parent"] = member.pid, member.parent
                one["start_ticks"] = member.start_ticks
                known = self._descriptions.of(member)
                one["title"], one["user"] = known.title, known.user
                one["container"], one["unit"] = known.container, known.unit
                one["namespace_pid"] = known.namespace_pid
                one["gomaxprocs"] = self._size_of(member) if row.live else 0
        return table

    def close(self) -> None:
        """Ask for no more descriptions."""
        self._descriptions.close()


class JoinedTables:
    """A `TableSource` of the processes' table and others.

    Args:
        processes: the table.
        others: None: there are none. Closed with it.
    """

    def __init__(self, processes: ProcessTable, others: TableSource | None) -> None:
        self._processes = processes
        self._others = others

    @property
    def locks_reason(self) -> str:
        """See `TableSource`."""
        return "" if self._others is None else self._others.locks_reason

    def read(self) -> Iterator[Tables]:
        """See `TableSource`."""
        yield from self._processes.read()
        if self._others is not None:
            yield from self._others.read()

    def close(self) -> None:
        """Close both."""
        self._processes.close()
        if self._others is not None:
            self._others.close()
