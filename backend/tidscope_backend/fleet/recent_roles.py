"""Totals by role of the last minutes, in memory: rows that the table lacks."""

from collections import deque
from collections.abc import Callable, Iterable

import pyarrow as pa

from tidscope_backend.fleet.role_keeper import RoleKeeper
from tidscope_backend.fleet.role_rows import SCHEMA, Reading, rows_of, table_of
from tidscope_backend.pacing import next_multiple

EVERY_S = 10.0
"""Interval between two rows of a role, in seconds."""
KEPT_S, UNKEPT_S = 80.0, 600.0
"""Age up to which rows stay, in seconds: with a table, until a part has them; and without one."""
MAX_ROWS = 60_000
"""Maximum rows, some 30 MB; the oldest of more are removed."""


class RecentRoles:
    """Takes rows, and has those of the last minutes. Belongs to the event loop.

    Args:
        read: returns the attached targets.
        keeper: writes the rows to the table; None if none is kept.
    """

    def __init__(
        self, read: Callable[[], Iterable[Reading]], keeper: RoleKeeper | None = None
    ) -> None:
        self._read, self._keeper = read, keeper
        self._taken: deque[pa.Table] = deque()
        self._taken_us: dict[str, int] = {}
        self._rows = 0

    @property
    def kept(self) -> bool:
        """True if the rows are kept in the table, too."""
        return self._keeper is not None

    async def run(self) -> None:
        """Take rows, until cancelled."""
        while True:
            self.take()
            await next_multiple(EVERY_S)

    def take(self) -> None:
        """Add a row of each role of the targets that have a newer frame."""
        readings = list(self._read())
        taken, refused = table_of(rows_of(readings, self._taken_us))
        self._taken_us = {one.target.id: one.meter.unix_us for one in readings}
        if self._keeper is not None:
            self._keeper.add(taken, refused)
        self._taken.append(taken)
        self._rows += taken.num_rows
        most = (KEPT_S if self.kept else UNKEPT_S) / EVERY_S
        while len(self._taken) > most or (self._rows > MAX_ROWS and len(self._taken) > 1):
            self._rows -= self._taken.popleft().num_rows

    def table(self) -> pa.Table:
        """Return the rows, oldest first."""
        return pa.concat_tables([SCHEMA.empty_table(), *self._taken])
