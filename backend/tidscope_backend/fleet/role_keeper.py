"""Keeps the totals by role of all hosts: rows every ten seconds, in parts for the committer."""

import asyncio
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidscope_backend.background_programs import ProgramFailedError, run_in_background
from tidscope_backend.fleet.role_rows import SCHEMA, Reading, rows_of
from tidscope_backend.fleet.role_table import STAGED
from tidscope_backend.pacing import next_multiple
from tidscope_backend.processes import run_module
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import replace_file

if TYPE_CHECKING:
    import pyarrow as pa

EVERY_S = 10.0
"""Interval between two rows of a role, in seconds."""
PART_ROWS, PART_S = 200_000, 60.0
"""Number of rows, or seconds, after which a part is written."""
MAX_ROWS = 1_000_000
"""Maximum rows in memory; the oldest of more are lost, and counted."""
COMMIT_S = 600.0
"""Interval between two commits, in seconds."""
COMMIT_TIMEOUT_S = 600.0
COMMITTER = "tidscope_backend.fleet.committer"

_log = logging.getLogger(__name__)


class RoleKeeper:
    """Writes parts and starts the committer. Belongs to the event loop.

    Args:
        folder: folder of the table and its parts.
        read: returns the attached targets.
        disk: threads that write.
        keep_seconds: age after which rows are deleted, in seconds.

    Attributes:
        outcomes: number of rows taken, and of those lost as they could not be written.
    """

    def __init__(
        self,
        folder: Path,
        read: Callable[[], Iterable[Reading]],
        disk: Disk,
        keep_seconds: float,
    ) -> None:
        self.outcomes: Counter[str] = Counter(taken=0, lost=0)
        self._folder, self._read, self._disk = folder, read, disk
        self._keep_seconds = keep_seconds
        self._waiting: list[dict[str, Any]] = []
        self._taken_us: dict[str, int] = {}

    async def run(self) -> None:
        """Take rows, write parts and commit them, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._take_often())
            group.create_task(self._commit_often())

    async def close(self) -> None:
        """Write the newest rows; the next start commits them."""
        self.take()
        await self.seal()

    def take(self) -> None:
        """Add a row of each role of the targets that have a newer frame."""
        readings = list(self._read())
        rows = rows_of(readings, self._taken_us)
        self._taken_us = {one.target.id: one.meter.unix_us for one in readings}
        self.outcomes["taken"] += len(rows)
        self._waiting += rows
        self._bound()

    async def seal(self) -> None:
        """Write the waiting rows as a part; after a failure they wait for the next attempt."""
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        try:
            await self._disk.write(write_rows, self._folder / STAGED, rows)
        except OSError as error:
            _log.warning("totals by role are not written: %s", error.strerror or error)
            self._waiting[:0] = rows
            self._bound()

    def _bound(self) -> None:
        excess = len(self._waiting) - MAX_ROWS
        if excess > 0:
            del self._waiting[:excess]
            self.outcomes["lost"] += excess

    async def _take_often(self) -> None:
        sealed = time.monotonic()
        while True:
            await next_multiple(EVERY_S)
            self.take()
            if len(self._waiting) >= PART_ROWS or time.monotonic() - sealed >= PART_S:
                sealed = time.monotonic()
                await self.seal()

    async def _commit_often(self) -> None:
        while True:
            try:
                await commit_in_process(self._folder, self._keep_seconds)
            except (OSError, ProgramFailedError) as error:
                _log.warning("totals by role wait for their table: %s", error)
            await next_multiple(COMMIT_S)


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as a new part. Raises OSError."""
    import pyarrow as pa

    return write_part(folder, pa.Table.from_pylist(rows, SCHEMA))


def write_part(folder: Path, table: "pa.Table") -> Path:
    """Write a table of rows as a new part. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{time.time_ns() // 1_000_000:013d}-{secrets.token_hex(4)}.parquet"
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    replace_file(path, sink.getvalue().to_pybytes())
    return path


async def commit_in_process(folder: Path, keep_seconds: float) -> None:
    """Add all parts to the table, in a process of its own: it needs some 200 MB for seconds.

    Raises:
        ProgramFailedError: it failed; the parts stay.
        OSError: the process cannot be started.
    """
    command = run_module(COMMITTER, str(folder), f"{keep_seconds!r}")
    await run_in_background(command, COMMIT_TIMEOUT_S)
