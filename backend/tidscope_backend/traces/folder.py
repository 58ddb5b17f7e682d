"""Folders of stored spans beside the runs: parts, sealing and retention."""

import logging
import os
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tidscope_backend.store.folder import RunFolder, RunLock, sync_folder
from tidscope_backend.store.frame_files import whole_frames
from tidscope_backend.traces.batches import SCHEMA, decode

FOLDER = ".traces"
"""Folder name in the runs directory."""
NAME = re.compile(r"s-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}\Z")
_SEALED = re.compile(r"([0-9]{6,9})\.parquet\Z")
_OPEN = re.compile(r"([0-9]{6,9})\.spans\Z")


@dataclass(frozen=True)
class SpanFolder:
    """The folder of one backend process, which is the only writer.

    A part is NUMBER.spans (batches as received) or NUMBER.parquet (sealed). If both exist,
    NUMBER.spans counts.
    """

    path: Path

    @classmethod
    def create(cls, runs: Path, unix_s: float) -> "SpanFolder":
        """Create a new folder. Raises OSError."""
        stamp = time.strftime("s-%Y%m%d-%H%M%S-", time.gmtime(unix_s))
        path = runs / FOLDER / (stamp + secrets.token_hex(3))
        path.mkdir(parents=True, mode=0o700)
        return cls(path)

    def open_part(self, number: int) -> Path:
        """Batches as received."""
        return self.path / f"{number:06d}.spans"

    def sealed_part(self, number: int) -> Path:
        """Spans of a full part, sorted by trace."""
        return self.path / f"{number:06d}.parquet"

    def open_parts(self) -> list[int]:
        """Return the numbers of the parts that are not sealed, ascending."""
        return self._numbers(_OPEN)

    def sealed_parts(self) -> list[int]:
        """Return the numbers of the parts that have only Parquet files, ascending."""
        return sorted(set(self._numbers(_SEALED)) - set(self.open_parts()))

    def _numbers(self, pattern: re.Pattern[str]) -> list[int]:
        try:
            names = os.listdir(self.path)
        except FileNotFoundError:
            return []  # Removed by retention.
        return sorted(int(found[1]) for found in map(pattern.match, names) if found)


def span_folders(runs: Path | None) -> list[SpanFolder]:
    """Return all folders of spans, the oldest first."""
    try:
        entries = [] if runs is None else list(os.scandir(runs / FOLDER))
    except OSError:
        return []
    found = [one for one in entries if NAME.match(one.name) and one.is_dir(follow_symlinks=False)]
    return sorted((SpanFolder(Path(one.path)) for one in found), key=lambda one: one.path.name)


@dataclass(frozen=True)
class SpanRetention:
    """Bounds of the stored spans.

    Attributes:
        max_age_s: maximum age of a sealed part; None for no limit.
        max_bytes: maximum total bytes, beyond which the oldest parts are deleted; None for no
            limit.
    """

    max_age_s: float | None
    max_bytes: int | None


@dataclass(frozen=True)
class _Part:
    path: Path
    sealed_s: float
    size: int


def expire(
    runs: Path | None, retention: SpanRetention, unix_s: float, own: SpanFolder | None
) -> int:
    """Delete parts beyond the bounds, and folders that become empty.

    Args:
        runs: the runs directory.
        retention: the bounds.
        unix_s: current time, Unix seconds.
        own: the folder in use, which is kept.

    Returns:
        Number of deleted spans.
    """
    import pyarrow.parquet as pq

    expired = 0
    parts = sorted(_parts(runs), key=lambda part: (part.sealed_s, part.path))
    left = sum(part.size for part in parts)
    for part in parts:
        old = retention.max_age_s is not None and unix_s - part.sealed_s > retention.max_age_s
        large = retention.max_bytes is not None and left > retention.max_bytes
        if old or large:
            left -= part.size
            try:
                expired += pq.read_metadata(part.path).num_rows
                part.path.unlink()
            except OSError:
                continue  # Already deleted by another backend.
    for folder in span_folders(runs):
        if own is None or folder.path != own.path:
            try:
                folder.path.rmdir()
            except OSError:
                continue  # The folder is not empty.
    return expired


def _parts(runs: Path | None) -> list[_Part]:
    found = []
    for folder in span_folders(runs):
        for number in folder.sealed_parts():
            path = folder.sealed_part(number)
            try:
                facts = path.stat()
            except OSError:
                continue
            found.append(_Part(path, facts.st_mtime, facts.st_size))
    return found


ROW_GROUP = 8192
"""Rows are sorted by trace, so one or two groups contain a trace."""
_log = logging.getLogger(__name__)


def seal(folder: SpanFolder, number: int, batches: Sequence[pa.Table]) -> None:
    """Write a part as Parquet under a temporary name, rename the file, and delete the batches.

    Raises:
        OSError: the part cannot be written; its batches are kept.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from tidscope_backend.store.frame_files import sync_file

    path = folder.sealed_part(number)
    new = path.with_suffix(".new")
    # Attributes cannot be sorted with the other columns, so rows are taken in sorted order.
    table = pa.concat_tables(batches)
    order = pc.sort_indices(table, [("trace_id", "ascending"), ("start_ns", "ascending")])
    with new.open("wb") as file:
        pq.write_table(table.take(order), file, row_group_size=ROW_GROUP, compression="zstd")
    sync_file(new)
    new.replace(path)
    sync_folder(folder.path)
    folder.open_part(number).unlink(missing_ok=True)


def read_open(path: Path) -> list[pa.Table]:
    """Read the complete batches of an open part; a truncated batch is omitted.

    Raises:
        OSError: the part cannot be read.
    """
    found = []
    for data in whole_frames(path.read_bytes()):
        try:
            found.append(decode(data))
        except ValueError as error:
            _log.warning("%s: %s", path.name, error)
    return found


def recover(runs: Path | None) -> None:
    """Seal open parts of ended backends; running backends hold a lock."""
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
