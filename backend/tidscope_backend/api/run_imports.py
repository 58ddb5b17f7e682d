"""Runs that are brought in as archives: by a request, or from the ring of another host."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from tidscope_wire.generated.models import RunManifest
from tidscope_wire.problems import refusal

from tidscope_backend.store.disk import Disk, unwritable

MAX_IMPORTS = 2
"""Maximum runs that are brought in at once."""


class RunImports:
    """Brings runs in.

    Args:
        make: creates the runs directory if needed; raises ProblemError.
        taken: returns whether a run ID is unavailable.
        disk: threads in which imports are written.
    """

    def __init__(self, make: Callable[[], Path], taken: Callable[[str], bool], disk: Disk) -> None:
        self._make, self._taken, self._disk = make, taken, disk
        self._at_once = asyncio.Semaphore(MAX_IMPORTS)

    async def bring(self, archive: AsyncIterator[bytes]) -> RunManifest:
        """Write an archive (.tar.zst) to the disk, and make a run of it.

        Raises:
            ProblemError: it is no run, too many are brought in, or the disk refuses it.
        """
        if self._at_once.locked():
            raise refusal(
                "too-many-actions",
                f"{MAX_IMPORTS} runs are being brought in already",
                "wait until they are done",
            )
        async with self._at_once:
            runs = await self._disk.write(self._make)
            path = runs / f".import-{secrets.token_hex(8)}.tar.zst"
            try:
                await self._save(archive, path)
                return await self._disk.write(_imported, path, runs, self._taken)
            except OSError as error:
                raise unwritable(runs, error) from None
            finally:
                await self._disk.write(path.unlink, missing_ok=True)

    async def _save(self, archive: AsyncIterator[bytes], path: Path) -> None:
        """Write pieces to a file without blocking the event loop on a slow disk."""
        file = await self._disk.write(path.open, "xb")
        try:
            async for piece in archive:
                await self._disk.write(file.write, piece)
        finally:
            await self._disk.write(file.close)


def _imported(archive: Path, runs: Path, taken: Callable[[str], bool]) -> RunManifest:
    from tidscope_backend.exchange.importing import import_run
    from tidscope_backend.exchange.unpacking import BadArchiveError

    try:
        return import_run(archive, runs, taken)
    except BadArchiveError as error:
        hint = "choose a .tar.zst file that tidscope exported, unchanged"
        raise refusal("bad-run", f"the archive is not a run: {error}", hint) from None
