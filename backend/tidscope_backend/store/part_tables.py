"""Frames of a part as tables. Pure.

Samples have one row per thread and frame; signals have one row per frame.
"""

import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args, get_origin

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import BaseModel
from tidscope_wire.frame import FrameDecoder, Rows
from tidscope_wire.generated.models import (
    CollectorHealth,
    FrameHeader,
    GroupCounts,
    MachineCounters,
    ProcessGauges,
    RunEvent,
    TableName,
    ThreadBorn,
    ThreadExited,
)
from tidscope_wire.table_streams import decode_tables
from typing_extensions import TypeAliasType

from tidscope_backend.store.log_parts import part_logs
from tidscope_backend.store.table_parts import FrameTables, part_tables

KEY_LEVEL = 2
SECOND_LEVEL = 1
SECOND_NS = 950_000_000
"""Minimum time between frames of level 1: a second, minus a tolerance for jitter."""
KEYS = ("tid", "start_ns", "seq", "level", "name")
"""Columns of samples besides fields."""
GROUP_KEYS = (*KEYS, "pid")
"""Columns of samples besides fields, in runs of groups."""
Ints = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Part:
    """A part, as docs/runs.md describes.

    Attributes:
        samples: rows sorted by level (the highest first), thread and number.
        signals: one row per frame.
        events: events, by frame.
        tables: frame tables by name, tables without rows omitted; see `table_parts`, `log_parts`.
        rows: thread-samples in the frames, excluding those repeated for level 1.
    """

    samples: pa.Table
    signals: pa.Table
    events: list[RunEvent]
    tables: dict[TableName, pa.Table]
    rows: int


@dataclass(frozen=True)
class _Lives:
    """Lives of threads, sorted by thread and by first frame."""

    tid: Ints
    frame: Ints
    start_ns: Ints
    exit_frame: Ints
    pid: Ints
    frames: int

    def of(self, tid: Ints, frame: Ints) -> Ints:
        """Return the index of the life of each row; -1 if the start of the thread is unknown."""
        known = self.tid * self.frames + self.frame
        place = np.searchsorted(known, tid * self.frames + frame, side="right") - 1
        if not len(known):
            return np.full(len(tid), -1)
        return np.where((place >= 0) & (self.tid[place] == tid), place, -1)


def part_of(frames: Iterable[bytes], fields: Sequence[str]) -> Part:
    """Make the tables of a part.

    Args:
        frames: frames of one target, in order; at least one, the first a key frame.
        fields: the target's, in column order; further columns of a frame are omitted.

    Raises:
        tidscope_wire.frame.FrameError: the input contains data that is not a frame.
    """
    headers: list[FrameHeader] = []
    bodies: list[Rows] = []
    tables: list[FrameTables] = []
    decoder = FrameDecoder()
    for data in frames:
        header, rows = decoder.decode(data)
        headers.append(header)
        bodies.append(rows)
        if header.tables is not None:
            # Tables are at the end of a frame, so earlier bytes do not matter.
            found = decode_tables(header, data)
            tables.append(FrameTables(header.seq, header.kind == "key", found))
    levels = levels_of([(h.kind == "key", h.time_ns) for h in headers])
    seqs = np.array([h.seq for h in headers], np.int64)
    events = [
        RunEvent(seq=h.seq, time_ns=h.time_ns, unix_us=h.unix_us, event=event)
        for h in headers
        for event in h.events
    ]
    return Part(
        samples=_samples(headers, bodies, levels, seqs, fields),
        signals=signals_table(
            headers,
            levels.tolist(),
            fields,
            of_group=any(body.pid is not None for body in bodies),
        ),
        events=events,
        tables=part_tables(tables) | part_logs(tables, headers[0].time_ns),
        rows=sum(header.rows for header in headers),
    )


def levels_of(frames: Sequence[tuple[bool, int]]) -> npt.NDArray[np.uint8]:
    """Return the level of each frame, from its key flag and time in nanoseconds."""
    levels = np.zeros(len(frames), np.uint8)
    last_ns: int | None = None
    for index, (key, time_ns) in enumerate(frames):
        if key:
            levels[index] = KEY_LEVEL
        elif last_ns is None or time_ns - last_ns >= SECOND_NS:
            levels[index] = SECOND_LEVEL
        else:
            continue
        last_ns = time_ns
    return levels


def _samples(
    headers: Sequence[FrameHeader],
    bodies: Sequence[Rows],
    levels: npt.NDArray[np.uint8],
    seqs: Ints,
    fields: Sequence[str],
) -> pa.Table:
    lives = _lives(headers, bodies)
    tid = _joined([body.tid for body in bodies]).astype(np.int64)
    frame = np.repeat(np.arange(len(bodies)), [len(body.tid) for body in bodies])
    life = lives.of(tid, frame)
    source, frame = _with_repeats(life, frame, lives, levels)
    life, tid = life[source], tid[source]
    order = np.lexsort((frame, life, tid, -levels[frame].astype(np.int8)))
    source, frame, life, tid = source[order], frame[order], life[order], tid[order]
    start_ns = lives.start_ns[life] if len(lives.start_ns) else np.zeros(len(life), np.int64)
    columns: dict[str, pa.Array] = {
        "tid": pa.array(tid.astype(np.uint32)),
        "start_ns": pa.array(start_ns, mask=life < 0),
        "seq": pa.array(seqs[frame]),
        "level": pa.array(levels[frame]),
        "name": pa.array(_names(bodies)[source], pa.utf8()),
    }
    if any(body.pid is not None for body in bodies):
        pid = lives.pid[life] if len(lives.pid) else np.zeros(len(life), np.int64)
        columns["pid"] = pa.array(pid.astype(np.uint32), mask=life < 0)
    for field in fields:
        values, absent = _column(bodies, field)
        columns[field] = pa.array(values[source], mask=absent[source] if absent.any() else None)
    return pa.table(columns)


def _names(bodies: Sequence[Rows]) -> npt.NDArray[np.object_]:
    """Return the names in key frames, None for all other rows."""
    names: list[str | None] = []
    for body in bodies:
        names.extend([None] * len(body.tid) if body.name is None else body.name)
    return np.array(names, object)


def _column(
    bodies: Sequence[Rows], field: str
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return a field of all rows, and a mask of missing values."""
    values: list[npt.NDArray[np.uint64]] = []
    absent: list[npt.NDArray[np.bool_]] = []
    for body in bodies:
        n = len(body.tid)
        column = body.columns.get(field)
        values.append(np.zeros(n, np.uint64) if column is None else column)
        mask = body.absent.get(field)
        absent.append(np.full(n, column is None) if mask is None else mask)
    return _joined(values), _joined(absent)


def _joined(arrays: Sequence[npt.NDArray[Scalar]]) -> npt.NDArray[Scalar]:
    return np.concatenate(arrays)


def _lives(headers: Sequence[FrameHeader], bodies: Sequence[Rows]) -> _Lives:
    """Return all threads of key frames and births, with their exits."""
    found: dict[tuple[int, int], int] = {}
    exits: dict[tuple[int, int], int] = {}
    pids: dict[tuple[int, int], int] = {}
    for index, (header, body) in enumerate(zip(headers, bodies, strict=True)):
        for event in header.events:
            if isinstance(event, ThreadBorn):
                found.setdefault((event.tid, event.start_ns), index)
                pids[event.tid, event.start_ns] = event.pid or 0
            elif isinstance(event, ThreadExited):
                exits[event.tid, event.start_ns] = index
        if body.start_ns is not None:
            identities = list(zip(body.tid.tolist(), body.start_ns.tolist(), strict=True))
            for key in identities:
                found.setdefault(key, index)
            if body.pid is not None:
                pids.update(zip(identities, body.pid.tolist(), strict=True))
    ordered = sorted(found, key=lambda key: (key[0], found[key]))
    ends: Mapping[tuple[int, int], int] = exits
    return _Lives(
        tid=np.array([tid for tid, _ in ordered], np.int64),
        frame=np.array([found[key] for key in ordered], np.int64),
        start_ns=np.array([start for _, start in ordered], np.int64),
        exit_frame=np.array([ends.get(key, len(headers)) for key in ordered], np.int64),
        pid=np.array([pids.get(key, 0) for key in ordered], np.int64),
        frames=max(1, len(headers)),
    )


def _with_repeats(
    life: Ints, frame: Ints, lives: _Lives, levels: npt.NDArray[np.uint8]
) -> tuple[Ints, Ints]:
    """Return rows and their frames, including rows that frames of level 1 repeat.

    A thread that changed since the last frame of level 1 or 2, but not in this frame, is repeated.

    Returns:
        Indices of rows, and the frame of each.
    """
    source = np.arange(len(frame))
    leading = np.flatnonzero(levels)
    place = np.searchsorted(leading, frame)
    covered = np.flatnonzero((place < len(leading)) & (life >= 0))
    if not len(covered):
        return source, frame
    at = leading[place[covered]]
    # The first row of a life in a span, in reversed order, is its last one.
    key = (at * max(1, len(lives.tid)) + life[covered])[::-1]
    last = covered[len(covered) - 1 - np.unique(key, return_index=True)[1]]
    at = leading[place[last]]
    repeated = (frame[last] != at) & (levels[at] == SECOND_LEVEL)
    repeated &= lives.exit_frame[life[last]] > at
    return (
        np.concatenate([source, last[repeated]]),
        np.concatenate([frame, at[repeated]]),
    )


_PLAIN: dict[object, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.utf8(),
}
TABLES = "tables"
"""Read time and omitted rows of each frame table of a frame; absent in older runs."""
_TABLE = pa.struct({"name": pa.utf8(), "omitted": pa.int64(), "read_ns": pa.int64()})
_NO_ROWS = {"rows": 0, "bytes": 8}
_PARTS = ("process", "machine", "health", "exited", "roles")


def signals_schema(fields: Sequence[str], *, of_group: bool = False) -> pa.Schema:
    """Return the columns of docs/runs.md; columns of a message are derived from its schema.

    Args:
        fields: fields of the target.
        of_group: whether the target is a group.
    """
    totals = pa.struct([pa.field(name, pa.int64()) for name in fields])
    exited = pa.struct({"threads": pa.int64(), "inexact": pa.int64(), "totals": totals})
    role = pa.struct(
        {"role": pa.utf8(), "live": pa.int64(), "exited": pa.int64(), "totals": totals}
    )
    schema = pa.schema(
        [
            pa.field("seq", pa.int64()),
            pa.field("first_seq", pa.int64()),
            pa.field("level", pa.uint8()),
            pa.field("time_ns", pa.int64()),
            pa.field("unix_us", pa.int64()),
            pa.field("live_threads", pa.int64()),
            pa.field("threads_born", pa.int64()),
            pa.field("counters_from", pa.utf8()),
            pa.field("process", struct_of(ProcessGauges)),
            pa.field("machine", struct_of(MachineCounters)),
            pa.field("health", struct_of(CollectorHealth)),
            pa.field("exited", exited),
            pa.field("roles", pa.list_(role)),
            pa.field(TABLES, pa.list_(_TABLE)),
        ]
    )
    return schema.append(pa.field("group", struct_of(GroupCounts))) if of_group else schema


def signals_table(
    headers: Sequence[FrameHeader],
    levels: Sequence[int],
    fields: Sequence[str],
    *,
    of_group: bool = False,
) -> pa.Table:
    """Make the table."""
    rows = []
    for header, level in zip(headers, levels, strict=True):
        row = header.model_dump(include={*_PARTS, "group"} if of_group else set(_PARTS))
        row.update(
            seq=header.seq,
            first_seq=header.first_seq,
            level=level,
            time_ns=header.time_ns,
            unix_us=header.unix_us,
            live_threads=header.live_threads,
            threads_born=header.threads_born,
            counters_from=header.counters_from,
            tables=None if header.tables is None else [one.model_dump() for one in header.tables],
        )
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=signals_schema(fields, of_group=of_group))


def header_values(row: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a header in a row of the table; fields without a value are omitted."""
    values = {name: value for name, value in row.items() if name != "level"}
    for totals in (values["exited"], *(values["roles"] or ())):
        totals["totals"] = {k: v for k, v in totals["totals"].items() if v is not None}
    if values.get(TABLES) is not None:
        # The rows are stored in other files.
        values[TABLES] = [one | _NO_ROWS for one in values[TABLES]]
    return values


def struct_of(model: type[BaseModel]) -> pa.StructType:
    """Return the Arrow type of a message."""
    return pa.struct(
        [pa.field(name, _type_of(info.annotation)) for name, info in model.model_fields.items()]
    )


def _type_of(annotation: Any) -> pa.DataType:
    origin, parts = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, TypeAliasType):
        return _type_of(annotation.__value__)
    if origin is typing.Annotated:
        return _type_of(parts[0])
    if origin in (typing.Union, types.UnionType):
        (inner,) = (part for part in parts if part is not types.NoneType)
        return _type_of(inner)
    if origin is list:
        return pa.list_(_type_of(parts[0]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return struct_of(annotation)
    return _PLAIN[str if origin is typing.Literal else annotation]
