"""Folder of the totals by role, and its Iceberg table.

ROLES/staged/*.parquet     parts that wait for the committer
ROLES/catalog.db           SQLite catalog of the table `tidscope.roles`
ROLES/tidscope/roles/      data files by hour and bucket of hosts, and Iceberg's metadata
"""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from tidscope_backend.fleet.role_rows import SCHEMA

if TYPE_CHECKING:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.table import Table

FOLDER = ".roles"
"""Folder in the runs directory."""
STAGED = "staged"
CATALOG = "catalog.db"
NAME = "tidscope.roles"
PARTS = "tidscope.parts"
"""Property of snapshots: names of the parts that they added, separated by blanks."""
BUCKETS = 16
"""Number of partitions of hosts within an hour."""
PROPERTIES = {
    "write.parquet.compression-codec": "zstd",
    # Rows are sorted by role, so readers skip groups of other roles.
    "write.parquet.row-group-limit": "16384",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "10",
}


class NoTableError(Exception):
    """The table cannot be read; the text says what to do."""


class NotMadeError(NoTableError):
    """The table is not made yet."""


def staged_parts(folder: Path) -> list[Path]:
    """Return parts, oldest first."""
    return sorted((folder / STAGED).glob("*.parquet"))


def committed(table: "Table") -> set[str]:
    """Return the names of parts that kept snapshots added; older parts are not staged any more."""
    summaries = [one.summary for one in table.snapshots() if one.summary is not None]
    return {name for one in summaries for name in (one.get(PARTS) or "").split()}


def path_of(uri: str) -> Path:
    """Return the path of a local file's address."""
    return Path(unquote(urlsplit(uri).path))


def data_files(table: "Table", within: tuple[datetime, datetime] | None = None) -> list[Path]:
    """Return the files of the table's rows, or those that may have rows of some time."""
    scan = table.scan()
    if within is not None:
        since, until = (one.isoformat() for one in within)
        scan = table.scan(row_filter=f"time >= '{since}' and time < '{until}'")
    return [path_of(one.file.file_path) for one in scan.plan_files()]


def open_table(folder: Path, *, make: bool = False) -> "Table":
    """Open the table.

    Args:
        folder: folder of the table.
        make: make it if there is none, and add columns that it lacks.

    Raises:
        NoTableError: PyIceberg is not installed.
        NotMadeError: there is no table.
    """
    try:
        from pyiceberg.catalog.sql import SqlCatalog
        from pyiceberg.exceptions import NoSuchTableError
    except ImportError:
        raise NoTableError("PyIceberg is missing: pip install 'tidscope[fleet]'") from None
    missing = NotMadeError(f"{folder} has no table; tidscope up --keep-roles-days N makes one")
    if not make and not (folder / CATALOG).exists():
        raise missing
    catalog = SqlCatalog(
        "tidscope", uri=f"sqlite:///{folder / CATALOG}", warehouse=folder.absolute().as_uri()
    )
    if make:
        return _made(catalog)
    try:
        return catalog.load_table(NAME)
    except NoSuchTableError:
        raise missing from None


def _made(catalog: "SqlCatalog") -> "Table":
    from pyiceberg.transforms import BucketTransform, HourTransform

    catalog.create_namespace_if_not_exists(NAME.partition(".")[0])
    table = catalog.create_table_if_not_exists(NAME, SCHEMA, properties=PROPERTIES)
    if table.spec().is_unpartitioned():
        with table.update_spec() as spec:
            spec.add_field("time", HourTransform(), "hour")
            spec.add_field("host", BucketTransform(BUCKETS), "host_bucket")
    if set(SCHEMA.names) - set(table.schema().column_names):
        with table.update_schema() as schema:
            schema.union_by_name(SCHEMA)
    return table
