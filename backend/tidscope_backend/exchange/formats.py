"""The formats that a run can be exported in."""

from collections.abc import Callable, Iterator
from pathlib import Path

from tidscope_backend.exchange.chrome_trace import as_trace
from tidscope_backend.exchange.joined import as_csv, as_parquet
from tidscope_backend.exchange.packing import pack_run
from tidscope_backend.exchange.pool_readings import as_pools_csv, as_pools_parquet

MAKERS: dict[str, Callable[[Path, bool], Iterator[bytes]]] = {
    "folder": pack_run,
    "parquet": as_parquet,
    "csv": as_csv,
    "trace": as_trace,
    "pools-parquet": as_pools_parquet,
    "pools-csv": as_pools_csv,
}
"""Each makes the bytes of a file, piece by piece, from the folder of a run.

The second argument hides arguments and output of programs, as from viewers.
"""
