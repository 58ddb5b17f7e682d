"""Sends parts from this machine to a store, oldest first, until the store has taken each."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tidscope_backend.fleet.part_store import PartStore

MAX_BYTES = 1024**3
"""Maximum size of the parts that wait here; the oldest of more are lost, and counted."""

_log = logging.getLogger(__name__)


class PartShipper:
    """Sends parts. A part has its name from the start, so sending it again changes nothing.

    Args:
        staged: folder of the parts.
        url: address of the store.
        lose: called with the number of rows of a part that is given up.

    Attributes:
        waiting: number of parts that wait here.
    """

    def __init__(self, staged: Path, url: str, lose: Callable[[int], None]) -> None:
        self.waiting = 0
        self._staged, self._url, self._lose = staged, url, lose
        self._failing = False

    def ship(self) -> None:
        """Send all parts; after a failure they wait for the next attempt. Runs in a thread."""
        waiting = sorted(self._staged.glob("*.parquet"))
        try:
            store = PartStore(self._url) if waiting else None
            while store is not None and waiting:
                self.waiting = len(waiting)
                part = waiting[0]
                store.put(part.name, part.read_bytes())
                part.unlink(missing_ok=True)
                waiting.pop(0)
        except OSError as error:
            if not self._failing:
                _log.warning("totals by role wait here, %s is not reached: %s", self._url, error)
            self._failing = True
            self._bound(waiting)
        else:
            if self._failing:
                _log.warning("totals by role reach %s again", self._url)
            self._failing = False
        self.waiting = len(waiting)

    def _bound(self, waiting: list[Path]) -> None:
        sizes = {part: part.stat().st_size for part in waiting}
        total = sum(sizes.values())
        while total > MAX_BYTES:
            part = waiting.pop(0)
            rows = _rows(part)
            part.unlink(missing_ok=True)
            total -= sizes[part]
            self._lose(rows)
            since = datetime.fromtimestamp(int(part.name[:13]) / 1000, UTC)
            _log.warning("totals by role written at %s UTC are lost: %d rows", since, rows)


def _rows(part: Path) -> int:
    """Return the number of rows, or 0 if the file is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(part).num_rows)
    except (OSError, pa.ArrowException):
        return 0
