"""Rewrites an unpacked run from its decoded content, within bounds.

Only the import process reads an archive's files. The files in the runs directory are written by us
from checked values. Every later reader (frames, comparison, exports, SQL) therefore gets data that
a recording could have made.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tidscope_wire.frame_tables import LATER
from tidscope_wire.generated.frame_tables import KEYS as TABLE_KEYS
from tidscope_wire.generated.models import FrameHeader, RunEvent, RunManifest, TableName, Target

from tidscope_backend.exchange.unpacking import BadArchiveError
from tidscope_backend.recording.sealing import write_part, write_summaries
from tidscope_backend.store.folder import RunFolder, final_state
from tidscope_backend.store.frame_files import whole_frames
from tidscope_backend.store.log_parts import LOGS, log_table
from tidscope_backend.store.part_tables import (
    GROUP_KEYS,
    KEY_LEVEL,
    TABLES,
    Part,
    header_values,
    part_of,
    signals_schema,
    signals_table,
)
from tidscope_backend.store.table_parts import (
    CHANGE_LEVEL,
    FIRST_LEVEL,
    TABLE_LEVELS,
    rows_of,
    table_schema,
    with_later,
)

MAX_PARTS = 20_160
"""Maximum parts of a run: two weeks of minutes."""
MAX_ROWS = 2_000_000
"""Maximum rows of a part; 64 MiB of frames have some hundred thousand."""
MAX_FRAMES = 20_000
"""Maximum frames of a part; a minute has at most 6000."""
MAX_SIGNALS_BYTES = 128 * 2**20
MAX_OPEN_PART_BYTES = 256 * 2**20
MAX_EVENT_BYTES = 8 * 1024
MAX_EVENTS = 1_000_000
"""Maximum events of a part."""
MAX_NAME = 255
"""Maximum bytes of a thread's or role's name; the kernel's have at most 15."""
MAX_TEXT = 4096
"""Maximum bytes of a text in a frame table: a symbol, or a path."""
MAX_TABLE_BYTES = 128 * 2**20
MAX_TIME_NS = 2**62
MAX_NUMBER = 2**63 - 1
MAX_UNIX_US = 253_402_300_799_000_000
"""End of the year 9999, the last year that programs can represent."""
BATCH_ROWS = 16_384
BATCH_FRAMES = 256
MAX_FIELDS = 256
_FIELD = re.compile(r"[a-z][a-z_]{0,63}\Z")
_OWN_COLUMNS = {*GROUP_KEYS, "time_ns", "unix_us", "role"}


class _Place(NamedTuple):
    """End of the parts so far."""

    seq: int
    time_ns: int


def rewrite_run(unpacked: RunFolder, into: RunFolder) -> RunManifest:
    """Rewrite a run; unpacked parts are removed once rewritten.

    Args:
        unpacked: the files of the archive.
        into: an empty run folder.

    Returns:
        Manifest, not yet written, with state, times and counts of the rewritten data.

    Raises:
        BadArchiveError: the archive is not a run, or exceeds bounds.
        OSError: the run cannot be written.
        ValueError, KeyError, pa.ArrowException: a file cannot be decoded.
    """
    manifest = unpacked.read_manifest()
    _check_manifest(manifest)
    fields, target = manifest.target.fields, manifest.target
    opened = set(unpacked.open_parts())
    numbers = sorted(opened | set(unpacked.sealed_parts()))
    if len(numbers) > MAX_PARTS:
        raise BadArchiveError(f"it has {len(numbers)} parts; at most {MAX_PARTS} are accepted")
    place: _Place | None = None
    first_ns, frames, rows, events = manifest.from_ns, 0, 0, 0
    for place_in_run, number in enumerate(numbers, 1):
        read = _frames_part if number in opened else _sealed_part
        part = read(unpacked, number, fields, target)
        if not len(part.signals):
            raise BadArchiveError(f"its part {number} has no frames")
        if place is None:
            first_ns = part.signals["time_ns"][0].as_py()
        place = _check_part(part, place, number, fields)
        write_part(into, place_in_run, part)
        frames, rows, events = (
            frames + len(part.signals),
            rows + len(part.samples),
            events + len(part.events),
        )
        for path in (unpacked.samples, unpacked.signals, unpacked.events, unpacked.open_part):
            path(number).unlink(missing_ok=True)
        for path_of_table in unpacked.tables(number).values():
            path_of_table.unlink()
    changes: dict[str, object] = {"imported": True, "until_ns": None}
    changes["state"] = final_state(manifest.state, manifest.losses)
    changes["host"] = manifest.host.model_copy(update={"connected": False})
    if place is not None:
        changes |= {"from_ns": first_ns, "to_ns": place.time_ns}
    counts = {
        "frames": frames,
        "events": events,
        "thread_samples": min(rows, manifest.counts.thread_samples),
    }
    changes["counts"] = manifest.counts.model_copy(update=counts)
    manifest = manifest.model_copy(update=changes)
    into.write_manifest(manifest)
    if numbers:
        write_summaries(into)
    return manifest


def _check_manifest(manifest: RunManifest) -> None:
    fields = manifest.target.fields
    if (
        len(fields) > MAX_FIELDS
        or len(set(fields)) < len(fields)
        or not all(_FIELD.match(name) for name in fields)
        or _OWN_COLUMNS.intersection(fields)
    ):
        raise BadArchiveError("its fields have invalid names")
    if manifest.state == "recording":
        raise BadArchiveError("it is being recorded elsewhere; export it to get a copy")
    _check_numbers(manifest.model_dump(), "manifest.json")


def _check_numbers(value: object, where: str) -> None:
    """Check that each number fits JSON, int64 and, if it is a date, the range of dates."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            if str(name).endswith("unix_us") and isinstance(one, int) and one > MAX_UNIX_US:
                raise BadArchiveError(f"{where} has a date behind the year 9999")
            _check_numbers(one, where)
    elif isinstance(value, list | tuple):
        for one in value:
            _check_numbers(one, where)
    elif isinstance(value, float) and not math.isfinite(value):
        raise BadArchiveError(f"{where} has a number that JSON does not have")
    elif isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise BadArchiveError(f"{where} has the number {value!r:.40}")


def _frames_part(folder: RunFolder, number: int, fields: Sequence[str], _: Target) -> Part:
    path = folder.open_part(number)
    size = path.stat().st_size
    if size > MAX_OPEN_PART_BYTES:
        raise BadArchiveError(f"its part {number} has {size} bytes of frames")
    return part_of(whole_frames(path.read_bytes()), fields)


def _sealed_part(folder: RunFolder, number: int, fields: Sequence[str], target: Target) -> Part:
    of_group = target.group is not None
    headers, levels = _headers(folder.signals(number), fields, target)
    schema = _samples_schema(fields, of_group=of_group)
    samples = pa.Table.from_batches(
        list(_batches(folder.samples(number), schema, BATCH_ROWS, MAX_ROWS)), schema
    ).combine_chunks()
    first_ns = headers[0].time_ns if headers else 0
    return Part(
        samples=_sorted(samples),
        signals=signals_table(headers, levels, fields, of_group=of_group),
        events=list(_events(folder.events(number))),
        tables={name: _table(name, path, first_ns) for name, path in folder.tables(number).items()},
        rows=len(samples),
    )


def _table(name: TableName, path: Path, first_ns: int) -> pa.Table:
    """Return the rows of a frame table, in the order of docs/runs.md.

    Args:
        name: name of the table.
        path: its file.
        first_ns: time of the part's first frame.
    """
    there = set(pq.read_schema(path).names)
    absent = LATER.get(name, frozenset()) - there
    schema = pa.schema([one for one in table_schema(name) if one.name not in absent])
    batches = list(_batches(path, schema, BATCH_ROWS, MAX_ROWS, MAX_TABLE_BYTES))
    table = with_later(name, pa.Table.from_batches(batches, schema).combine_chunks())
    table = table.select(table_schema(name).names)
    for column in table.column_names:
        if table[column].null_count:
            raise BadArchiveError(f"a row of {name} has no {column}")
    if name in LOGS:
        return log_table(name, rows_of(name, table), table["seq"].to_numpy(), first_ns)
    keys = [("level", "descending"), *((one, "ascending") for one in (*TABLE_KEYS[name], "seq"))]
    return table.sort_by(keys)


def _samples_schema(fields: Sequence[str], *, of_group: bool) -> pa.Schema:
    keys = {"tid": pa.uint32(), "start_ns": pa.int64(), "seq": pa.int64(), "level": pa.uint8()}
    keys["name"] = pa.utf8()
    if of_group:
        keys["pid"] = pa.uint32()
    return pa.schema({**keys, **{name: pa.uint64() for name in fields}})


def _headers(
    path: Path, fields: Sequence[str], target: Target
) -> tuple[list[FrameHeader], list[int]]:
    """Return headers and levels of the frames of a sealed part."""
    schema = signals_schema(fields, of_group=target.group is not None)
    if TABLES not in pq.read_schema(path).names:
        schema = schema.remove(schema.get_field_index(TABLES))
    headers: list[FrameHeader] = []
    levels: list[int] = []
    for batch in _batches(path, schema, BATCH_FRAMES, MAX_FRAMES, MAX_SIGNALS_BYTES):
        for row in batch.to_pylist():
            levels.append(row["level"])
            values: dict[str, Any] = {
                **header_values(row),
                **{"type": "frame", "target": target.id, "kind": "delta", "baseline": False},
                **{"rows": 0, "events": []},
            }
            headers.append(FrameHeader.model_validate(values))
    return headers, levels


def _batches(
    path: Path, wanted: pa.Schema, batch_rows: int, most: int, most_bytes: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Decode the required columns of a file in batches; further columns are ignored."""
    with pq.ParquetFile(
        path, thrift_string_size_limit=2**24, thrift_container_size_limit=2**18
    ) as file:
        rows, found = file.metadata.num_rows, file.schema_arrow
        if rows > most:
            raise BadArchiveError(f"{path.name} has {rows} rows; at most {most} are accepted")
        for column in wanted:
            if found.get_field_index(column.name) < 0:
                raise BadArchiveError(f"{path.name} has no column {column.name}")
            kind = found.field(column.name).type
            if not _fits(kind, column.type):
                raise BadArchiveError(f"column {column.name} of {path.name} is {kind}")
        count = size = 0
        for batch in file.iter_batches(batch_rows, columns=wanted.names, use_threads=False):
            batch.validate(full=True)
            count, size = count + len(batch), size + batch.nbytes
            if count > most or (most_bytes is not None and size > most_bytes):
                raise BadArchiveError(f"{path.name} unpacks to more than a part can have")
            yield batch.select(wanted.names)


def _check_names(column: pa.ChunkedArray | pa.Array, where: str) -> None:
    if pa.types.is_string(column.type):
        if (pc.max(pc.binary_length(column)).as_py() or 0) > MAX_NAME:
            raise BadArchiveError(f"{where} has a name of more than {MAX_NAME} bytes")
    elif pa.types.is_list(column.type):
        _check_names(pc.list_flatten(column), where)
    elif pa.types.is_struct(column.type):
        for one in column.flatten():
            _check_names(one, where)


def _fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Return True if a type matches; a struct of an older version may have fewer fields."""
    if pa.types.is_struct(wanted) and pa.types.is_struct(found):
        known = {field.name: field.type for field in wanted}
        return all(field.name in known and _fits(field.type, known[field.name]) for field in found)
    if pa.types.is_list(wanted) and pa.types.is_list(found):
        return _fits(found.value_type, wanted.value_type)
    return bool(found == wanted)


def _sorted(samples: pa.Table) -> pa.Table:
    """Return rows in the order of docs/runs.md, on which row groups and their levels depend."""
    for name in ("tid", "seq", "level"):
        if samples[name].null_count:
            raise BadArchiveError(f"a row of samples has no {name}")
    starts = pc.fill_null(samples["start_ns"], np.iinfo(np.int64).min).to_numpy()
    keys = (
        samples["seq"].to_numpy(),
        starts,
        samples["tid"].to_numpy(),
        -samples["level"].to_numpy().astype(np.int8),
    )
    order = np.lexsort(keys)
    if np.array_equal(order, np.arange(len(order))):
        return samples
    return samples.take(pa.array(order))


def _check_table(
    name: TableName,
    table: pa.Table,
    seq: npt.NDArray[np.int64],
    level: npt.NDArray[np.uint8],
    need: Callable[[object, str], None],
) -> None:
    """Check that a frame table matches the frames of its part."""
    rows, of_rows = table["seq"].to_numpy(), table["level"].to_numpy()
    place = np.minimum(np.searchsorted(seq, rows), len(seq) - 1)
    need((seq[place] == rows).all(), f"a row of {name} is of no frame")
    if name not in LOGS:  # The levels of logs were made here.
        whole = level[place] == KEY_LEVEL
        need(np.isin(of_rows, TABLE_LEVELS).all(), f"levels of {name}")
        need(((of_rows != CHANGE_LEVEL) == whole).all(), f"levels of {name}")
        need(((of_rows == FIRST_LEVEL) <= (rows == seq[0])).all(), f"levels of {name}")
    for column in table.column_names:
        if table.schema.field(column).type == pa.utf8():
            longest = pc.max(pc.binary_length(table[column])).as_py() or 0
            need(longest <= MAX_TEXT, f"a text of {name} is too long")
        else:
            need((pc.max(table[column]).as_py() or 0) <= MAX_NUMBER, f"column {column} of {name}")


def _events(path: Path) -> Iterator[RunEvent]:
    with path.open("rb") as lines:
        count = 0
        while line := lines.readline(MAX_EVENT_BYTES + 1):
            count += 1
            if len(line) > MAX_EVENT_BYTES:
                raise BadArchiveError(
                    f"a line of {path.name} has more than {MAX_EVENT_BYTES} bytes"
                )
            if count > MAX_EVENTS:
                raise BadArchiveError(f"{path.name} has more than {MAX_EVENTS} events")
            yield RunEvent.model_validate_json(line)


def _check_part(part: Part, before: _Place | None, number: int, fields: Sequence[str]) -> _Place:
    """Check that frames, rows and events of a part agree, and that it follows the previous part."""

    def need(agrees: object, why: str) -> None:
        if not agrees:
            raise BadArchiveError(f"its part {number} is inconsistent: {why}")

    def column(name: str) -> Any:
        return part.signals[name].to_numpy()

    seq, first_seq, time_ns, level = map(column, ("seq", "first_seq", "time_ns", "level"))
    last = before or _Place(int(first_seq[0]) - 1, 0)
    previous = np.concatenate([[last.seq], seq[:-1]])
    need((first_seq > previous).all() and (seq >= first_seq).all(), "numbers of frames")
    times = np.concatenate([[last.time_ns], time_ns])
    need((np.diff(times) >= 0).all() and time_ns[-1] < MAX_TIME_NS, "times of frames")
    need(level[0] == KEY_LEVEL and (level <= KEY_LEVEL).all(), "levels of frames")
    rows = part.samples
    place = np.searchsorted(seq, rows["seq"].to_numpy())
    place = np.minimum(place, len(seq) - 1)
    need((seq[place] == rows["seq"].to_numpy()).all(), "a row is of no frame")
    need((level[place] == rows["level"].to_numpy()).all(), "levels of rows")
    extremes = pc.min_max(rows["start_ns"]).as_py().values()
    need(all(-MAX_TIME_NS < (one or 0) < MAX_TIME_NS for one in extremes), "starts of threads")
    for name in fields:
        need((pc.max(rows[name]).as_py() or 0) <= MAX_NUMBER, f"column {name}")
    for table in (part.signals, rows):
        for values in table.columns:
            _check_names(values, f"its part {number}")
    for name, table in part.tables.items():
        _check_table(name, table, seq, level, need)
    _check_numbers(part.signals.to_pylist(), f"its part {number}")
    at = dict(zip(seq.tolist(), time_ns.tolist(), strict=True))
    newest = 0
    for event in part.events:
        need(at.get(event.seq) == event.time_ns and event.seq >= newest, "an event is of no frame")
        newest = event.seq
        _check_numbers(event.model_dump(), f"an event of its part {number}")
        need(len(event.model_dump_json()) <= MAX_EVENT_BYTES, "an event is too long")
    return _Place(int(seq[-1]), int(time_ns[-1]))
