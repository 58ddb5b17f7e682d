"""Questions in SQL about the totals by role, answered by DuckDB."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tidscope_backend.fleet.part_store import PartStore, access, is_local
from tidscope_backend.fleet.role_table import (
    NoTableError,
    NotMadeError,
    committed,
    data_files,
    open_table,
    staged_parts,
    store_of,
)

if TYPE_CHECKING:
    import duckdb


def connect(
    folder: Path, within: tuple[datetime, datetime] | None = None
) -> "duckdb.DuckDBPyConnection":
    """Return a database in memory with the view `roles`: the table, and parts that wait for it.

    Args:
        folder: folder of the catalog.
        within: time of interest, which spares files without rows of that time; None for all.

    Raises:
        NoTableError: PyIceberg is missing, or there is no table.
        OSError: the store of the table is not reached.
    """
    import duckdb

    # Parts first: one that is committed meanwhile is then known as such.
    here = {one.name: str(one) for one in staged_parts(folder)}
    known, files = set[str](), list[str]()
    store = None
    try:
        table = open_table(folder)
    except NotMadeError:
        if not here:
            raise
    else:
        store = PartStore(store_of(table))
        here |= {name: store.address(name) for name in store.names()}
        table = table.refresh()
        known = committed(table)
        files += data_files(table, within)
    waiting = (path for name, path in here.items() if name not in known)
    files += [one for one in waiting if "://" in one or Path(one).exists()]
    if not files:
        raise NoTableError(f"{folder} has no rows yet; the first ones come after a minute")
    database = duckdb.connect()
    database.execute("set timezone = 'UTC'")
    if store is not None and not is_local(store.url):
        _reach(database, store.url)
    found = database.read_parquet(files, union_by_name=True, hive_partitioning=False)
    found.create_view("roles")
    return database


def _reach(database: "duckdb.DuckDBPyConnection", url: str) -> None:
    """Let a database read a store of objects without an extension, which it would download."""
    from obstore.fsspec import FsspecStore

    scheme: Any = urlsplit(url).scheme
    database.register_filesystem(FsspecStore(scheme, **access(url)))
