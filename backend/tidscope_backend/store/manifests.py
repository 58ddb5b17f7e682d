"""Changes manifests of runs, one at a time, off the event loop."""

import asyncio
from collections.abc import Callable

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.store.folder import RunFolder

Change = Callable[[RunManifest], RunManifest]


class ManifestWriter:
    """What people call a run stands in its file alone, and what is measured is put beside it."""

    def __init__(self) -> None:
        self._changing = asyncio.Lock()

    async def update(self, folder: RunFolder, change: Change) -> RunManifest:
        """Read a manifest, change it, see how much room the run takes, and write it.

        Raises:
            OSError: it cannot be read or written; the old one is there still.
            ValueError: it is not one.
        """
        async with self._changing:
            return await asyncio.to_thread(_change, folder, change)


def with_bytes(folder: RunFolder, manifest: RunManifest) -> RunManifest:
    """Say how much room a run takes now."""
    counts = manifest.counts.model_copy(update={"bytes": folder.bytes()})
    return manifest.model_copy(update={"counts": counts})


def _change(folder: RunFolder, change: Change) -> RunManifest:
    manifest = with_bytes(folder, change(folder.read_manifest()))
    folder.write_manifest(manifest)
    return manifest
