"""Folder of the totals by role, and their Iceberg table.

ROLES/staged/*.parquet     parts that wait for the committer or, with a store, to be sent there
ROLES/catalog.db           SQLite catalog of the table `tidscope.roles`

The table is in the store (part_store.py), which is this folder unless another one was chosen.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidscope_backend.fleet.part_store import STAGED, endpoint, is_local, path_of, url_of
from tidscope_backend.fleet.role_rows import SCHEMA

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

FOLDER = ".roles"
"""Folder in the runs directory."""
CATALOG = "catalog.db"
CATALOG_NAME = "tidscope"
"""Name of the catalog in PyIceberg's configuration, which may name one that backends share."""
NAME = "tidscope.roles"
WITHIN = "tidscope/roles"
"""Path of the table in its store."""
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
    # PyIceberg would add the rows of a refused commit again, after those of another committer.
    "commit.retry.num-retries": "0",
}


class NoTableError(Exception):
    """The table cannot be read; the text says what to do."""


class NotMadeError(NoTableError):
    """The table is not made yet."""


def staged_parts(folder: Path) -> list[Path]:
    """Return the parts on this machine, oldest first."""
    return sorted((folder / STAGED).glob("*.parquet"))


def committed(table: "Table") -> set[str]:
    """Return the names of parts that kept snapshots added; older parts are not staged any more."""
    summaries = [one.summary for one in table.snapshots() if one.summary is not None]
    return {name for one in summaries for name in (one.get(PARTS) or "").split()}


def store_of(table: "Table") -> str:
    """Return the address of the table's store."""
    return table.location().removesuffix("/" + WITHIN)


def data_files(table: "Table", within: tuple[datetime, datetime] | None = None) -> list[str]:
    """Return the files of the table's rows, or those that may have rows of some time.

    Each is a path, or an address in a store that is no folder.
    """
    scan = table.scan()
    if within is not None:
        since, until = (one.isoformat() for one in within)
        scan = table.scan(row_filter=f"time >= '{since}' and time < '{until}'")
    found = (one.file.file_path for one in scan.plan_files())
    return [str(path_of(uri)) if is_local(uri) else uri for uri in found]


def open_table(folder: Path, *, make: bool = False, store: str | None = None) -> "Table":
    """Open the table.

    Args:
        folder: folder of the catalog.
        make: make it if there is none, and add columns that it lacks.
        store: address of the store where it is made; None for the folder.

    Raises:
        NoTableError: PyIceberg is not installed, or the table is in another store.
        NotMadeError: there is no table.
    """
    try:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.exceptions import NoSuchTableError
        from pyiceberg.utils.config import Config
    except ImportError:
        raise NoTableError("PyIceberg is missing: pip install 'tidscope[fleet]'") from None
    missing = NotMadeError(f"{folder} has no table; tidscope up --keep-roles-days N makes one")
    store = url_of(folder) if store is None else store
    shared: dict[str, Any] | None = Config().get_catalog_config(CATALOG_NAME)
    if not make and shared is None and not (folder / CATALOG).exists():
        raise missing
    own = {"type": "sql", "uri": f"sqlite:///{folder / CATALOG}", "warehouse": store}
    catalog = load_catalog(CATALOG_NAME, **{**_access(), **(own if shared is None else shared)})
    try:
        table = _made(catalog, store) if make else catalog.load_table(NAME)
    except NoSuchTableError:
        raise missing from None
    if make and store_of(table) != store:
        raise NoTableError(f"the table is in {store_of(table)} already, not in {store}")
    return table


def _access() -> dict[str, str]:
    """Return how PyIceberg reaches an S3 service, from the environment's usual variables."""
    found = {
        "s3.endpoint": endpoint(),
        "s3.region": os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
        "s3.connect-timeout": "5",
        "s3.request-timeout": "20",
    }
    return {name: value for name, value in found.items() if value}


def _made(catalog: "Catalog", store: str) -> "Table":
    from pyiceberg.transforms import BucketTransform, HourTransform

    catalog.create_namespace_if_not_exists(NAME.partition(".")[0])
    place = f"{store}/{WITHIN}"
    table = catalog.create_table_if_not_exists(NAME, SCHEMA, place, properties=PROPERTIES)
    if table.spec().is_unpartitioned():
        with table.update_spec() as spec:
            spec.add_field("time", HourTransform(), "hour")
            spec.add_field("host", BucketTransform(BUCKETS), "host_bucket")
    if not PROPERTIES.items() <= table.properties.items():
        with table.transaction() as change:
            change.set_properties(PROPERTIES)
    if set(SCHEMA.names) - set(table.schema().column_names):
        with table.update_schema() as schema:
            schema.union_by_name(SCHEMA)
    return table
