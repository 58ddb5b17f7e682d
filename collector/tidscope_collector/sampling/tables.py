"""When the tables of a target are read, and how they are given to the sampler."""

import logging
import time
from collections.abc import Callable
from typing import Protocol

from tidscope_wire.frame_tables import Table, Tables
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import TableName

LOG = logging.getLogger(__name__)
TABLES_NS = 950_000_000
"""Interval between two readings, in nanoseconds: about a second."""
EARLIEST_NS = 100_000_000
"""Interval between the first readings, in nanoseconds. It doubles, so that what a program of one
second waits for is looked up while the program lives."""
DEFAULT_SHARE = 0.01
"""Share of a core; tables that cost more CPU time are read less often than once a second."""

Given = dict[str, list[bytes | list[str]]]
"""Columns of tables by name: numbers as bytes, texts as lists."""


class TableSource(Protocol):
    """The tables of one target.

    Attributes:
        locks_reason: why locks cannot be read or named; empty if they can, or there are none.
    """

    @property
    def locks_reason(self) -> str: ...

    def read(self) -> Tables:
        """Return all rows as they are now; of logs, rows that are new or completed.

        Figures are cumulative. A missing table has no rows. Each row of a log is returned once.
        """

    def close(self) -> None:
        """Stop reading."""


class TableSchedule:
    """When the tables of one target are due; belongs to the thread of targets.

    Args:
        source: of the tables.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        clock: CLOCK_MONOTONIC, nanoseconds.
        cpu_clock: CPU time of the thread, nanoseconds.

    Attributes:
        due_ns: CLOCK_MONOTONIC from which they are read again.
        allowed_ns: CLOCK_MONOTONIC from which the share allows that.
        share: maximum share of a core for reading them.
    """

    def __init__(
        self,
        source: TableSource,
        attach_ns: int,
        clock: Callable[[], int] = time.monotonic_ns,
        cpu_clock: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        self._source = source
        self._attach_ns = attach_ns
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._trouble = ""
        self.due_ns = self.allowed_ns = attach_ns
        self.share = DEFAULT_SHARE

    def read(self) -> tuple[Given, int] | None:
        """Read all tables, and plan the next reading.

        Returns:
            The tables, and CLOCK_MONOTONIC before; None if they could not be read.
        """
        began_ns, cpu_ns = self._clock(), self._cpu_clock()
        given: Given | None = None
        try:
            given = as_given(self._source.read())
            self._trouble = ""
        except Exception as error:  # whatever it is, frames go on without them
            if repr(error) != self._trouble:
                LOG.warning("tables cannot be read: %r", error)
            self._trouble = repr(error)
        took_ns = self._cpu_clock() - cpu_ns
        interval_ns = min(TABLES_NS, max(EARLIEST_NS, began_ns - self._attach_ns))
        self.allowed_ns = began_ns + int(took_ns / self.share)
        self.due_ns = max(began_ns + interval_ns, self.allowed_ns)
        return None if given is None else (given, began_ns)


def as_given(tables: Tables) -> Given:
    """Tables as the sampler takes them, without those that have no rows."""
    return {name: _columns(name, table) for name, table in tables.items() if len(table)}


def _columns(name: TableName, table: Table) -> list[bytes | list[str]]:
    return [
        table[column].tolist() if kind == "utf8" else table[column].tobytes()
        for column, kind in COLUMNS[name].items()
    ]
