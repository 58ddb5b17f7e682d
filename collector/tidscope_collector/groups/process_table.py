"""The table of a group's processes, as frames carry it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tidscope_sampler.native import Sampler
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.groups.descriptions import Descriptions
from tidscope_collector.groups.members import Member, Members

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
SUMMED = [name for names in _FIELDS.values() for name in names]


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """Sums over the threads of one process, live and ended.

    Attributes:
        number: number of the row.
        pid: process ID; None for a row of ended processes of one name.
        name: comm.
        live: True if the process lives.
        threads: number of live threads.
        threads_ended: number of ended threads.
        count: processes of the row.
        sums: sums by name of the field.
    """

    number: int
    pid: int | None
    name: str
    live: bool
    threads: int
    threads_ended: int
    count: int
    sums: Mapping[str, int]


def read_rows(native: Sampler, target: str) -> list[ProcessRow]:
    """Return the rows of the last sample.

    Args:
        native: samples the group.
        target: target ID.
    """
    found = native.process_rows(target, SUMMED) or []
    return [
        ProcessRow(
            number, pid, name, live, threads, ended, count, dict(zip(SUMMED, sums, strict=True))
        )
        for number, pid, name, live, threads, ended, count, sums in found
    ]


class ProcessTable:
    """Makes the table.

    Args:
        members: processes of the group.
        descriptions: of the processes; closed with this.
        size_of: returns GOMAXPROCS of a process; 0 if unknown.
    """

    def __init__(
        self, members: Members, descriptions: Descriptions, size_of: Callable[[Member], int]
    ) -> None:
        self._members = members
        self._descriptions = descriptions
        self._size_of = size_of

    def table(self, rows: Sequence[ProcessRow]) -> Table:
        """Return the table of rows."""
        self._descriptions.forget({row.number for row in rows})
        rows = sorted(rows, key=lambda row: row.number)
        table = np.zeros(len(rows), dtype_of("processes"))
        # Columns are written whole: writing one value of a row costs as much as converting a list.
        table["process"] = [row.number for row in rows]
        for column in ("name", "live", "threads", "count", "threads_ended"):
            table[column] = [getattr(row, column) for row in rows]
        for column, fields in _FIELDS.items():
            table[column] = [sum(row.sums.get(name, 0) for name in fields) for row in rows]
        for column in ("title", "user", "container", "unit"):
            table[column] = ""
        placed = [
            (place, member)
            for place, row in enumerate(rows)
            if row.pid is not None and (member := self._members.of_number(row.number)) is not None
        ]
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
