"""Keeps the totals by role of all hosts: rows every ten seconds, in parts for the committer."""

import asyncio
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidscope_backend.background_programs import ProgramFailedError, run_in_background
from tidscope_backend.fleet.part_shipper import PartShipper
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.role_rows import SCHEMA, Reading, rows_of
from tidscope_backend.pacing import next_multiple
from tidscope_backend.processes import run_module
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import replace_file

if TYPE_CHECKING:
    import pyarrow as pa

EVERY_S = 10.0
"""Interval between two rows of a role, in seconds."""
PART_ROWS, PART_S = 100_000, 60.0
"""Maximum rows of a part, and seconds between two parts."""
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
        folder: folder of the catalog and of parts.
        read: returns the attached targets.
        disk: threads that write.
        keep_seconds: age after which rows are deleted, in seconds.
        store: address of the store of parts and table; None for the folder.

    Attributes:
        outcomes: number of rows taken, of those lost as they could not be written, and of those
            that a part cannot have.
        shipper: sends parts to the store; None if the store is the folder.
    """

    def __init__(
        self,
        folder: Path,
        read: Callable[[], Iterable[Reading]],
        disk: Disk,
        keep_seconds: float,
        store: str | None = None,
    ) -> None:
        self.outcomes: Counter[str] = Counter(taken=0, lost=0, refused=0)
        self.shipper = None
        if store is not None:
            self.shipper = PartShipper(folder / STAGED, store, self._lose)
        self._folder, self._read, self._disk = folder, read, disk
        self._keep_seconds, self._store = keep_seconds, store
        self._waiting: list[dict[str, Any]] = []
        self._sealing: tuple[str, list[dict[str, Any]]] | None = None
        self._full = asyncio.Event()
        self._taken_us: dict[str, int] = {}

    @property
    def parts_waiting(self) -> int:
        """Number of parts that wait on this machine for the store."""
        return self.shipper.waiting if self.shipper else 0

    async def run(self) -> None:
        """Take rows, write parts, send and commit them, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._take_often())
            group.create_task(self._seal_often())
            group.create_task(self._commit_often())

    async def close(self) -> None:
        """Write the newest rows; the next start sends and commits them."""
        self.take()
        while (self._sealing or self._waiting) and await self.seal():
            pass

    def take(self) -> None:
        """Add a row of each role of the targets that have a newer frame."""
        readings = list(self._read())
        rows = rows_of(readings, self._taken_us)
        self._taken_us = {one.target.id: one.meter.unix_us for one in readings}
        self.outcomes["taken"] += len(rows)
        self._waiting += rows
        self._bound()

    async def seal(self) -> bool:
        """Write waiting rows as a part; after a failure they wait for the next attempt.

        The attempt has the same rows and name: the part may be in place though its folder could
        not be flushed, and then the committer may have taken it.

        Returns:
            True if all is well.
        """
        if self._sealing is None:
            rows, self._waiting = self._waiting[:PART_ROWS], self._waiting[PART_ROWS:]
            if not rows:
                return True
            self._sealing = (new_part_name(), rows)
        name, rows = self._sealing
        try:
            await self._disk.write(write_rows, self._folder / STAGED, rows, name)
        except RowsRefusedError as error:
            self._sealing = (name, error.fitting) if error.fitting else None
            self.outcomes["refused"] += len(rows) - len(error.fitting)
            _log.warning("totals by role do not fit into a part, and are not kept: %s", error)
            return await self.seal() if error.fitting else True
        except OSError as error:
            _log.warning("totals by role are not written: %s", error.strerror or error)
            self._bound()
            return False
        self._sealing = None
        return True

    def _bound(self) -> None:
        """Give up the oldest rows beyond the maximum."""
        if self._sealing is not None and len(self._waiting) + len(self._sealing[1]) > MAX_ROWS:
            rows, self._sealing = self._sealing[1], None
            self._lose(len(rows), rows)
        excess = len(self._waiting) - MAX_ROWS
        if excess > 0:
            rows = self._waiting[:excess]
            del self._waiting[:excess]
            self._lose(excess, rows)

    def _lose(self, count: int, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self.outcomes["lost"] += count
        if rows:
            first, last = (
                datetime.fromtimestamp(row["time"] / 1e6, UTC) for row in (rows[0], rows[-1])
            )
            _log.warning("%d totals by role, from %s to %s, are lost", count, first, last)

    async def _take_often(self) -> None:
        while True:
            await next_multiple(EVERY_S)
            self.take()
            if len(self._waiting) >= PART_ROWS:
                self._full.set()

    async def _seal_often(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), PART_S)
            self._full.clear()
            while await self.seal() and len(self._waiting) >= PART_ROWS:
                pass
            if self.shipper:
                await self._disk.write(self.shipper.ship)

    async def _commit_often(self) -> None:
        while True:
            try:
                await commit_in_process(self._folder, self._keep_seconds, self._store)
            except (OSError, ProgramFailedError) as error:
                _log.warning("totals by role wait for their table: %s", error)
            await next_multiple(COMMIT_S)


class RowsRefusedError(Exception):
    """A part cannot have some rows, such as one with a number beyond 64 bits.

    Attributes:
        fitting: the other rows.
    """

    def __init__(self, reason: str, fitting: list[dict[str, Any]]) -> None:
        super().__init__(reason)
        self.fitting = fitting


def write_rows(folder: Path, rows: list[dict[str, Any]], name: str | None = None) -> Path:
    """Write rows as a part, a new one unless it has a name. Raises OSError, RowsRefusedError."""
    import pyarrow as pa

    def table(chosen: list[dict[str, Any]]) -> pa.Table:
        made = pa.Table.from_pylist(chosen, SCHEMA)
        if any(made[one.name].null_count for one in SCHEMA if not one.nullable):
            raise ValueError("a column that every row has is absent")
        return made

    def fits(row: dict[str, Any]) -> bool:
        try:
            table([row])
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return False
        return True

    try:
        return write_part(folder, table(rows), name)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise RowsRefusedError(str(error), [row for row in rows if fits(row)]) from error


def write_part(folder: Path, table: "pa.Table", name: str | None = None) -> Path:
    """Write a table of rows as a part, a new one unless it has a name. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / (name or new_part_name())
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    replace_file(path, sink.getvalue().to_pybytes())
    return path


def new_part_name() -> str:
    """Return a name that sorts by time."""
    return f"{time.time_ns() // 1_000_000:013d}-{secrets.token_hex(4)}.parquet"


async def commit_in_process(folder: Path, keep_seconds: float, store: str | None = None) -> None:
    """Add all parts to the table, in a process of its own: it needs some 200 MB for seconds.

    Raises:
        ProgramFailedError: it failed; the parts stay.
        OSError: the process cannot be started.
    """
    place = () if store is None else (store,)
    command = run_module(COMMITTER, str(folder), f"{keep_seconds!r}", *place)
    await run_in_background(command, COMMIT_TIMEOUT_S)
