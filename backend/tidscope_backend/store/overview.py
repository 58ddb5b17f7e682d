"""Overview of an ended run: coarse levels of the complete run, in separate files.

An overview is derived from the parts and holds no extra data: a run without one is read from its
parts. Overview files let long runs open without reading data that grows with the number of parts.
"""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tidscope_wire.generated.frame_tables import KEYS
from tidscope_wire.generated.models import TableName

from tidscope_backend.store.folder import TABLES, RunFolder, sync_folder
from tidscope_backend.store.frame_files import sync_file
from tidscope_backend.store.overview_maker import Bucket, OverviewMaker, merged
from tidscope_backend.store.part_files import sorted_writer
from tidscope_backend.store.part_tables import KEY_LEVEL, SECOND_LEVEL
from tidscope_backend.store.parts import FrameTimes, Gap, PartReader, frame_times_of

MERGED = 3
"""Number of a level's instants that make one of the next level."""
ROW_GROUP_ROWS = 65_536
ALWAYS = ("extremes", "samples", "signals")
"""Tables of every overview. Readers check for the signals, which are written last."""
ORDER = ("tid", "start_ns", "seq", "to_ns")
ORDERS = {str(name): [*keys, "seq"] for name, keys in KEYS.items()}
"""Sort keys of each frame table."""
_TIMES = ("seq", "first_seq", "time_ns", "level")
_FACTS = b"tidscope.overview"


class PartFacts(NamedTuple):
    """Facts about a part, known without opening its files.

    Attributes:
        number: number of the part in the run.
        from_ns: time of the first frame.
        to_ns: time of the last frame.
        last_seq: number of the last frame.
        rows: number of samples, in frames of level 0, 1 and 2 or above.
        table_rows: number of rows of frame tables, in frames of each of `TABLE_LEVELS` or above;
            empty if the part has no tables or predates them.
    """

    number: int
    from_ns: int
    to_ns: int
    last_seq: int
    rows: tuple[int, int, int]
    table_rows: tuple[int, ...] = ()

    def share(self, from_ns: int, to_ns: int) -> float:
        """Return the share of the part that lies within a span; 1 for a part of one instant."""
        inside = max(0, min(self.to_ns, to_ns) - max(self.from_ns, from_ns))
        whole = self.to_ns - self.from_ns
        return inside / whole if whole else 1.0


def facts_of(part: PartReader) -> PartFacts:
    """Read the facts from a part."""
    first, last = part.times.time_ns[[0, -1]].tolist()
    rows = part.rows(0), part.rows(SECOND_LEVEL), part.rows(KEY_LEVEL)
    return PartFacts(part.number, first, last, part.last_seq, rows, part.table_rows())


def write_overview(
    folder: RunFolder, parts: Sequence[PartReader], fields: Sequence[str], threads: pa.Table
) -> None:
    """Write the overview of an ended run and flush it to disk.

    Args:
        folder: folder of the run.
        parts: all parts, in order; at least one.
        fields: fields of the target.
        threads: the run's thread table.

    Raises:
        OSError: files cannot be read or written; no partial overview is left.
    """
    folder.overview.mkdir(exist_ok=True)
    names = (*TABLES, *ALWAYS)
    new = {name: folder.overview / f"{name}.new" for name in names}
    try:
        with ExitStack() as stack:
            levels = _Levels(stack, new)
            maker = OverviewMaker(fields)
            for part in parts:
                for bucket in maker.add(part):
                    levels.add(KEY_LEVEL, bucket)
            for bucket in maker.end(threads):
                levels.add(KEY_LEVEL, bucket)
            facts = {"parts": [facts_of(part) for part in parts], "gaps": maker.gaps}
            levels.end(json.dumps(facts))
        written = [name for name in names if new[name].exists()]
        for name in written:
            sync_file(new[name])
        for name in names:
            if name not in written:
                # The table has no rows, but an older overview may have had some.
                (folder.overview / f"{name}.parquet").unlink(missing_ok=True)
                continue
            if name == ALWAYS[-1]:
                sync_folder(folder.overview)
            new[name].replace(folder.overview / f"{name}.parquet")
        sync_folder(folder.overview)
    except BaseException:
        for path in new.values():
            path.unlink(missing_ok=True)
        raise
    sync_folder(folder.path)


class _Levels:
    """Makes each level from the one below, and writes all levels."""

    def __init__(self, stack: ExitStack, paths: dict[str, Path]) -> None:
        self._stack = stack
        self._paths = paths
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._first: Bucket | None = None
        self._waiting: dict[int, list[Bucket]] = {}
        """Pending buckets of each level that will make one of the next level."""
        self._unwritten: dict[int, list[Bucket]] = {}

    def add(self, level: int, bucket: Bucket) -> None:
        """Add the next bucket of a level."""
        if level not in self._waiting:
            self._waiting[level] = []
            self._unwritten[level] = []
            if self._first is not None:
                # All levels contain the start of the run.
                self._unwritten[level].append(self._first)
        self._unwritten[level].append(bucket)
        if sum(map(_rows, self._unwritten[level])) >= ROW_GROUP_ROWS:
            self._write(level)
        if self._first is None:
            self._first = bucket
            return
        waiting = self._waiting[level]
        waiting.append(bucket)
        if len(waiting) == MERGED:
            self._waiting[level] = []
            self.add(level + 1, merged(waiting))

    def end(self, facts: str) -> None:
        """Finish after the last bucket, so that all levels contain the end of the run."""
        level = KEY_LEVEL
        while level in self._waiting:
            waiting = self._waiting[level]
            if waiting and level + 1 in self._waiting:
                self.add(level + 1, merged(waiting))
            self._write(level)
            level += 1
        self._writers["signals"].add_key_value_metadata({_FACTS.decode(): facts})

    def _write(self, level: int) -> None:
        buckets, self._unwritten[level] = self._unwritten[level], []
        if not buckets:
            return
        written: dict[str, list[pa.Table]] = {name: [] for name in (*ALWAYS, *TABLES)}
        for bucket in buckets:
            written["samples"].append(bucket.samples)
            written["signals"].append(bucket.signals)
            written["extremes"].append(bucket.extremes)
            for table_name, table in bucket.tables.items():
                written[table_name].append(table)
        for name, tables in written.items():
            if not tables:
                continue
            table = pa.concat_tables(tables).combine_chunks()
            place = table.column_names.index("level")
            levels = pa.array(np.full(len(table), level, np.uint8))
            table = table.set_column(place, "level", levels)
            order = ORDERS.get(name, [one for one in ORDER if one in table.column_names])
            table = table.sort_by([(one, "ascending") for one in order])
            if name not in self._writers:
                file = self._stack.enter_context(self._paths[name].open("wb"))
                writer = sorted_writer(file, table.schema)
                self._writers[name] = self._stack.enter_context(writer)
            self._writers[name].write_table(table, row_group_size=max(1, len(table)))


def _rows(bucket: Bucket) -> int:
    return len(bucket.extremes) + sum(map(len, bucket.tables.values()))


class _RowGroup(NamedTuple):
    """A row group, with the least and greatest place in it."""

    number: int
    rows: int
    least: int
    most: int


class Overview:
    """Reads the overview of a run.

    Args:
        folder: folder of the run.

    Attributes:
        parts: facts about each part.
        gaps: frames missing in the run.
        levels: number of instants of each level.

    Raises:
        OSError: the overview cannot be read.
        ValueError: the overview is damaged.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        facts = json.loads((self._footer("signals").metadata or {})[_FACTS])
        self.parts = [PartFacts(*one) for one in facts["parts"]]
        self.gaps = [Gap(*one) for one in facts["gaps"]]
        self._times: dict[int, FrameTimes] = {}

    @cached_property
    def levels(self) -> dict[int, int]:
        """Number of instants of each level."""
        return {level: self.rows("signals", level) for level in self._groups("signals")}

    def times(self, level: int) -> FrameTimes:
        """Return the instants of a level; each covers all frames since the previous one."""
        if level not in self._times:
            found = frame_times_of(self.read("signals", level, _TIMES))
            first = np.append(found.first_seq[:1], found.seq[:-1] + 1)
            self._times[level] = FrameTimes(found.seq, first, found.time_ns, found.level)
        return self._times[level]

    def rows(self, name: str, level: int) -> int:
        """Return the number of rows of a table in a level."""
        return sum(group.rows for group in self._groups(name).get(level, []))

    def read(
        self,
        name: str,
        level: int,
        columns: Sequence[str] | None = None,
        between: tuple[int, int] | None = None,
    ) -> pa.Table:
        """Return the rows of a table in a level.

        Args:
            name: name of the table.
            level: a key of `levels`.
            columns: columns to return; None for all.
            between: least and greatest `seq` (of extremes, `to_ns`); None for all rows.
        """
        place = "to_ns" if name == "extremes" else "seq"
        groups = self._groups(name).get(level, [])
        if between is not None:
            groups = [one for one in groups if one.most >= between[0] and one.least <= between[1]]
        numbers = [one.number for one in groups]
        with pq.ParquetFile(self._path(name), metadata=self._footer(name)) as file:
            table = file.read_row_groups(
                numbers, columns=None if columns is None else list(columns)
            )
        if between is not None:
            table = table.filter((pc.field(place) >= between[0]) & (pc.field(place) <= between[1]))
        return table

    def tables(
        self,
        level: int,
        columns: Sequence[str] | None = None,
        between: tuple[int, int] | None = None,
    ) -> dict[TableName, pa.Table]:
        """Return the rows of the frame tables in a level, by name; see `read`."""
        return {
            name: self.read(name, level, columns, between)
            for name in TABLES
            if level in self._groups(name)
        }

    def extremes(self, from_ns: int, to_ns: int, max_rows: int) -> pa.Table:
        """Return extremes of rates in a span, from the finest level within the row limit."""
        share = self.share(from_ns, to_ns)
        fit = [one for one in self.levels if self.rows("extremes", one) * share <= max_rows]
        level = min(fit, default=max(self.levels))
        time_ns = self.times(level).time_ns
        # The bucket that contains the span's end ends after it.
        behind = int(np.searchsorted(time_ns, to_ns))
        last_ns = int(time_ns[min(behind, len(time_ns) - 1)])
        return self.read("extremes", level, between=(from_ns + 1, last_ns))

    def share(self, from_ns: int, to_ns: int) -> float:
        """Return the share of the run that a span covers."""
        first, last = self.parts[0].from_ns, self.parts[-1].to_ns
        return max(0, min(to_ns, last) - max(from_ns, first)) / max(1, last - first)

    def _groups(self, name: str) -> dict[int, list[_RowGroup]]:
        """Return row groups by level; empty if the table does not exist."""
        if name in TABLES and not self._path(name).exists():
            return {}
        footer = self._footer(name)
        place = "to_ns" if name == "extremes" else "seq"
        columns = [footer.schema.names.index(one) for one in ("level", place)]
        found: dict[int, list[_RowGroup]] = {}
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            level, places = (group.column(column).statistics for column in columns)
            one = _RowGroup(number, group.num_rows, int(places.min), int(places.max))
            found.setdefault(int(level.max), []).append(one)
        return found

    def _footer(self, name: str) -> pq.FileMetaData:
        if name not in self._footers:
            self._footers[name] = pq.read_metadata(self._path(name))
        return self._footers[name]

    @cached_property
    def _footers(self) -> dict[str, pq.FileMetaData]:
        return {}

    def _path(self, name: str) -> Path:
        return self._folder.overview / f"{name}.parquet"
