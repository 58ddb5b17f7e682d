"""Questions in SQL about the totals by role, answered by DuckDB."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tidscope_backend.fleet.role_table import (
    NoTableError,
    NotMadeError,
    committed,
    data_files,
    open_table,
    staged_parts,
)

if TYPE_CHECKING:
    import duckdb


def connect(
    folder: Path, within: tuple[datetime, datetime] | None = None
) -> "duckdb.DuckDBPyConnection":
    """Return a database in memory with the view `roles`: the table, and parts that wait for it.

    Args:
        folder: folder of the table.
        within: time of interest, which spares files without rows of that time; None for all.

    Raises:
        NoTableError: PyIceberg is missing, or there is no table.
    """
    import duckdb

    # Parts first: one that is committed meanwhile is then known as such.
    staged = staged_parts(folder)
    known, files = set[str](), list[str]()
    try:
        table = open_table(folder)
    except NotMadeError:
        if not staged:
            raise
    else:
        known = committed(table)
        files += map(str, data_files(table, within))
    files += [str(one) for one in staged if one.name not in known and one.exists()]
    if not files:
        raise NoTableError(f"{folder} has no rows yet; the first ones come after a minute")
    database = duckdb.connect()
    database.execute("set timezone = 'UTC'")
    found = database.read_parquet(files, union_by_name=True, hive_partitioning=False)
    found.create_view("roles")
    return database
