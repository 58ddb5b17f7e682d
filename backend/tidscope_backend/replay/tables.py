"""The frame tables of a replay: whole in key frames, then what changed."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tidscope_wire.frame_tables import Table, encode_tables
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import FrameTable, TableName

from tidscope_backend.store.overview import PartFacts
from tidscope_backend.store.parts import PartReader
from tidscope_backend.store.table_parts import (
    FIRST_LEVEL,
    TABLE_LEVELS,
    TableFollowers,
    rows_of,
)

Ints = npt.NDArray[np.int64]


def table_level(parts: Sequence[PartFacts], from_ns: int, to_ns: int, most: int) -> int:
    """The finest level of frame tables that has at most so many rows in a span."""
    known = [(part.table_rows, part.share(from_ns, to_ns)) for part in parts if part.table_rows]
    for place, level in enumerate(TABLE_LEVELS):
        if sum(rows[place] * share for rows, share in known) <= most:
            return level
    return FIRST_LEVEL


class ReplayedTables:
    """Says which rows of tables each frame of a replay carries, part by part.

    Args:
        level: of the rows that are read between the first frame and the last part.
    """

    def __init__(self, level: int) -> None:
        self._level = level
        self._followers = TableFollowers()
        self._began = False

    def of_part(
        self, part: PartReader, ends: Ints, keys: Mapping[int, int], *, last: bool
    ) -> Iterator[dict[TableName, Table]]:
        """The tables of the frames made of the next part.

        Args:
            part: which.
            ends: numbers of the recorded frames that they stand for, ascending; at least one.
            keys: indices of those that are key frames, and have whole tables.
            last: whether it is the last part: the last frame has all that changed up to it.
        """
        tables = part.tables(TABLE_LEVELS[0] if last else self._level)
        if not self._began:
            # The state at the first frame is exact, whatever the level.
            self._began = True
            tables = joined(part.tables_until(int(ends[0])), tables)
        at = 0
        for key in [*sorted(keys), len(ends)]:
            if key > at:
                yield from map(_rows, self._followers.advance(tables, ends[at:key]))
            if key < len(ends):
                self._followers.advance(tables, ends[key : key + 1])
                yield self._followers.whole()
            at = key + 1


def joined(
    first: Mapping[TableName, pa.Table], then: Mapping[TableName, pa.Table]
) -> dict[TableName, pa.Table]:
    """Rows of the same tables from two places."""
    return {
        name: pa.concat_tables([one[name] for one in (first, then) if name in one])
        for name in {**first, **then}
    }


def encode_bounded(tables: Mapping[TableName, Table]) -> tuple[list[FrameTable], bytes]:
    """Encode tables as a frame can have them; what is left out is counted."""
    omitted = {name: max(0, len(table) - MAX_TABLE_ROWS) for name, table in tables.items()}
    return encode_tables({name: table[:MAX_TABLE_ROWS] for name, table in tables.items()}, omitted)


def _rows(tables: Mapping[TableName, pa.Table]) -> dict[TableName, Table]:
    return {name: rows_of(name, table) for name, table in tables.items()}
