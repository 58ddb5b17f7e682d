"""What the processes of a group add up to, by name, for /metrics. Pure.

A process changes its name when it executes a program. What it did counts for the name that it had
when its row was read, so that sums by name do not fall.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table

MAX_NAMED_PROCESSES = 63
"""Names with sums of their own, the first that were seen; all others share one."""
OTHER = "other"

COUNTERS = (
    "threads_ended",
    "cpu_ns",
    "run_delay_ns",
    "blkio_delay_ns",
    "read_bytes",
    "write_bytes",
    "rx_bytes",
    "tx_bytes",
    "minor_faults",
    "major_faults",
    "switches",
)
"""Columns of the table `processes` that only grow."""
GAUGES = ("live", "threads")

Figures = npt.NDArray[np.int64]
"""int64[1 + counters + gauges]: processes that ended, then those columns."""


@dataclass(frozen=True)
class NamedProcesses:
    """Processes of one name.

    Attributes:
        live: how many live.
        threads: their live threads.
        ended: how many have ended.
        totals: column of the table to its sum, ended processes included.
    """

    live: int
    threads: int
    ended: int
    totals: Mapping[str, int]


@dataclass
class ProcessNames:
    """The processes of one group, added up by name as their rows come."""

    _rows: dict[int, tuple[str, Figures]] = field(default_factory=dict)
    """Name and figures of each row, by its number."""
    _sums: dict[str, Figures] = field(default_factory=dict)
    _reported: dict[str, Figures] = field(default_factory=dict)

    def update(self, table: Table, *, whole: bool) -> None:
        """Take rows that changed.

        Args:
            table: of the name `processes`.
            whole: it has all rows there are.
        """
        numbers = table["process"].tolist()
        live = table["live"].astype(np.int64)
        ended = np.where(live == 0, table["count"].astype(np.int64), 0)
        columns = [ended, *(table[column].astype(np.int64) for column in (*COUNTERS, *GAUGES))]
        figures = np.stack(columns, axis=1)
        gone = set(self._rows).difference(numbers) if whole else set[int]()
        gone.update(table["process"][table["count"] == 0].tolist())
        # A row that goes has its figures in the row of its name from then on.
        for number in gone:
            name, before = self._rows.pop(number, ("", None))
            if before is not None:
                self._sums[name] -= before
        for number, name, row in zip(numbers, table["name"].tolist(), figures, strict=True):
            if number not in gone:
                self._set(number, self._label(name), row)
        for name, sums in self._sums.items():
            self._reported[name] = self._not_below(name, sums)

    def by_name(self) -> dict[str, NamedProcesses]:
        """Sums by name; those of the names beyond the bound are under `OTHER`."""
        return {
            name: NamedProcesses(
                live=int(sums[-2]),
                threads=int(sums[-1]),
                ended=int(sums[0]),
                totals=dict(zip(COUNTERS, sums[1 : 1 + len(COUNTERS)].tolist(), strict=True)),
            )
            for name, sums in self._reported.items()
        }

    def _set(self, number: int, name: str, row: Figures) -> None:
        known = self._rows.get(number)
        self._rows[number] = name, row
        sums = self._sums[name]
        if known is None:
            sums += row
            return
        named, before = known
        sums += row - before
        if named != name:
            # Only what counts what there is goes along with the process.
            moved = before[-len(GAUGES) :]
            self._sums[named][-len(GAUGES) :] -= moved
            sums[-len(GAUGES) :] += moved

    def _label(self, name: str) -> str:
        named = len(self._sums) - (OTHER in self._sums)
        label = name if name in self._sums or named < MAX_NAMED_PROCESSES else OTHER
        if label not in self._sums:
            self._sums[label] = np.zeros(1 + len(COUNTERS) + len(GAUGES), np.int64)
        return label

    def _not_below(self, name: str, sums: Figures) -> Figures:
        """Counters as reported before, where they are less.

        They are where ended processes have more names than a frame holds: then those of a name are
        among the rest.
        """
        before = self._reported.get(name)
        made = sums.copy()
        if before is not None:
            counters = slice(0, 1 + len(COUNTERS))
            made[counters] = np.maximum(made[counters], before[counters])
        return made
