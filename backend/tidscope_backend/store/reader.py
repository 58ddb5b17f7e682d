"""Reads a run as Arrow tables, whether it has ended or is being recorded."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tidscope_wire.generated.models import RunEvent, RunManifest
from tidscope_wire.role import RoleRule

from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.overview import Overview, PartFacts, facts_of
from tidscope_backend.store.part_tables import GROUP_KEYS, KEYS
from tidscope_backend.store.parts import PartReader, parts_of
from tidscope_backend.store.threads_table import threads_table


class RunReader:
    """A run at the time the reader is made; a later reader sees what was recorded since.

    Args:
        path: of the run's folder.

    Raises:
        OSError: it cannot be read.
        ValueError: its manifest is invalid.
    """

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path)
        self.manifest: RunManifest = self.folder.read_manifest()
        self.fields: list[str] = self.manifest.target.fields
        self.parts: list[PartReader] = parts_of(self.folder, self.fields)

    @cached_property
    def overview(self) -> Overview | None:
        """The coarse levels of the whole run; None: it has not ended, or has none."""
        if self.manifest.state == "recording":
            return None
        try:
            overview = Overview(self.folder)
        except FileNotFoundError:
            return None
        numbers = [part.number for part in self.parts]
        return overview if [one.number for one in overview.parts] == numbers else None

    @cached_property
    def facts(self) -> list[PartFacts]:
        """Times and rows of each part."""
        if self.overview is not None:
            return self.overview.parts
        return [facts_of(part) for part in self.parts]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Times of the first and last frame of each part, nanoseconds since attach."""
        return [(one.from_ns, one.to_ns) for one in self.facts]

    def parts_between(self, from_ns: int | None, to_ns: int | None) -> list[PartReader]:
        """The parts with frames from one time to another; None: to the run's end."""
        return [
            part
            for part, (first, last) in zip(self.parts, self.spans, strict=True)
            if (to_ns is None or first <= to_ns) and (from_ns is None or last >= from_ns)
        ]

    def signals(
        self,
        columns: Sequence[str] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> pa.Table:
        """One row per frame, in order; None: all columns, or to the run's end.

        `time_ns` is always among the columns.
        """
        if columns is not None and "time_ns" not in columns:
            columns = [*columns, "time_ns"]
        tables = [part.signals(columns) for part in self.parts_between(from_ns, to_ns)]
        if not tables:
            tables = [part.signals(columns).slice(0, 0) for part in self.parts[:1]]
        return _between(pa.concat_tables(tables, promote_options="default"), from_ns, to_ns)

    def samples(
        self,
        columns: Sequence[str] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
        level: int = 0,
    ) -> pa.Table:
        """Counters of threads, with `time_ns` of the frame as a column.

        Args:
            columns: fields; the keys of docs/runs.md are always there; None: all.
            from_ns: first time, nanoseconds since attach; None: the run's start.
            to_ns: last time; None: the run's end.
            level: frames of this level or above.

        Returns:
            Part by part sorted as docs/runs.md says.
        """
        keys = KEYS if self.manifest.target.group is None else GROUP_KEYS
        wanted = None if columns is None else [*keys, *(c for c in columns if c not in keys)]
        tables = []
        for part in self.parts_between(from_ns, to_ns) or self.parts[:1]:
            table = part.samples(level, wanted)
            place = np.searchsorted(part.times.seq, table["seq"].to_numpy())
            times = pa.array(part.times.time_ns[place])
            table = table.add_column(len(keys), "time_ns", times)
            tables.append(_between(table, from_ns, to_ns))
        return pa.concat_tables(tables)

    def events(self) -> list[RunEvent]:
        """All events, by frame."""
        return [event for part in self.parts for event in part.events()]

    def threads(self) -> pa.Table:
        """The thread table: as written when the run ended, else made from its parts."""
        if self.folder.threads.exists():
            with pq.ParquetFile(self.folder.threads) as file:
                return file.read()
        rules = [RoleRule(one.pattern, one.role) for one in self.manifest.target.role_rules or ()]
        return threads_table(self.parts, self.fields, rules)


def _between(table: pa.Table, from_ns: int | None, to_ns: int | None) -> pa.Table:
    if from_ns is not None:
        table = table.filter(pc.field("time_ns") >= from_ns)
    if to_ns is not None:
        table = table.filter(pc.field("time_ns") <= to_ns)
    return table
