"""Imports a run: unpacks it beside the others, checks it completely, then renames it."""

import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError
from tidscope_wire.generated.models import RunEvent, RunManifest

from tidscope_backend.exchange.unpacking import USUAL, BadArchiveError, Bounds, unpack
from tidscope_backend.store.folder import RunFolder, new_run_id
from tidscope_backend.store.manifests import with_bytes
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.signals_table import signals_schema
from tidscope_backend.store.threads_table import threads_schema
from tidscope_backend.validation import validation_text

MAX_ROWS = 4_000_000
"""Most rows of a file. A part has some hundred thousand."""
MAX_OPEN_PART_BYTES = 512 * 2**20
MAX_EVENT_BYTES = 1 << 20
LEFTOVER_SECONDS = 86_400.0
_FIELD = re.compile(r"[a-z][a-z_]{0,63}\Z")


def import_run(
    archive: Path, runs: Path, exists: Callable[[str], bool], bounds: Bounds = USUAL
) -> RunManifest:
    """Import a run from an archive.

    Args:
        archive: a .tar.zst.
        runs: the runs directory; the archive is unpacked in it under a temporary name.
        exists: whether a run has an id, runs in the trash included.
        bounds: on what is unpacked.

    Returns:
        Its manifest, with a new id if its own exists.

    Raises:
        BadArchiveError: it is not the archive of a run that can be read.
        OSError: it cannot be read or written.
    """
    clear_leftovers(runs, time.time())
    beside = runs / f".import-{new_run_id(time.time())}"
    beside.mkdir(mode=0o700)
    try:
        unpack(archive, beside, bounds)
        manifest = _checked(beside)
        while exists(manifest.id):
            manifest = manifest.model_copy(update={"id": new_run_id(time.time())})
        manifest = with_bytes(RunFolder(beside), manifest)
        host = manifest.host.model_copy(update={"connected": False})
        manifest = manifest.model_copy(update={"imported": True, "host": host})
        RunFolder(beside).write_manifest(manifest)
        beside.rename(runs / manifest.id)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return manifest


def clear_leftovers(runs: Path, unix_s: float) -> None:
    """Remove leftovers of killed imports; younger ones may still be running."""
    for path in runs.glob(".import-*"):
        try:
            old = path.lstat().st_mtime < unix_s - LEFTOVER_SECONDS
        except FileNotFoundError:
            continue
        if old and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif old:
            path.unlink(missing_ok=True)


def _checked(path: Path) -> RunManifest:
    """Check that all of a run can be read within bounds.

    Raises:
        BadArchiveError: it cannot, or is.
    """
    folder = RunFolder(path)
    try:
        manifest = folder.read_manifest()
        fields = manifest.target.fields
        if len(set(fields)) < len(fields) or not all(_FIELD.match(name) for name in fields):
            raise BadArchiveError("its fields have invalid names")
        for number in folder.open_parts():
            size = folder.open_part(number).stat().st_size
            if size > MAX_OPEN_PART_BYTES:
                raise BadArchiveError(f"its part {number} has {size} bytes of frames")
        signals, threads = signals_schema(fields), threads_schema(fields)
        for number in folder.sealed_parts():
            _is_table(folder.samples(number), _samples_schema(fields))
            _is_table(folder.signals(number), signals)
            _check_events(folder.events(number))
        if folder.threads.exists():
            _is_table(folder.threads, threads)
        # This decodes open parts completely.
        RunReader(path).signals(["seq", "time_ns"])
    except ValidationError as error:
        raise BadArchiveError(f"it cannot be read: {validation_text(error)}") from None
    except BadArchiveError:
        raise
    except (OSError, ValueError, KeyError, IndexError, pa.ArrowException) as error:
        raise BadArchiveError(f"it cannot be read: {error}") from None
    if manifest.state == "recording":
        raise BadArchiveError("it is being recorded elsewhere; export it to get a copy")
    return manifest


def _samples_schema(fields: Sequence[str]) -> pa.Schema:
    keys = {"tid": pa.uint32(), "start_ns": pa.int64(), "seq": pa.int64(), "level": pa.uint8()}
    return pa.schema({**keys, **{name: pa.uint64() for name in fields}})


def _is_table(path: Path, wanted: pa.Schema) -> None:
    """Check the schema in a file's footer; more columns are accepted."""
    with pq.ParquetFile(path) as file:
        found, rows = file.schema_arrow, file.metadata.num_rows
    if rows > MAX_ROWS:
        raise BadArchiveError(f"{path.name} has {rows} rows; at most {MAX_ROWS} are accepted")
    for column in wanted:
        if found.get_field_index(column.name) < 0:
            raise BadArchiveError(f"{path.name} has no column {column.name}")
        kind = found.field(column.name).type
        if not _fits(kind, column.type):
            raise BadArchiveError(f"column {column.name} of {path.name} is {kind}")


def _fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a type matches; a struct of an older version may have fewer fields."""
    if pa.types.is_struct(wanted) and pa.types.is_struct(found):
        known = {field.name: field.type for field in wanted}
        return all(field.name in known and _fits(field.type, known[field.name]) for field in found)
    if pa.types.is_list(wanted) and pa.types.is_list(found):
        return _fits(found.value_type, wanted.value_type)
    return bool(found == wanted)


def _check_events(path: Path) -> None:
    with path.open("rb") as lines:
        while line := lines.readline(MAX_EVENT_BYTES + 1):
            if len(line) > MAX_EVENT_BYTES:
                raise BadArchiveError(
                    f"a line of {path.name} has more than {MAX_EVENT_BYTES} bytes"
                )
            RunEvent.model_validate_json(line)
