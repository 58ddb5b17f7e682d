"""Moves parts into the table, each exactly once, and keeps the table small.

`python -m tidscope_backend.fleet.committer FOLDER SECONDS` commits what waits. A commit names its
parts in the snapshot, so parts of a process that died after the commit are known and only removed.
A lock excludes a second committer; Iceberg refuses a commit on a table that has changed.
"""

import fcntl
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.table import Table

from tidscope_backend.fleet.role_rows import SCHEMA
from tidscope_backend.fleet.role_table import (
    PARTS,
    STAGED,
    committed,
    open_table,
    path_of,
    staged_parts,
)
from tidscope_backend.store.folder import sync_folder

CLOCK_S = 1.0
"""Maximum lag of times of files behind the clock, in seconds."""
AT_ONCE = 500_000
"""Number of rows after which a commit takes no further part, which bounds its memory."""
SETTLED = timedelta(minutes=15)
"""Time after an hour's end in which its rows still come; then its files are merged."""
MAX_MERGED_ROWS = 1_000_000
"""Maximum rows of an hour that is merged here, in memory; other engines merge larger ones."""
ORDER = [(name, "ascending") for name in ("role", "program", "host", "target", "time")]
"""Order of rows in a file: questions are about one role of many hosts."""
SNAPSHOTS = timedelta(hours=1)
"""Time for which snapshots are kept, for readers that began earlier."""


def commit(folder: Path, keep_seconds: float, now: datetime) -> int:
    """Commit all parts, merge small files, and delete what is too old.

    Args:
        folder: folder of the table.
        keep_seconds: age after which rows are deleted, in seconds.
        now: the time.

    Returns:
        Number of rows added; 0 if another committer is at work.

    Raises:
        OSError: files cannot be read or written.
        NoTableError: PyIceberg is missing.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    else:
        table = open_table(folder, make=True)
        rows = _add(table, folder)
        _delete_before(table, now - timedelta(seconds=keep_seconds))
        _merge(table, now - SETTLED)
        table.maintenance.expire_snapshots().older_than(_naive(now - SNAPSHOTS)).commit()
        _remove_unused(table, now - SNAPSHOTS)
        return rows
    finally:
        os.close(descriptor)


def _add(table: Table, folder: Path) -> int:
    rows = 0
    waiting = staged_parts(folder)
    done = committed(table)
    while waiting:
        batch, new, count = list[Path](), dict[Path, pa.Table](), 0
        while waiting and count < AT_ONCE:
            part = waiting.pop(0)
            batch.append(part)
            if part.name not in done and (found := _read(part)) is not None:
                new[part] = found
                count += found.num_rows
        if new:
            added = pa.concat_tables(new.values()).sort_by(ORDER)
            names = " ".join(part.name for part in new)
            before = time.time()
            table.append(added, snapshot_properties={PARTS: names})
            _flush(path_of(table.location()), before - CLOCK_S)
            rows += count
        for part in batch:
            part.unlink(missing_ok=True)
        sync_folder(folder / STAGED)
    return rows


def _flush(folder: Path, since_s: float) -> None:
    """Flush files written since a time to disk, which PyIceberg leaves to the system."""
    for path in folder.rglob("*"):
        if path.stat().st_mtime >= since_s:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _read(part: Path) -> pa.Table | None:
    """Return a part's rows; a damaged part is set aside and reported."""
    try:
        found = pq.read_table(part)
    except pa.ArrowInvalid as error:
        part.rename(part.with_suffix(".damaged"))
        print(f"{part.name} is damaged and set aside: {error}", file=sys.stderr)
        return None
    absent = [field for field in SCHEMA if field.name not in found.column_names]
    for field in absent:
        found = found.append_column(field, pa.nulls(found.num_rows, field.type))
    return found.select(SCHEMA.names).cast(SCHEMA)


def _delete_before(table: Table, until: datetime) -> None:
    """Delete whole hours before a time."""
    hour = until.replace(minute=0, second=0, microsecond=0)
    old = f"time < '{hour.isoformat()}'"
    if any(True for _ in table.scan(row_filter=old).plan_files()):
        table.delete(old)


def _merge(table: Table, until: datetime) -> None:
    """Merge the files of each hour that ended before a time, sorted by role."""
    rows, files = Counter[int](), Counter[tuple[int, int]]()
    for task in table.scan().plan_files():
        hour, bucket = task.file.partition[0], task.file.partition[1]
        files[hour, bucket] += 1
        rows[hour] += task.file.record_count
    end = int(until.timestamp()) // 3600
    for hour in sorted({hour for (hour, _), count in files.items() if count > 1 and hour < end}):
        if rows[hour] <= MAX_MERGED_ROWS:
            within = _within(datetime.fromtimestamp(hour * 3600, UTC))
            found = table.scan(row_filter=within).to_arrow()
            table.overwrite(found.sort_by(ORDER), overwrite_filter=within)


def _within(hour: datetime) -> str:
    """Return a filter of the rows of an hour."""
    later = hour + timedelta(hours=1)
    return f"time >= '{hour.isoformat()}' and time < '{later.isoformat()}'"


def _remove_unused(table: Table, before: datetime) -> None:
    """Remove data and metadata files that no snapshot has, and that are older than a time."""
    used = {path_of(one) for one in table.inspect.all_files()["file_path"].to_pylist()}
    for snapshot in table.snapshots():
        used.add(path_of(snapshot.manifest_list))
        used |= {path_of(one.manifest_path) for one in snapshot.manifests(table.io)}
    home = path_of(table.location())
    for path in (*home.glob("data/**/*.parquet"), *home.glob("metadata/*.avro")):
        if path not in used and path.stat().st_mtime < before.timestamp():
            path.unlink()


def _naive(when: datetime) -> datetime:
    """Return a time as PyIceberg wants it: UTC, without saying so."""
    return when.astimezone(UTC).replace(tzinfo=None)


def main(arguments: Sequence[str]) -> None:
    """Commit once."""
    commit(Path(arguments[0]), float(arguments[1]), datetime.now(UTC))


if __name__ == "__main__":
    main(sys.argv[1:])
