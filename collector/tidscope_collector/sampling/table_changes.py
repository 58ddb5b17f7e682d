"""Which rows of a target's tables go into a frame: those that changed, or all of them."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import (
    Table,
    Tables,
    dtype_of,
    empty_table,
    encode_tables,
    has_figures,
    latest_rows,
    number_rows,
)
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import FrameTable, TableName

LOG = logging.getLogger(__name__)
TABLES_NS = 950_000_000
EARLIEST_NS = 100_000_000
"""Between the first readings, whose distance doubles: what a program that lives for a second waits
for is looked up while it lives."""
USUAL_SHARE = 0.01
"""Share of a core; tables that cost more CPU time are read less often than once a second."""
LIGHT_NS = 300_000
"""Tables that take less CPU time are read with a sample: waking up between samples costs more."""
PIECE_NS = 2_000_000
"""After so long a reading is interrupted, so that samples and commands do not wait for it."""
WHOLE_NS = 2**62
MAX_BYTES = 8 * 1024 * 1024
"""Tables in a frame; the rows and the events of the largest frames leave so much room."""


class TableSource(Protocol):
    """The tables of one target.

    Attributes:
        locks_reason: why locks cannot be read or named; empty if they can, or there are none.
    """

    @property
    def locks_reason(self) -> str: ...

    def read(self) -> Iterator[Tables]:
        """All rows as they are now, table by table; figures are cumulative.

        Samples may be taken between two pieces, of which some are empty. What is in none of them
        has no rows.
        """

    def close(self) -> None:
        """They are read no more."""


class EncodedTables(NamedTuple):
    """Tables of a frame: what its header says of them, and their bytes."""

    described: list[FrameTable]
    data: bytes


NONE = EncodedTables([], b"")


class TableChanges:
    """The tables of one target, as they were sent last; belongs to the sampling thread.

    Args:
        source: of the tables.
        attach_ns: CLOCK_MONOTONIC of the attachment, from which the wire counts time.
        clock: CLOCK_MONOTONIC, nanoseconds.
        cpu_clock: CPU time of the thread, nanoseconds.

    Attributes:
        due_ns: CLOCK_MONOTONIC from which they are read again.
        share: of a core, which their readings take at most; the last one is taken in any case.
        are_light: whether reading them took so little that it is no work of its own.
    """

    def __init__(
        self,
        source: TableSource,
        attach_ns: int = 0,
        clock: Callable[[], int] = time.monotonic_ns,
        cpu_clock: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        self._source = source
        self._attach_ns = attach_ns
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._sent: dict[TableName, Table] = {}
        """In the order of the catalogue; tables without rows are not in it."""
        self._omitted: dict[TableName, int] = {}
        self.due_ns = 0
        self.share = USUAL_SHARE
        self.are_light = False
        self._read_ns = 0
        """When the rows that were sent last were read, since attach."""
        self._began_ns = self._took_ns = 0
        self._reading: Iterator[None] | None = None
        self._ready: EncodedTables | None = None
        self._unsent: dict[TableName, Table] = {}
        """What is ready: rows that changed since the last frame with tables."""
        self._trouble = ""

    @property
    def is_under_way(self) -> bool:
        """Whether a reading has begun, and is not complete."""
        return self._reading is not None

    @property
    def are_ready(self) -> bool:
        """Whether what changed waits for the next frame."""
        return self._ready is not None

    def begins_before(self, until_ns: int) -> bool:
        """Whether a reading begins before a moment, CLOCK_MONOTONIC."""
        return self._reading is None and self.due_ns <= until_ns

    def work(self, most_ns: int = PIECE_NS) -> None:
        """Read on, between two frames; begins a reading if none is under way.

        Args:
            most_ns: after so long a piece is the last one.
        """
        cpu_ns, now_ns = self._cpu_clock(), self._clock()
        if self._reading is None:
            self._began_ns, self._took_ns = now_ns, 0
            self._reading = self._read()
        until_ns = now_ns + most_ns
        try:
            next(self._reading)
            while self._clock() < until_ns:
                next(self._reading)
        except StopIteration:
            self._reading, self._trouble = None, ""
        except Exception as error:  # whatever it is, the next frame is made without them
            if repr(error) != self._trouble:
                LOG.warning("tables cannot be read: %s", error)
            self._trouble, self._reading = repr(error), None
        self._took_ns += self._cpu_clock() - cpu_ns
        if self._reading is None:
            self._plan_next()

    def _plan_next(self) -> None:
        """A reading is over: when to begin the next one."""
        began_ns, took_ns = self._began_ns, self._took_ns
        self.are_light = took_ns < LIGHT_NS
        usual_ns = min(TABLES_NS, max(EARLIEST_NS, began_ns - self._attach_ns))
        self.due_ns = began_ns + max(usual_ns, int(took_ns / self.share))

    def next(self, *, whole: bool, last: bool = False) -> EncodedTables:
        """Take the tables of a frame.

        What is due and was not begun between frames is read now.

        Args:
            whole: all rows: of a key frame.
            last: no frame follows: they are read now.
        """
        if last:
            self._reading = None
        begins = self._reading is None and self._ready is None and self._clock() >= self.due_ns
        if last or begins:
            self.work(WHOLE_NS)
        ready, self._ready, self._unsent = self._ready, None, {}
        if whole:
            return _encoded(self._sent, self._omitted, self._read_ns)
        return ready or NONE

    def _read(self) -> Iterator[None]:
        """Read all tables, compare them with those of before, and encode what changed."""
        now, omitted = dict[TableName, Table](), dict[TableName, int]()
        changes = dict[TableName, Table]()
        for piece in self._source.read():
            for name, table in piece.items():
                if len(table) or name in self._sent:
                    self._compare(name, table, now, omitted, changes)
                    yield
            yield
        for name in self._sent.keys() - now.keys():
            self._compare(name, empty_table(name), now, omitted, changes)
        for name, table in self._unsent.items():  # of a reading before this one
            parts = [table, changes.get(name, empty_table(name))]
            changes[name] = latest_rows(name, parts, keep_gone=True)
        # New rows and those that are gone may be more than a table has; key frames have all again.
        unsent = {name: _bounded(name, changes[name])[0] for name in COLUMNS if name in changes}
        if unsent or any(omitted.values()):
            self._ready = _encoded(unsent, omitted, self._since_attach_ns)
        self._unsent, self._read_ns = unsent, self._since_attach_ns
        self._sent = {name: now[name] for name in COLUMNS if len(now.get(name, ()))} if now else {}
        self._omitted = omitted

    @property
    def _since_attach_ns(self) -> int:
        return max(0, self._began_ns - self._attach_ns)

    def _compare(
        self,
        name: TableName,
        table: Table,
        now: dict[TableName, Table],
        omitted: dict[TableName, int],
        changes: dict[TableName, Table],
    ) -> None:
        """Put a table, and what changed in it, where they belong."""
        before = self._sent[name] if name in self._sent else empty_table(name)
        now[name], omitted[name] = _bounded(name, table)
        changed = _changed(name, before, now[name])
        if len(changed):
            changes[name] = changed


def _encoded(
    tables: dict[TableName, Table], omitted: dict[TableName, int], read_ns: int
) -> EncodedTables:
    """Tables that fit into a frame; of one that does not fit it is said how many rows it has."""
    fitting, left_out, size = dict[TableName, Table](), dict(omitted), 0
    for name, table in tables.items():
        if not len(table) and not left_out.get(name):
            continue
        texts = sum(kind == "utf8" for kind in COLUMNS[name].values())
        size += len(table) * (dtype_of(name).itemsize + 64 * texts)
        fits = size <= MAX_BYTES
        fitting[name] = table if fits else empty_table(name)
        if not fits:
            left_out[name] = left_out.get(name, 0) + len(table)
    return EncodedTables(*encode_tables(fitting, left_out, read_ns)) if fitting else NONE


def _bounded(name: TableName, table: Table) -> tuple[Table, int]:
    """A table without what is beyond the bound, the rows with the smallest first figures."""
    omitted = len(table) - MAX_TABLE_ROWS
    if omitted <= 0:
        return table, 0
    figure = next(column for column, kind in COLUMNS[name].items() if kind == "uint64")
    kept = np.argpartition(table[figure], omitted)[omitted:]
    return table[np.sort(kept)], omitted


def _changed(name: TableName, before: Table, now: Table) -> Table:
    """Rows that are new or have other values, and, without figures, those that are gone."""
    if len(before) == len(now) and all((before[key] == now[key]).all() for key in KEYS[name]):
        earlier, gone = np.arange(len(now)), before[:0]
    else:
        there, here = number_rows(name, [before, now])
        most = max((int(one.max()) for one in (there, here) if len(one)), default=-1)
        place = np.full(most + 1, -1, np.intp)
        place[there] = np.arange(len(before))
        earlier = place[here]
        place[here] = -1
        gone = before[place[there] >= 0].copy()
    known = earlier >= 0
    differs: npt.NDArray[np.bool_] = ~known
    for column in COLUMNS[name]:
        if column not in KEYS[name]:
            differs[known] |= now[column][known] != before[column][earlier[known]]
    for column, kind in COLUMNS[name].items():
        if kind == "uint64":
            gone[column] = 0
    if not len(gone) or has_figures(name, gone).any():
        return now[differs]
    return np.concatenate([now[differs], gone])
