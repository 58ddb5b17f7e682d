"""Creates runs: folder, lock and manifest; and removes those that could not be started."""

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    Host,
    RecordRequest,
    RunManifest,
    Target,
)
from tidscope_wire.generated.models import (
    Recording as RecordingInfo,
)
from tidscope_wire.problems import refusal

from tidscope_backend import VERSION
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.recording.recording import PartLimits, Recording, write_failure
from tidscope_backend.recording.stats import RecordingStats
from tidscope_backend.store.directory import RunsDirectory
from tidscope_backend.store.disk import Disk, unwritable
from tidscope_backend.store.folder import RunFolder, RunLock, new_run_id


class NewRuns:
    """Makes runs on the disk.

    Args:
        directory: of the runs.
        registry: hosts.
        disk: whose threads touch files.
        limits: of the parts of runs.
    """

    def __init__(
        self, directory: RunsDirectory, registry: HostRegistry, disk: Disk, limits: PartLimits
    ) -> None:
        self._directory = directory
        self._registry = registry
        self._disk = disk
        self._limits = limits

    async def create(self, target: Target, request: RecordRequest) -> tuple[Recording, RunManifest]:
        """As `create_recording`. Raises ProblemError."""
        directory = await self._disk.write(self._directory.make)
        host = self._registry.host(target.host)
        if host is None:
            raise refusal("unknown-host", f"host {target.host} is not known", "attach again")
        try:
            return await self._disk.write(
                create_recording, directory, host, target, request, self._limits
            )
        except OSError as error:
            raise unwritable(directory, error) from None

    async def discard(self, recording: Recording, error: OSError) -> Exception:
        """Remove a run whose first frames could not be written; returns what to raise."""
        recording.ending = write_failure(error)
        # A pending request to stop it fails: the run is gone.
        recording.started.set()

        def remove() -> None:
            recording.end(write_failure(error))
            recording.lock.release()
            discard(recording.folder)

        await self._disk.record(remove)
        return unwritable(recording.folder.path.parent, error)


def create_recording(
    home: Path, host: Host, target: Target, request: RecordRequest, limits: PartLimits
) -> tuple[Recording, RunManifest]:
    """Create and lock the folder of a run.

    Returns:
        The recording, and its manifest, which is not written yet.

    Raises:
        OSError: the folder cannot be created; nothing of it is left.
    """
    unix_us = time.time_ns() // 1000
    folder = RunFolder(home / new_run_id(unix_us / 1e6))
    folder.make()
    try:
        lock = RunLock.acquire(folder)
    except OSError:
        discard(folder)
        raise
    if lock is None:
        raise FileExistsError(f"another backend has {folder.path.name}")
    info = RecordingInfo(
        run=folder.path.name,
        target=target.id,
        name=request.name if request.name is not None else target.process.name,
        created_unix_us=unix_us,
    )
    duration_ns = None if request.duration_s is None else int(request.duration_s * 1e9)
    recording = Recording(folder, lock, info, target, host.collector.pid, limits, duration_ns)
    recording.stored_command = request.command
    recording.without_titles = request.command not in (None, target.process.command)
    recording.update_target(target)
    empty = RecordingStats()
    manifest = RunManifest(
        format=1,
        id=info.run,
        name=info.name,
        tags=request.tags or [],
        group=request.group,
        notes=request.notes or "",
        state="recording",
        end=None,
        end_detail="",
        created_unix_us=unix_us,
        started_unix_us=unix_us,
        from_ns=0,
        to_ns=0,
        until_ns=None,
        tidscope=VERSION,
        host=host,
        target=recording.target,
        fields=CATALOGUE.fields,
        policies=[],
        marks=[],
        losses=empty.losses,
        counts=empty.counts,
        outcome=None,
        imported=False,
    )
    return recording, manifest


def discard(folder: RunFolder) -> None:
    """Remove the folder of a run that could not be started: nothing was recorded."""
    with suppress(OSError):
        shutil.rmtree(folder.path)


def check_past(past: Sequence[object], request: RecordRequest) -> None:
    """Refuse to record the past of a target if there is none. Raises ProblemError."""
    if not past or not request.past_s:
        raise refusal(
            "bad-request",
            "there is nothing to record: "
            + ("no past of the target is stored" if request.past_s else "its past is not included"),
            "record from now on, or include some of the past",
        )
