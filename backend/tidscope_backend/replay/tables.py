"""The frame tables of a replay: whole in key frames, then what changed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tidscope_wire.frame_tables import Table, encode_tables
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import FrameTable, TableName

from tidscope_backend.store.overview import PartFacts
from tidscope_backend.store.part_tables import TABLES
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


class Said(NamedTuple):
    """What a recorded frame said of a table.

    Attributes:
        omitted: rows that it left out.
        read_ns: when it was read, since attach; None: in runs of older versions.
    """

    omitted: int
    read_ns: int | None


TableFacts = Mapping[TableName, Said]


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


def encode_bounded(
    tables: Mapping[TableName, Table], said: TableFacts
) -> tuple[list[FrameTable], bytes]:
    """Encode tables as a frame can have them; what is left out is counted.

    Args:
        tables: by name.
        said: what the recorded frames said of them.
    """
    described, data = encode_tables(
        {name: table[:MAX_TABLE_ROWS] for name, table in tables.items()}
    )
    for one in described:
        recorded = said.get(one.name, Said(0, None))
        one.omitted = recorded.omitted + len(tables[one.name]) - one.rows
        one.read_ns = recorded.read_ns
    return described, data


class SaidOfTables:
    """Follows what the frames of a run said of their tables, part by part."""

    def __init__(self) -> None:
        self._said: dict[TableName, Said] = {}

    def of_part(self, signals: pa.Table, ends: Ints) -> Iterator[TableFacts]:
        """What was said last up to each of some frames of the next part.

        Args:
            signals: of the part, a row a frame.
            ends: indices of the frames, ascending.
        """
        rows = signals[TABLES] if TABLES in signals.column_names else None
        at = 0
        for end in ends.tolist():
            for described in () if rows is None else rows.slice(at, end + 1 - at).to_pylist():
                for one in described or ():
                    self._said[one["name"]] = Said(one["omitted"], one["read_ns"])
            at = end + 1
            yield dict(self._said)


def _rows(tables: Mapping[TableName, pa.Table]) -> dict[TableName, Table]:
    return {name: rows_of(name, table) for name, table in tables.items()}
