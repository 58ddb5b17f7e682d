"""Totals by role of the last minutes, in memory: rows that the table lacks."""

from collections import deque
from collections.abc import Callable, Iterable

import pyarrow as pa

from tidscope_backend.fleet.role_keeper import EVERY_S
from tidscope_backend.fleet.role_rows import SCHEMA, Reading, rows_of
from tidscope_backend.pacing import next_multiple

KEPT_S, UNKEPT_S = 80.0, 600.0
"""Age up to which rows stay, in seconds: with a table, until a part has them; and without one."""
MAX_ROWS = 60_000
"""Maximum rows, some 30 MB; the oldest of more are removed."""


class RecentRoles:
    """Rows of the last minutes. Belongs to the event loop.

    Args:
        read: returns the attached targets.
        kept: whether the rows are kept in the table, too.
    """

    def __init__(self, read: Callable[[], Iterable[Reading]], *, kept: bool) -> None:
        self.kept = kept
        self._read = read
        self._taken: deque[pa.Table] = deque()
        self._taken_us: dict[str, int] = {}
        self._rows = 0

    async def run(self) -> None:
        """Take rows, until cancelled."""
        while True:
            self.take()
            await next_multiple(EVERY_S)

    def take(self) -> None:
        """Add a row of each role of the targets that have a newer frame."""
        readings = list(self._read())
        taken = pa.Table.from_pylist(rows_of(readings, self._taken_us), SCHEMA)
        self._taken_us = {one.target.id: one.meter.unix_us for one in readings}
        self._taken.append(taken)
        self._rows += taken.num_rows
        most = (KEPT_S if self.kept else UNKEPT_S) / EVERY_S
        while len(self._taken) > most or (self._rows > MAX_ROWS and len(self._taken) > 1):
            self._rows -= self._taken.popleft().num_rows

    def table(self) -> pa.Table:
        """Return the rows, oldest first."""
        return pa.concat_tables([SCHEMA.empty_table(), *self._taken])
