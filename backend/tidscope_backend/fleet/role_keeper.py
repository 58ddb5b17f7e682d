"""Keeps the totals by role of all hosts, in parts for the committer."""

import asyncio
import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from tidscope_backend.background_programs import ProgramFailedError, run_in_background
from tidscope_backend.fleet.part_shipper import PartShipper
from tidscope_backend.fleet.part_store import STAGED
from tidscope_backend.fleet.role_rows import SCHEMA
from tidscope_backend.pacing import next_multiple
from tidscope_backend.processes import run_module
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import replace_file

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
        disk: threads that write.
        keep_seconds: age after which rows are deleted, in seconds.
        store: address of the store of parts and table; None for the folder.

    Attributes:
        outcomes: number of rows taken, of those lost as they could not be written, and of those
            that a part cannot have.
        shipper: sends parts to the store; None if the store is the folder.
    """

    def __init__(
        self, folder: Path, disk: Disk, keep_seconds: float, store: str | None = None
    ) -> None:
        self.outcomes: Counter[str] = Counter(taken=0, lost=0, refused=0)
        self.shipper = None
        if store is not None:
            self.shipper = PartShipper(folder / STAGED, store, self._lose)
        self._folder, self._disk = folder, disk
        self._keep_seconds, self._store = keep_seconds, store
        self._waiting: deque[pa.Table] = deque()
        self._rows = 0
        self._sealing: tuple[str, pa.Table] | None = None
        self._full = asyncio.Event()

    @property
    def parts_waiting(self) -> int:
        """Number of parts that wait on this machine for the store."""
        return self.shipper.waiting if self.shipper else 0

    async def run(self) -> None:
        """Write parts, send and commit them, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._seal_often())
            group.create_task(self._commit_often())

    async def close(self) -> None:
        """Write the newest rows; the next start sends and commits them."""
        while (self._sealing or self._rows) and await self.seal():
            pass

    def add(self, rows: pa.Table, refused: Sequence[str] = ()) -> None:
        """Take rows for the next part.

        Args:
            rows: the rows.
            refused: for each row that no part can have, why.
        """
        self.outcomes["taken"] += rows.num_rows + len(refused)
        self.outcomes["refused"] += len(refused)
        if refused:
            _log.warning("totals by role do not fit into a part, and are not kept: %s", refused[0])
        self._waiting.append(rows)
        self._rows += rows.num_rows
        self._bound()
        if self._rows >= PART_ROWS:
            self._full.set()

    async def seal(self) -> bool:
        """Write waiting rows as a part; after a failure they wait for the next attempt.

        The attempt has the same rows and name: the part may be in place though its folder could
        not be flushed, and then the committer may have taken it.

        Returns:
            True if all is well.
        """
        if self._sealing is None:
            rows = self._oldest(PART_ROWS)
            if not rows.num_rows:
                return True
            self._sealing = (new_part_name(), rows)
        name, rows = self._sealing
        try:
            await self._disk.write(write_part, self._folder / STAGED, rows, name)
        except OSError as error:
            _log.warning("totals by role are not written: %s", error.strerror or error)
            self._bound()
            return False
        self._sealing = None
        return True

    def _bound(self) -> None:
        """Give up the oldest rows beyond the maximum."""
        if self._sealing is not None and self._rows + self._sealing[1].num_rows > MAX_ROWS:
            rows, self._sealing = self._sealing[1], None
            self._lose(rows.num_rows, rows)
        excess = self._rows - MAX_ROWS
        if excess > 0:
            self._lose(excess, self._oldest(excess))

    def _oldest(self, most: int) -> pa.Table:
        """Remove up to a number of waiting rows, and return them."""
        found = [SCHEMA.empty_table()]
        while self._waiting and most > 0:
            rows = self._waiting.popleft()
            if rows.num_rows > most:
                self._waiting.appendleft(rows[most:])
            found.append(rows[:most])
            most -= found[-1].num_rows
            self._rows -= found[-1].num_rows
        return pa.concat_tables(found)

    def _lose(self, count: int, rows: pa.Table | None = None) -> None:
        self.outcomes["lost"] += count
        if rows is not None:
            first, last = (rows["time"][place].as_py() for place in (0, -1))
            _log.warning("%d totals by role, from %s to %s, are lost", count, first, last)

    async def _seal_often(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), PART_S)
            self._full.clear()
            while await self.seal() and self._rows >= PART_ROWS:
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


def write_part(folder: Path, table: pa.Table, name: str | None = None) -> Path:
    """Write a table of rows as a part, a new one unless it has a name. Raises OSError."""
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
