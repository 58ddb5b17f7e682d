"""Puts runs on disk: their manifests, and their parts as they are sealed."""

import logging
from contextlib import suppress

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.recording.part_sealer import PartSealer
from tidscope_backend.recording.recording import Recording
from tidscope_backend.store.directory import ManifestWriter
from tidscope_backend.store.disk import Disk, damage_text
from tidscope_backend.store.folder import RunFolder, RunLock

_log = logging.getLogger(__name__)


class RunSaver:
    """Writes manifests, again until they are written, and has parts sealed.

    Args:
        manifests: writes manifests.
        sealer: seals parts.
        disk: whose recording thread knows what was written.
    """

    def __init__(self, manifests: ManifestWriter, sealer: PartSealer, disk: Disk) -> None:
        self._disk = disk
        self._manifests = manifests
        self._sealer = sealer
        self._unsaved: dict[str, Recording] = {}

    def unsaved(self, run_id: str) -> Recording | None:
        """A run that has ended and whose manifest on disk does not say so yet."""
        return self._unsaved.get(run_id)

    def ended(self, recording: Recording) -> None:
        """A run has ended; its manifest is to be saved."""
        self._unsaved[recording.info.run] = recording

    async def save(self, recording: Recording) -> RunManifest:
        """Write a run's manifest. If that fails, `retry` tries again."""
        fields: dict[str, object] = {}

        def change(manifest: RunManifest) -> RunManifest:
            return manifest.model_copy(update=fields)

        try:
            fields = await self._disk.record(recording.synced_fields)
            manifest = await self._manifests.update(recording.folder, change)
        except (OSError, ValueError) as error:
            if not recording.manifest_failed:
                _log.warning("%s: manifest not written: %s", recording.info.run, damage_text(error))
            recording.manifest_failed = True
            self._unsaved[recording.info.run] = recording
            fields = recording.manifest_fields()
            return change(await self._disk.read(recording.folder.read_manifest))
        recording.manifest_failed = False
        self._unsaved.pop(recording.info.run, None)
        return manifest

    async def retry(self) -> None:
        """Write the manifests that could not be written before."""
        for recording in list(self._unsaved.values()):
            await self.save(recording)

    def seal_full_parts(self, recording: Recording) -> None:
        """Have the parts sealed that are full."""
        while recording.full_parts:
            self._sealer.part(recording.folder, recording.full_parts.popleft())

    def seal_ended(self, folder: RunFolder, lock: RunLock) -> None:
        """Have all parts of an ended run sealed, then count its bytes and release its lock."""

        async def sealed() -> None:
            # The run may have been deleted meanwhile.
            with suppress(OSError, ValueError):
                await self._manifests.update(folder, lambda manifest: manifest)
            await self._disk.write(lock.release)

        self._sealer.ended(folder, sealed)
