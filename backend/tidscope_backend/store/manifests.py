"""Writes manifests of runs, one at a time, off the event loop."""

import asyncio
from collections.abc import Callable

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import RunFolder

Change = Callable[[RunManifest], RunManifest]


class ManifestWriter:
    """Updates manifests, in which people and the recorder change different fields.

    Args:
        disk: whose threads write.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._changing = asyncio.Lock()

    async def update(self, folder: RunFolder, change: Change) -> RunManifest:
        """Read a manifest, change it, update its sizes, and write it.

        Raises:
            OSError: it cannot be read or written; the old one is still there.
            ValueError: it is invalid.
        """
        async with self._changing:
            return await self._disk.write(_change, folder, change)


def with_bytes(folder: RunFolder, manifest: RunManifest) -> RunManifest:
    """Update a manifest with what the run takes on disk now."""
    counts = manifest.counts.model_copy(
        update={"bytes": folder.bytes(), "open_bytes": folder.open_bytes()}
    )
    return manifest.model_copy(update={"counts": counts})


def _change(folder: RunFolder, change: Change) -> RunManifest:
    manifest = with_bytes(folder, change(folder.read_manifest()))
    folder.write_manifest(manifest)
    return manifest
