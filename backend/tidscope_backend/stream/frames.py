"""Frames as stored by the backend, and coalescing that preserves totals.

Counters are cumulative, so a thread's last row holds everything but instantaneous values. Rows
before an exit or a birth belong to an earlier thread with the same ID and are dropped; the exit
event holds that thread's totals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import (
    Fields,
    FrameDecoder,
    FrameError,
    RowEncoder,
    Rows,
    join,
    key_fields,
    split,
)
from tidscope_wire.frame_tables import joined_rows
from tidscope_wire.generated.frame_tables import ROWS
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import (
    FrameHeader,
    FrameTable,
    Gap,
    RoleTotals,
    TableName,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.table_streams import decode_table, encode_tables, table_parts


@dataclass(frozen=True, slots=True)
class StoredFrame:
    """One frame, still encoded.

    Attributes:
        target: target ID.
        first_seq: number of the first frame covered.
        seq: frame number; greater than first_seq if frames were coalesced.
        key: whether the frame is a key frame, at which a reader can start.
        baseline: whether the frame holds the counters at attach; see FrameHeader.baseline.
        time_ns: nanoseconds since attach.
        data: the complete binary message.
        fields: counter columns of the stream, which a delta frame does not name; None before the
            first key frame.
    """

    target: str
    first_seq: int
    seq: int
    key: bool
    baseline: bool
    time_ns: int
    data: bytes
    fields: Fields | None

    @property
    def span(self) -> int:
        """Number of frames of the stream that the frame covers."""
        return self.seq - self.first_seq + 1


def parse_frame(data: bytes, fields: Fields | None) -> StoredFrame:
    """Check a frame's header and keep the routing fields; rows stay encoded.

    Args:
        data: the complete binary message.
        fields: columns of the previous key frame, or None.

    Raises:
        tidscope_wire.frame.FrameError: the data is not a frame.
    """
    header, body = split(data)
    return store_frame(header, data, body, fields)


def store_frame(
    header: FrameHeader, data: bytes, body: memoryview, fields: Fields | None
) -> StoredFrame:
    """Store a frame that was split before.

    Raises:
        tidscope_wire.frame.FrameError: a key frame's columns differ from those it must have.
    """
    return StoredFrame(
        target=header.target,
        first_seq=header.first_seq,
        seq=header.seq,
        key=header.kind == "key",
        baseline=header.baseline,
        time_ns=header.time_ns,
        data=data,
        fields=key_fields(header, body) if header.kind == "key" else fields,
    )


Identity = tuple[int, str, int]
"""Start in nanoseconds since attach, comm, and process ID (0 for a single-process target)."""


@dataclass(frozen=True)
class _Part:
    header: FrameHeader
    rows: Rows
    body: memoryview


def merge(
    frames: Sequence[bytes],
    fields: Fields | None = None,
    gap_reason: str = "frames were lost on the way",
) -> bytes:
    """Merge frames of one target, in ascending order of frame number.

    Events are concatenated; a hole between frame numbers becomes a gap event. A key frame replaces
    earlier rows, and later rows update it: the result is a key frame if any input was. Other header
    values come from the last frame that has them. Role totals are kept only if they belong to the
    result's instant. A run may start with the result, and earlier totals would show as a spurious
    rate.

    Args:
        frames: frames to merge; at least one.
        fields: columns of the key frame before the input, or None.
        gap_reason: text of gap events.

    Raises:
        FrameError: the input is not frames of one target with matching columns and ascending
            numbers.
    """
    decoder = FrameDecoder(fields)
    parts = list[_Part]()
    for frame in frames:
        header, body = split(frame)
        parts.append(_Part(header, decoder.decode_rows(header, body), body))
    events = _events(parts, gap_reason)
    key = max((i for i, p in enumerate(parts) if p.header.kind == "key"), default=None)
    rows = _last_rows(parts, key)
    if key is not None:
        of_group = parts[key].rows.pid is not None
        rows = _with_identity(rows, _identities(parts[key:]), of_group=of_group)
    described, tables = _tables(parts, key)
    merged = parts[-1].header.model_copy(
        update={
            "first_seq": parts[0].header.first_seq,
            "kind": "delta" if key is None else "key",
            "rows": len(rows.tid),
            "events": events,
            "roles": _roles([part.header for part in parts], key),
            "tables": described or None,
        }
    )
    return join(merged, _encoder(tuple(rows.columns)).encode(rows), tables)


def _roles(headers: Sequence[FrameHeader], key: int | None) -> list[RoleTotals] | None:
    newest = next((header for header in reversed(headers) if header.roles), None)
    if newest is None or (key is not None and newest.time_ns < headers[-1].time_ns):
        return None
    return newest.roles


@lru_cache(maxsize=64)
def _encoder(fields: tuple[str, ...]) -> RowEncoder:
    return RowEncoder(fields)


def _events(parts: Sequence[_Part], gap_reason: str) -> list[TargetEvent]:
    """Concatenate events, and check that frame numbers ascend."""
    events: list[TargetEvent] = []
    last: FrameHeader | None = None
    for part in parts:
        header = part.header
        if last is not None:
            if header.target != last.target:
                raise FrameError(f"frames of {last.target} and {header.target} cannot be merged")
            if header.first_seq <= last.seq:
                raise FrameError(f"frame {header.first_seq} does not come after {last.seq}")
            if header.first_seq > last.seq + 1:
                events.append(
                    Gap(from_seq=last.seq + 1, to_seq=header.first_seq - 1, reason=gap_reason)
                )
        events.extend(header.events)
        last = header
    return events


def _last_rows(parts: Sequence[_Part], key: int | None) -> Rows:
    """Keep the last row of each thread whose identity is unchanged, ordered by TID."""
    fields = tuple(parts[-1].rows.columns)
    # Frames before the first key frame have no rows and no known columns.
    named = [part.rows for part in parts if part.rows.columns]
    for rows in named:
        if tuple(rows.columns) != fields:
            raise FrameError(f"columns change from {tuple(rows.columns)} to {fields}")
    tids = np.concatenate([part.rows.tid for part in parts])
    source = np.repeat(np.arange(len(parts)), [len(part.rows.tid) for part in parts])
    oldest = np.full(len(tids), key or 0)
    cuts = _cuts(parts)
    if cuts:
        cut_tids = np.fromiter(sorted(cuts), np.uint32, len(cuts))
        cut_at = np.array([cuts[int(tid)] for tid in cut_tids])
        place = np.minimum(np.searchsorted(cut_tids, tids), len(cut_tids) - 1)
        found = cut_tids[place] == tids
        oldest[found] = np.maximum(oldest[found], cut_at[place[found]])
    alive = np.flatnonzero(source >= oldest)
    # The first row of a thread, in reversed order, is its last one.
    tid, first = np.unique(tids[alive][::-1], return_index=True)
    chosen = alive[len(alive) - 1 - first]
    columns: dict[str, npt.NDArray[np.uint64]] = {}
    absent: dict[str, npt.NDArray[np.bool_]] = {}
    for field in fields:
        columns[field] = np.concatenate([rows.columns[field] for rows in named])[chosen]
        if any(field in rows.absent for rows in named):
            absent[field] = np.concatenate([_absent(rows, field) for rows in named])[chosen]
    return Rows(tid=tid, columns=columns, absent=absent)


def _tables(parts: Sequence[_Part], key: int | None) -> tuple[list[FrameTable], bytes]:
    """Merge tables: the last row of each key; tables of a single frame are unchanged.

    A key frame replaces earlier tables, but not the rows of logs, which it does not repeat.
    """
    found: dict[TableName, list[tuple[FrameTable, memoryview]]] = {}
    for place, part in enumerate(parts):
        for described, data in table_parts(part.header, part.body):
            if place >= (key or 0) or ROWS[described.name] == "log":
                found.setdefault(described.name, []).append((described, data))
    described_all, encoded = list[FrameTable](), list[bytes | memoryview]()
    for name, pieces in found.items():
        last, data = pieces[-1]
        if len(pieces) == 1:
            described_all.append(last)
            encoded.append(data)
            continue
        tables = [decode_table(name, one) for _, one in pieces]
        joined = joined_rows(name, tables, keep_gone=key is None)
        # Rows that a log omits are in no later frame; other tables count theirs at each reading.
        counted = pieces if ROWS[name] == "log" else pieces[-1:]
        omitted = sum(one.omitted for one, _ in counted) + max(0, len(joined) - MAX_TABLE_ROWS)
        kept = {name: joined[:MAX_TABLE_ROWS]}
        (described,), made = encode_tables(kept, {name: omitted}, last.read_ns)
        described_all.append(described)
        encoded.append(made)
    return described_all, b"".join(encoded)


def _absent(rows: Rows, field: str) -> npt.NDArray[np.bool_]:
    mask = rows.absent.get(field)
    return np.zeros(len(rows.tid), np.bool_) if mask is None else mask


def _cuts(parts: Sequence[_Part]) -> dict[int, int]:
    """Map each thread ID to the last frame in which a thread with this ID was born or exited.

    Rows of that frame count, because events apply before rows; earlier rows do not.
    """
    return {
        event.tid: index
        for index, part in enumerate(parts)
        for event in part.header.events
        if isinstance(event, ThreadBorn | ThreadExited)
    }


def _identities(parts: Sequence[_Part]) -> dict[int, Identity]:
    """Return the threads alive after the last frame: the key frame's threads, updated by events."""
    first = parts[0].rows
    if first.start_ns is None or first.name is None:
        raise FrameError("a key frame has no start_ns and name columns")
    pids = [0] * len(first.tid) if first.pid is None else first.pid.tolist()
    known: dict[int, Identity] = {
        tid: (start, name, pid)
        for tid, start, name, pid in zip(
            first.tid.tolist(), first.start_ns.tolist(), first.name, pids, strict=True
        )
    }
    for part in parts[1:]:
        for event in part.header.events:
            if isinstance(event, ThreadBorn):
                known[event.tid] = (event.start_ns, event.name, event.pid or 0)
            elif isinstance(event, ThreadExited):
                known.pop(event.tid, None)
            elif isinstance(event, ThreadRenamed) and event.tid in known:
                start, _, pid = known[event.tid]
                known[event.tid] = (start, event.name, pid)
    return known


def _with_identity(rows: Rows, known: dict[int, Identity], *, of_group: bool) -> Rows:
    """Build the rows of a key frame: all live threads, each with start and name.

    A newborn thread without a row gets an empty one. A row of an unannounced thread, born in a gap,
    is dropped until the next key frame.
    """
    tid = np.fromiter(sorted(known), np.uint32, len(known))
    place = np.searchsorted(rows.tid, tid)
    found = np.zeros(len(tid), np.bool_)
    inside = place < len(rows.tid)
    found[inside] = rows.tid[place[inside]] == tid[inside]
    columns: dict[str, npt.NDArray[np.uint64]] = {}
    absent: dict[str, npt.NDArray[np.bool_]] = {}
    for field, values in rows.columns.items():
        column = np.zeros(len(tid), np.uint64)
        column[found] = values[place[found]]
        columns[field] = column
        mask = rows.absent.get(field)
        if mask is not None or not found.all():
            missing = ~found
            if mask is not None:
                missing[found] = mask[place[found]]
            absent[field] = missing
    identities = [known[int(t)] for t in tid]
    return Rows(
        tid=tid,
        columns=columns,
        absent=absent,
        start_ns=np.array([start for start, _, _ in identities], np.int64),
        name=[name for _, name, _ in identities],
        pid=np.array([pid for _, _, pid in identities], np.uint32) if of_group else None,
    )
