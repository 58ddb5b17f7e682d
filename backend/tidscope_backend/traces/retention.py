"""Which parts of spans are deleted: those too old, and the oldest while all are too large."""

from dataclasses import dataclass
from pathlib import Path

from tidscope_backend.traces.folder import SpanFolder, span_folders


@dataclass(frozen=True)
class SpanRetention:
    """Bounds of the spans that are kept.

    Attributes:
        max_age_s: parts that were sealed longer ago are deleted; None: none is for its age.
        max_bytes: the oldest parts are deleted until all take no more; None: none is.
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
    """Delete parts, and folders that are empty then.

    Args:
        runs: the runs directory.
        retention: the bounds.
        unix_s: now.
        own: the folder that is being written to; it stays.

    Returns:
        How many spans they had.
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
                continue  # Another backend was faster.
    for folder in span_folders(runs):
        if own is None or folder.path != own.path:
            try:
                folder.path.rmdir()
            except OSError:
                continue  # It holds something.
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
