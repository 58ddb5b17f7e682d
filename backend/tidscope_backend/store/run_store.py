"""The runs that lie there: read, renamed, deleted, restored, and cleared away in time."""

import asyncio
import logging
import time

from tidscope_wire.generated.models import (
    Retention,
    RunEventsResponse,
    RunManifest,
    RunPatch,
    RunsResponse,
)

from tidscope_backend.problems import refusal
from tidscope_backend.store import trash
from tidscope_backend.store.index import Catalogue
from tidscope_backend.store.errors import damage
from tidscope_backend.store.events import run_events
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.directory import Home
from tidscope_backend.store.lock import Hold
from tidscope_backend.store.errors import unusable
from tidscope_backend.store.manifests import Manifests
from tidscope_backend.store.reader import RunReader
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.store.retention import too_many

TIDY_SECONDS = 60.0

_log = logging.getLogger(__name__)


class Shelf:
    """All runs, those being recorded included.

    Args:
        home: where they lie.
        recorder: which of them are being recorded.
        manifests: changes them.
        retention: which of them go by themselves.
    """

    def __init__(
        self, home: Home, recorder: Recorder, manifests: Manifests, retention: Retention
    ) -> None:
        self._home = home
        self._recorder = recorder
        self._manifests = manifests
        self._retention = retention
        self._catalogue = Catalogue(home, recorder.now)
        self._tidying: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to clear away what is old."""
        self._tidying = asyncio.create_task(self._tidy())

    async def close(self) -> None:
        """Clear away no more."""
        if self._tidying is not None:
            self._tidying.cancel()
            await asyncio.gather(self._tidying, return_exceptions=True)

    async def runs(self) -> RunsResponse:
        """List all."""
        return await asyncio.to_thread(self._catalogue.runs, self._retention)

    async def manifest(self, run_id: str) -> RunManifest:
        """Read one. Raises ProblemError: it is not there, or cannot be read."""
        folder = self._home.folder(run_id)
        return await asyncio.to_thread(self._catalogue.manifest, folder)

    async def events(self, run_id: str) -> RunEventsResponse:
        """Read what happened in a run. Raises as `manifest`."""
        folder = self._home.folder(run_id)
        try:
            return await asyncio.to_thread(run_events, folder)
        except (OSError, ValueError) as error:
            raise refusal(
                "bad-run",
                f"the events of {run_id} cannot be read: {damage(error)}",
                "see its folder",
            ) from None

    def reader(self, run_id: str) -> RunReader:
        """Open a run to be read. Not for the event loop. Raises as `manifest`."""
        folder = self._home.folder(run_id)
        self._catalogue.manifest(folder)
        try:
            return RunReader(folder.path)
        except (OSError, ValueError) as error:
            raise refusal(
                "bad-run", f"run {run_id} cannot be read: {damage(error)}", "see its folder"
            ) from None

    async def patch(self, run_id: str, patch: RunPatch) -> RunManifest:
        """Change what people say of a run.

        Raises:
            ProblemError: it is not there, or cannot be read or written.
        """
        folder = self._home.folder(run_id)
        await asyncio.to_thread(self._catalogue.manifest, folder)
        given = {name: getattr(patch, name) for name in patch.model_fields_set}
        # Only a group and an outcome can be taken away again.
        update = {k: v for k, v in given.items() if v is not None or k in ("group", "outcome")}
        if "marks" in update:
            update["marks"] = sorted(update["marks"], key=lambda mark: mark.time_ns)
        try:
            await self._manifests.change(
                folder, lambda manifest: manifest.model_copy(update=update)
            )
        except OSError as error:
            raise unusable(folder.path, error) from None
        self._recorder.renamed(run_id, patch.name)
        return await asyncio.to_thread(self._catalogue.manifest, folder)

    async def delete(self, run_id: str) -> None:
        """Move a run aside.

        Raises:
            ProblemError: it is not there, or being recorded, or cannot be moved.
        """
        folder = self._home.folder(run_id)
        self._check_ended(folder)
        try:
            await asyncio.to_thread(trash.delete, folder, time.time())
        except OSError as error:
            raise unusable(folder.path, error) from None

    async def restore(self, run_id: str) -> RunManifest:
        """Move a deleted run back.

        Raises:
            ProblemError: it is not there, or cannot be moved.
        """
        try:
            folder = await asyncio.to_thread(trash.restore, self._home, run_id)
        except OSError as error:
            raise unusable(self._home.make(), error) from None
        try:
            # Its last parts may not have been closed when it went.
            self._recorder.take_up(folder)
        except (OSError, ValueError) as error:
            _log.warning("%s: %s", run_id, damage(error))
        return await asyncio.to_thread(self._catalogue.manifest, folder)

    async def clear(self) -> None:
        """Remove what was deleted long ago, and delete what retention says."""
        now = time.time()
        for path in await asyncio.to_thread(trash.purge, self._home, now):
            _log.info("%s, deleted before, is removed", path.name)
        if self._retention.max_age_s is None and self._retention.max_bytes is None:
            return
        aged = await asyncio.to_thread(self._catalogue.aged)
        for run_id in too_many(aged, self._retention, now):
            _log.info("%s goes by retention; it can be restored for an hour", run_id)
            await self.delete(run_id)

    async def _tidy(self) -> None:
        while True:
            try:
                await self.clear()
            except Exception:
                # What cannot be cleared away must not end the clearing of the rest.
                _log.exception("runs were not cleared away")
            await asyncio.sleep(TIDY_SECONDS)

    def _check_ended(self, folder: RunFolder) -> None:
        run_id = folder.path.name
        held = self._recorder.recording(run_id) is not None
        if not held:
            try:
                recording = folder.read_manifest().state == "recording"
            except (OSError, ValueError):
                recording = False  # A damaged one may go.
            if recording:
                hold = Hold.of(folder)
                held = hold is None
                if hold is not None:
                    hold.release()
        if held:
            raise refusal(
                "already-recording", f"run {run_id} is being recorded", "stop it, then delete it"
            )
