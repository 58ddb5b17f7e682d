"""The overview of a run presented as parts, so that frames are made of both in the same way."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import RunEvent, TableName

from tidscope_backend.store.folder import TABLES
from tidscope_backend.store.overview import Overview
from tidscope_backend.store.parts import FrameTimes, Gap, PartReader, those_of
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_parts import TABLE_LEVELS, as_changes

INSTANTS = 64
"""Minimum instants of a piece; events of the piece's parts are in memory together."""
ENOUGH = 0.75
"""Minimum share of the requested instants that a level must have."""


class Wanted(NamedTuple):
    """The requested window of a run.

    Attributes:
        before: index of the first part.
        behind: index after the last part.
        from_ns: first time.
        to_ns: last time.
        instants: approximate number of instants.
        max_rows: maximum rows of samples to read.
        max_table_rows: approximate maximum rows of frame tables to read.
    """

    before: int
    behind: int
    from_ns: int
    to_ns: int
    instants: int
    max_rows: int
    max_table_rows: int


def overview_parts(reader: RunReader, overview: Overview, wanted: Wanted) -> list[PartReader]:
    """Return parts of a run made from the overview's coarsest level with enough instants.

    A span that ends within the run ends between two instants, so its last part is read from the
    run.
    """
    whole = wanted.to_ns >= overview.parts[-1].to_ns
    last = wanted.behind if whole else wanted.behind - 1
    parts = overview.parts[wanted.before : last]
    own: list[PartReader] = [] if whole else list(reader.parts[last : wanted.behind])
    if not parts:
        return own
    chosen = _level(overview, wanted)
    of_tables = _table_level(overview, wanted, chosen)
    level = _Level(overview, chosen, of_tables, parts[0].from_ns, parts[-1].to_ns)
    cuts = np.searchsorted(level.times.time_ns, [part.to_ns for part in parts], side="right")
    pieces: list[PartReader] = []
    first, begin = 0, 0
    for index, cut in enumerate(cuts.tolist()):
        if cut - begin >= INSTANTS or index == len(parts) - 1:
            here = slice(wanted.before + first, wanted.before + index + 1)
            pieces.append(
                _Piece(level, reader.parts[here], slice(begin, cut), parts[index].last_seq)
            )
            first, begin = index + 1, cut
    return pieces + own


def _level(overview: Overview, wanted: Wanted) -> int:
    share = overview.share(wanted.from_ns, wanted.to_ns)
    chosen = max(overview.levels)
    for level in sorted(overview.levels, reverse=True):
        if level != chosen and overview.rows("samples", level) * share > wanted.max_rows:
            break
        chosen = level
        if overview.levels[level] * share >= ENOUGH * wanted.instants:
            break
    return chosen


def _table_level(overview: Overview, wanted: Wanted, finest: int) -> int:
    """Return the finest level, at or above a level, with few enough rows of frame tables."""
    share = overview.share(wanted.from_ns, wanted.to_ns)
    levels = sorted(level for level in overview.levels if level >= finest)
    for level in levels:
        if sum(overview.rows(name, level) for name in TABLES) * share <= wanted.max_table_rows:
            return level
    return levels[-1]


@dataclass(frozen=True)
class _Level:
    """A level of an overview within some parts; data already read stays in memory.

    Attributes:
        overview: overview of the run.
        level: level of samples and signals.
        of_tables: level of frame tables, equal or coarser, whose instants are a subset.
        from_ns: start of the first part.
        to_ns: end of the last part.
    """

    overview: Overview
    level: int
    of_tables: int
    from_ns: int
    to_ns: int

    @cached_property
    def times(self) -> FrameTimes:
        """Instants of the piece."""
        times = self.overview.times(self.level)
        begin = int(np.searchsorted(times.time_ns, self.from_ns))
        end = int(np.searchsorted(times.time_ns, self.to_ns, side="right"))
        return times.between(begin, end)

    @cached_property
    def samples(self) -> pa.Table:
        """Rows of all threads."""
        return self._read("samples")

    @cached_property
    def signals(self) -> pa.Table:
        """One row per instant."""
        return self._read("signals")

    @cached_property
    def tables(self) -> dict[TableName, pa.Table]:
        """Rows of frame tables, by name."""
        seq = self.times.seq
        if not len(seq):
            return {}
        return self.overview.tables(self.of_tables, between=(int(seq[0]), int(seq[-1])))

    def _read(self, name: str) -> pa.Table:
        seq = self.times.seq
        if not len(seq):
            return self.overview.read(name, self.level).slice(0, 0)
        between = int(seq[0]), int(seq[-1])
        return self.overview.read(name, self.level, between=between)


class _Piece:
    """Consecutive parts, as represented in a level."""

    def __init__(
        self, level: _Level, parts: Sequence[PartReader], instants: slice, last_seq: int
    ) -> None:
        self.number = parts[0].number
        self.last_seq = last_seq
        self.times = level.times.between(instants.start, instants.stop)
        self._level = level
        self._parts = parts
        self._instants = instants

    def gaps(self, seen_seq: int) -> list[Gap]:
        """See PartReader."""
        after_ns = self._level.from_ns
        return [
            gap
            for gap in self._level.overview.gaps
            if seen_seq < gap.seq <= self.last_seq and (seen_seq or gap.time_ns > after_ns)
        ]

    def rows(self, _: int) -> int:
        """See PartReader."""
        return len(self.samples())

    def samples(self, _: int = 0, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartReader."""
        table = self._level.samples
        seq = self.times.seq
        if len(seq) < len(self._level.times.seq):
            first, last = (int(seq[0]), int(seq[-1])) if len(seq) else (0, -1)
            table = table.filter((pc.field("seq") >= first) & (pc.field("seq") <= last))
        return table if columns is None else table.select(list(columns))

    def signals(self, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartReader."""
        return those_of(self._level.signals[self._instants], columns)

    def tables(self, _: int = 0) -> dict[TableName, pa.Table]:
        """See PartReader."""
        seq = self.times.seq
        if not len(seq):
            return {}
        inside = (pc.field("seq") >= int(seq[0])) & (pc.field("seq") <= int(seq[-1]))
        found = {name: table.filter(inside) for name, table in self._level.tables.items()}
        return {name: as_changes(table) for name, table in found.items() if len(table)}

    def tables_until(self, seq: int) -> dict[TableName, pa.Table]:
        """See PartReader."""
        (part,) = [part for part in self._parts if part.last_seq >= seq][:1]
        return part.tables_until(seq)

    def table_rows(self) -> tuple[int, ...]:
        """See PartReader."""
        return (sum(map(len, self.tables().values())),) * len(TABLE_LEVELS)

    def events(self) -> list[RunEvent]:
        """See PartReader."""
        return [event for part in self._parts for event in part.events()]
