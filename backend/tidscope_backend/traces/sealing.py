"""A full part of spans becomes Parquet, by a rename; what a crash left open is sealed likewise."""

import logging
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from tidscope_backend.store.folder import RunFolder, sync_folder
from tidscope_backend.store.lock import RunLock
from tidscope_backend.store.open_part import whole_frames
from tidscope_backend.traces.columns import SCHEMA, decode
from tidscope_backend.traces.folder import SpanFolder, span_folders

ROW_GROUP = 8192
"""Sorted by trace, so that a trace is found in one or two of them."""
_log = logging.getLogger(__name__)


def seal(folder: SpanFolder, number: int, batches: Sequence[pa.Table]) -> None:
    """Write a part as Parquet under a temporary name, rename it, and delete its batches.

    Raises:
        OSError: it cannot be written; its batches are still there.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from tidscope_backend.store.parquet_files import sync_file

    path = folder.sealed_part(number)
    new = path.with_suffix(".new")
    # Attributes cannot be sorted with the rest; rows are taken in the order of the others.
    table = pa.concat_tables(batches)
    order = pc.sort_indices(table, [("trace_id", "ascending"), ("start_ns", "ascending")])
    with new.open("wb") as file:
        pq.write_table(table.take(order), file, row_group_size=ROW_GROUP, compression="zstd")
    sync_file(new)
    new.replace(path)
    sync_folder(folder.path)
    folder.open_part(number).unlink(missing_ok=True)


def read_open(path: Path) -> list[pa.Table]:
    """Whole batches of an open part; one that was not written whole is left out.

    Raises:
        OSError: it cannot be read.
    """
    found = []
    for data in whole_frames(path.read_bytes()):
        try:
            found.append(decode(data))
        except ValueError as error:
            _log.warning("%s: %s", path.name, error)
    return found


def recover(runs: Path | None) -> None:
    """Seal what backends that have ended left open; those that live hold a lock."""
    for folder in span_folders(runs):
        try:
            lock = RunLock.acquire(RunFolder(folder.path))
        except OSError:
            continue
        if lock is None:
            continue
        try:
            _recover(folder)
        except OSError as error:
            _log.warning("%s: %s", folder.path.name, error)
        finally:
            lock.release()


def _recover(folder: SpanFolder) -> None:
    for number in folder.open_parts():
        batches = read_open(folder.open_part(number))
        seal(folder, number, batches or [SCHEMA.empty_table()])
    for rest in folder.path.glob("*.new"):
        rest.unlink()
