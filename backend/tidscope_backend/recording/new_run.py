"""Creates runs: folder, lock and manifest."""

import shutil
import time
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

from tidscope_backend import VERSION
from tidscope_backend.recording.recording import PartLimits, Recording
from tidscope_backend.recording.stats import RecordingStats
from tidscope_backend.store.folder import RunFolder, new_run_id
from tidscope_backend.store.lock import RunLock


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
