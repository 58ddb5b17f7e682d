"""Moves parts into the table, each exactly once.

`python -m tidscope_backend.fleet.committer FOLDER SECONDS [STORE]` commits what waits. A commit
names its parts in the snapshot, so parts of a process that died after the commit are known and only
removed. Snapshots go after an hour; of an older part, the table is asked for its first row.
"""

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.expressions import And, BooleanExpression, EqualTo, IsNull, Reference
from pyiceberg.table import Table

from tidscope_backend.fleet.part_store import (
    STAGED,
    PartStore,
    StoreError,
    is_local,
    path_of,
    sync_file,
    url_of,
)
from tidscope_backend.fleet.role_rows import SCHEMA
from tidscope_backend.fleet.role_table import PARTS, NoTableError, committed, open_table
from tidscope_backend.fleet.table_care import ORDER, SNAPSHOTS, care

CLOCK_S = 1.0
"""Maximum lag of times of files behind the clock, in seconds."""
AT_ONCE = 100_000
"""Number of rows after which a commit takes no further part, which bounds its memory."""
REMEMBERED = SNAPSHOTS - timedelta(minutes=15)
"""Age of parts up to which snapshots name those that are in the table: clocks of hosts differ."""
LEASE_S = 700.0
"""Time after which another committer may begin, in seconds; this process is stopped before."""
UNFINISHED_S = 3600.0
"""Age after which an unfinished part is that of a process that died, in seconds."""


def commit(folder: Path, keep_seconds: float, now: datetime, store: str | None = None) -> int:
    """Commit all parts, merge small files, and delete what is too old.

    Args:
        folder: folder of the catalog.
        keep_seconds: age after which rows are deleted, in seconds.
        now: the time.
        store: address of the store of parts and table; None for the folder.

    Returns:
        Number of rows added; 0 if another committer is at work.

    Raises:
        OSError: files cannot be read or written.
        NoTableError: PyIceberg is missing, or the table is in another store.
        CommitFailedException: another committer was faster; the parts stay.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_unfinished(folder / STAGED, time.time() - UNFINISHED_S)
    parts = PartStore(url_of(folder) if store is None else store)
    with parts.exclusive(LEASE_S) as mine:
        if not mine:
            return 0
        table = open_table(folder, make=True, store=parts.url)
        rows = _add(table, parts, now)
        care(table, parts, now, timedelta(seconds=keep_seconds))
        return rows


def _add(table: Table, parts: PartStore, now: datetime) -> int:
    rows = 0
    waiting = parts.names()
    done = committed(table)
    while waiting:
        batch, new, count = list[str](), dict[str, pa.Table](), 0
        while waiting and count < AT_ONCE:
            name = waiting.pop(0)
            batch.append(name)
            found = None if name in done else _read(parts, name)
            if found is None or (now - _sealed(name) > REMEMBERED and _is_in(table, found)):
                continue
            new[name] = found
            count += found.num_rows
        if new:
            added = pa.concat_tables(new.values()).sort_by(ORDER)
            before = time.time()
            table.append(added, snapshot_properties={PARTS: " ".join(new)})
            if is_local(table.location()):
                _flush(path_of(table.location()), before - CLOCK_S)
            rows += count
        parts.remove(batch)
    return rows


def _sealed(name: str) -> datetime:
    """Return the time in a part's name, by the clock of its backend."""
    try:
        return datetime.fromtimestamp(int(name.partition("-")[0]) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.min.replace(tzinfo=UTC)


def _is_in(table: Table, part: pa.Table) -> bool:
    """Return True if the table has the first row of a part, and so all of them."""
    if not part.num_rows:
        return True
    row = part.slice(0, 1).to_pylist()[0]
    wanted: BooleanExpression = EqualTo(term=Reference("time"), value=row["time"].isoformat())
    for name in ("host", "target", "role"):
        value, column = row[name], Reference(name)
        wanted = And(
            wanted, IsNull(term=column) if value is None else EqualTo(term=column, value=value)
        )
    return bool(table.scan(row_filter=wanted, selected_fields=("time",), limit=1).to_arrow())


def _flush(folder: Path, since_s: float) -> None:
    """Flush files written since a time to disk, which PyIceberg leaves to the system."""
    for path in folder.rglob("*"):
        if path.stat().st_mtime >= since_s:
            sync_file(path)


def _read(parts: PartStore, name: str) -> pa.Table | None:
    """Return a part's rows, if it is still there; a damaged part is set aside and reported."""
    data = parts.get(name)
    if data is None:
        return None
    try:
        found = pq.read_table(pa.BufferReader(data))
    except pa.ArrowInvalid as error:
        parts.set_aside(name)
        print(f"{name} is damaged and set aside: {error}", file=sys.stderr)
        return None
    absent = [field for field in SCHEMA if field.name not in found.column_names]
    for field in absent:
        found = found.append_column(field, pa.nulls(found.num_rows, field.type))
    return found.select(SCHEMA.names).cast(SCHEMA)


def _remove_unfinished(staged: Path, before_s: float) -> None:
    """Remove what processes that died have left of parts that they were writing."""
    for path in staged.glob("*.new"):
        if path.stat().st_mtime < before_s:
            path.unlink(missing_ok=True)


def main(arguments: Sequence[str]) -> None:
    """Commit once."""
    folder, seconds, *store = arguments
    try:
        commit(Path(folder), float(seconds), datetime.now(UTC), *store)
    except (NoTableError, StoreError) as error:
        raise SystemExit(str(error)) from None
    except CommitFailedException:
        raise SystemExit("another committer was faster; parts wait for the next commit") from None


if __name__ == "__main__":
    main(sys.argv[1:])
