"""Spans stored by this backend, and spans already stored beside the runs."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from tidscope_traces.spans.model import Span

from tidscope_backend.store.disk import unwritable
from tidscope_backend.store.folder import RunFolder, RunLock
from tidscope_backend.store.frame_files import PartFile
from tidscope_backend.traces.batches import encode, table_of
from tidscope_backend.traces.folder import (
    SpanFolder,
    SpanRetention,
    expire,
    read_open,
    recover,
    seal,
    span_folders,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PartBounds:
    """Limits at which a part of spans is full.

    Attributes:
        spans: number of spans.
        bytes: bytes of the part's file.
        seconds: time since the part's first span.
    """

    spans: int = 65_536
    bytes: int = 32 * 1024 * 1024
    seconds: float = 3600.0


@dataclass
class SpanCounts:
    """Spans since the backend started.

    Attributes:
        stored: written spans.
        dropped: spans refused because queues were full, or because the disk could not be written.
        rejected: malformed spans.
        expired: spans deleted by retention.
    """

    stored: int = 0
    dropped: int = 0
    rejected: int = 0
    expired: int = 0


@dataclass(frozen=True)
class StoredSpans:
    """Snapshot of all spans: Parquet files, and tables of unsealed parts."""

    files: Sequence[Path]
    tables: Sequence[pa.Table]


@dataclass
class _Open:
    """The part in progress."""

    number: int
    file: PartFile
    since_s: float
    batches: list[pa.Table] = field(default_factory=list)
    spans: int = 0


class SpanStore:
    """Stores spans. All methods block, and may be called from any thread.

    A batch is written, though not synced, when `add` returns: a killed backend loses no
    acknowledged batch.

    Args:
        make: creates the runs directory if needed; raises ProblemError.
        runs: the runs directory, or None if runs are not stored.
        retention: bounds beyond which parts are deleted.
        clock: Unix seconds.
        bounds: bounds of a part.
    """

    def __init__(
        self,
        make: Callable[[], Path],
        runs: Path | None,
        retention: SpanRetention,
        clock: Callable[[], float],
        bounds: PartBounds | None = None,
    ) -> None:
        self._make = make
        self._runs = runs
        self._retention = retention
        self._clock = clock
        self._bounds = bounds or PartBounds()
        self._lock = threading.Lock()
        self._folder: SpanFolder | None = None
        self._held: RunLock | None = None
        self._open: _Open | None = None
        self._number = 0
        self.counts = SpanCounts()

    def start(self) -> None:
        """Seal the open parts of earlier backends."""
        recover(self._runs)

    def add(self, spans: Sequence[Span]) -> None:
        """Store spans.

        Raises:
            ProblemError: the spans cannot be written; none is stored.
        """
        self.add_table(table_of(spans))

    def add_table(self, table: pa.Table) -> None:
        """Store spans that are rows of `SCHEMA`; see `add`."""
        if not len(table):
            return
        data = encode(table)
        with self._lock:
            try:
                part = self._open or self._begin()
                part.file.append(data)
            except OSError as error:
                self.counts.dropped += len(table)
                self._leave_lost_folder()
                raise unwritable(self._runs or Path(), error) from None
            part.batches.append(table)
            part.spans += len(table)
            self.counts.stored += len(table)
            if part.spans >= self._bounds.spans or part.file.bytes >= self._bounds.bytes:
                self._seal_quietly()

    def drop(self, spans: int) -> None:
        """Count spans refused by the receivers."""
        with self._lock:
            self.counts.dropped += spans

    def reject(self, spans: int) -> None:
        """Count malformed spans."""
        with self._lock:
            self.counts.rejected += spans

    def read(self) -> StoredSpans:
        """Return all stored spans, including those of other backends in the same directory."""
        with self._lock:
            tables: list[pa.Table] = []
            current = None
            if self._open is not None and self._folder is not None:
                tables += self._open.batches
                current = self._folder.open_part(self._open.number)
            files: list[Path] = []
            others: list[Path] = []
            for folder in span_folders(self._runs):
                files += map(folder.sealed_part, folder.sealed_parts())
                others += map(folder.open_part, folder.open_parts())
        for path in others:
            if path == current:
                continue
            try:
                tables += read_open(path)
            except FileNotFoundError:
                continue  # Sealed meanwhile: the next read includes it.
        return StoredSpans(files, tables)

    def bytes(self) -> int:
        """Return bytes of all files of spans."""
        return sum(
            _size(path)
            for folder in span_folders(self._runs)
            for path in (
                *map(folder.sealed_part, folder.sealed_parts()),
                *map(folder.open_part, folder.open_parts()),
            )
        )

    def clean_up(self) -> None:
        """Seal an old open part, and delete parts by retention."""
        with self._lock:
            part = self._open
            if part is not None and self._clock() - part.since_s > self._bounds.seconds:
                self._seal_quietly()
            own = self._folder
        expired = expire(self._runs, self._retention, self._clock(), own)
        with self._lock:
            self.counts.expired += expired

    def close(self) -> None:
        """Seal the open part and release the folder."""
        with self._lock:
            self._seal_quietly()
            if self._held is not None:
                self._held.release()
                self._held = self._folder = None

    def _begin(self) -> _Open:
        if self._folder is None:
            folder = SpanFolder.create(self._make(), self._clock())
            self._held = RunLock.acquire(RunFolder(folder.path))
            self._folder = folder
        self._number += 1
        file = PartFile(self._folder.open_part(self._number))
        self._open = _Open(self._number, file, self._clock())
        return self._open

    def _leave_lost_folder(self) -> None:
        """Switch to a new folder for later spans if the current one was removed."""
        if self._open is None and self._folder is not None and not self._folder.path.exists():
            self._folder = None

    def _seal_quietly(self) -> None:
        """Seal the open part; on failure, its batches stay and are sealed at the next start."""
        part, self._open = self._open, None
        if part is None or self._folder is None:
            return
        part.file.close()
        try:
            seal(self._folder, part.number, part.batches)
        except OSError as error:
            _log.warning("part %d of spans is not sealed: %s", part.number, error)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
