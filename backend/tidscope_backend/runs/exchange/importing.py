"""Bringing in a run from another place: unpacked beside the others, looked at, then renamed."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tidscope_wire.generated.models import RunEvent, RunManifest

from tidscope_backend.runs.exchange.unpacking import USUAL, BadArchiveError, Bounds, unpack
from tidscope_backend.runs.folder import RunFolder, new_run_id
from tidscope_backend.runs.reader import RunReader

THREAD_COLUMNS = ("tid", "start_ns", "name", "role", "from_ns", "to_ns", "exited", "first", "last")
SAMPLE_COLUMNS = ("tid", "start_ns", "seq", "level")
SIGNAL_COLUMNS = ("seq", "level", "time_ns", "unix_us", "process", "machine", "roles")


def import_run(
    archive: Path, runs: Path, taken: Callable[[str], bool], bounds: Bounds = USUAL
) -> RunManifest:
    """Make a run of an archive.

    Args:
        archive: a .tar.zst.
        runs: the folder of all runs; the new one is unpacked in it under a name that is no run's.
        taken: whether an id is one of a run that is here, or was deleted and can be restored.
        bounds: on what is unpacked.

    Returns:
        Its manifest: under a new id if its own is taken.

    Raises:
        BadArchiveError: it is not the archive of a run that can be read.
        OSError: it cannot be read or written.
    """
    beside = runs / f".import-{new_run_id(time.time())}"
    beside.mkdir(mode=0o700)
    try:
        unpack(archive, beside, bounds)
        manifest = _checked(beside)
        while taken(manifest.id):
            manifest = manifest.model_copy(update={"id": new_run_id(time.time())})
        counts = manifest.counts.model_copy(update={"bytes": RunFolder(beside).bytes()})
        host = manifest.host.model_copy(update={"connected": False})
        manifest = manifest.model_copy(update={"imported": True, "counts": counts, "host": host})
        RunFolder(beside).write_manifest(manifest)
        beside.rename(runs / manifest.id)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return manifest


def _checked(path: Path) -> RunManifest:
    """See that all of a run can be read.

    Raises:
        BadArchiveError: it cannot.
    """
    try:
        reader = RunReader(path)
        folder = reader.folder
        for number in folder.closed_parts():
            _has_columns(folder.samples(number), (*SAMPLE_COLUMNS, *reader.fields))
            _has_columns(folder.signals(number), SIGNAL_COLUMNS)
            with folder.events(number).open("rb") as lines:
                for line in lines:
                    RunEvent.model_validate_json(line)
        if folder.threads.exists():
            _has_columns(folder.threads, THREAD_COLUMNS)
        # Open parts are decoded by it, to the last frame.
        reader.signals(["seq", "time_ns"])
    except (OSError, ValueError, KeyError, IndexError, pa.ArrowException) as error:
        raise BadArchiveError(f"it cannot be read: {error}") from None
    manifest = reader.manifest
    if manifest.state == "recording":
        raise BadArchiveError("it is being recorded elsewhere; export it to get a copy")
    return manifest


def _has_columns(path: Path, wanted: tuple[str, ...]) -> None:
    with pq.ParquetFile(path) as file:
        missing = set(wanted) - set(file.schema_arrow.names)
    if missing:
        raise BadArchiveError(f"{path.name} has no column {min(missing)}")
