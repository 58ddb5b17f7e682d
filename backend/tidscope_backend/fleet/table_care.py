"""Care of the table of totals by role: small files are merged, and what is too old is deleted."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan, _dataframe_to_data_files
from pyiceberg.table import FileScanTask, Table

from tidscope_backend.fleet.part_store import PartStore
from tidscope_backend.fleet.role_table import WITHIN

SETTLED = timedelta(minutes=15)
"""Time after an hour's end in which its rows still come; then its files are merged."""
MAX_MERGED_ROWS = 250_000
"""Maximum rows of files that are merged into one, in memory."""
ORDER = [(name, "ascending") for name in ("role", "program", "host", "target", "time")]
"""Order of rows in a file: questions are about one role of many hosts."""
SNAPSHOTS = timedelta(hours=1)
"""Time for which snapshots are kept, for readers that began earlier."""


def care(table: Table, store: PartStore, now: datetime, keep: timedelta) -> None:
    """Delete what is too old, merge files, and remove those that no snapshot has any more.

    Args:
        table: the table.
        store: its store.
        now: the time.
        keep: age after which rows are deleted.

    Raises:
        OSError: files cannot be read or written.
    """
    _delete_before(table, now - keep)
    _merge(table, now - SETTLED)
    table.maintenance.expire_snapshots().older_than(_naive(now - SNAPSHOTS)).commit()
    _remove_unused(table, store, now - SNAPSHOTS)


def _delete_before(table: Table, until: datetime) -> None:
    """Delete whole hours before a time."""
    hour = until.replace(minute=0, second=0, microsecond=0)
    old = f"time < '{hour.isoformat()}'"
    if any(True for _ in table.scan(row_filter=old).plan_files()):
        table.delete(old)


def _merge(table: Table, until: datetime) -> None:
    """Merge the files of each hour that ended before a time, sorted by role."""
    hours = defaultdict[int, defaultdict[int, list[FileScanTask]]](lambda: defaultdict(list))
    for task in table.scan().plan_files():
        hour, bucket = task.file.partition[0], task.file.partition[1]
        hours[hour][bucket].append(task)
    end = int(until.timestamp()) // 3600
    for hour in sorted(one for one in hours if one < end):
        groups = [group for tasks in hours[hour].values() for group in _groups(tasks)]
        if groups:
            _replace(table, groups)


def _groups(tasks: list[FileScanTask]) -> Iterator[list[FileScanTask]]:
    """Yield groups of files to merge, smallest files first, each up to a number of rows."""
    group, rows = list[FileScanTask](), 0
    for task in sorted(tasks, key=lambda one: one.file.record_count):
        if rows + task.file.record_count > MAX_MERGED_ROWS:
            if len(group) > 1:
                yield group
            group, rows = [], 0
        group.append(task)
        rows += task.file.record_count
    if len(group) > 1:
        yield group


def _replace(table: Table, groups: list[list[FileScanTask]]) -> None:
    """Replace each group of files of a partition by one file, all in one commit."""
    with table.transaction() as change, change.update_snapshot().overwrite() as files:
        metadata = change.table_metadata
        for group in groups:
            scan = ArrowScan(metadata, table.io, metadata.schema(), AlwaysTrue())
            rows = scan.to_table(group).sort_by(ORDER)
            for made in _dataframe_to_data_files(metadata, rows, table.io):
                files.append_data_file(made)
            for task in group:
                files.delete_data_file(task.file)


def _remove_unused(table: Table, store: PartStore, before: datetime) -> None:
    """Remove data and manifests that no snapshot has, and that are older than a time."""
    used = set(table.inspect.all_files()["file_path"].to_pylist())
    for snapshot in table.snapshots():
        used.add(snapshot.manifest_list)
        used |= {one.manifest_path for one in snapshot.manifests(table.io)}
    known = {uri.removeprefix(table.location() + "/") for uri in used}
    unused = [
        path
        for whole, changed in store.objects(WITHIN)
        if (path := whole.removeprefix(WITHIN + "/")) not in known
        and path.endswith((".parquet", ".avro"))
        and changed < before
    ]
    store.remove(unused, WITHIN)


def _naive(when: datetime) -> datetime:
    """Return a time as PyIceberg wants it: UTC, without saying so."""
    return when.astimezone(UTC).replace(tzinfo=None)
