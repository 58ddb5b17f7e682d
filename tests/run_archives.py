"""Archives of runs, with files that a test may have changed or that contradict each other."""

import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tidscope_backend.exchange import importing, limited_import
from tidscope_backend.exchange.rewriting import rewrite_run
from tidscope_backend.exchange.unpacking import BadArchiveError, Bounds, unpack
from tidscope_backend.store.folder import RunFolder
from tidscope_wire.generated.models import RunManifest

NOT_A_RUN = (BadArchiveError, ValueError, KeyError, pa.ArrowException)
"""Error of `rewrite` for an archive that holds no run."""
Files = dict[str, bytes]
"""The files of a run, by name within its folder."""


def files_of(run: Path) -> Files:
    """Read a run's folder."""
    return {
        file.relative_to(run).as_posix(): file.read_bytes()
        for file in run.rglob("*")
        if file.is_file()
    }


def member(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    """A header of an archive."""
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info


def plain_tar(files: Files, *more: tarfile.TarInfo, top: str = "run") -> bytes:
    """A tar archive of files, and members without content after them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            tar.addfile(member(f"{top}/{name}", len(data)), io.BytesIO(data))
        for info in more:
            tar.addfile(info)
    return out.getvalue()


def compressed(data: bytes) -> bytes:
    """Compress with zstd."""
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(data)
    return bytes(out.getvalue())


def archive_of(files: Files, *, packed: bool = True) -> bytes:
    """A .tar.zst of files; or the .tar alone."""
    tar = plain_tar(files)
    return compressed(tar) if packed else tar


def read_table(data: bytes) -> pa.Table:
    """Read Parquet."""
    return pq.ParquetFile(io.BytesIO(data)).read()


def table_bytes(table: pa.Table, *, store_schema: bool = False) -> bytes:
    """Write Parquet as any other program may."""
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", store_schema=store_schema)
    return out.getvalue()


def rewrite(tmp_path: Path, data: bytes, bounds: Bounds | None = None) -> tuple[RunManifest, Files]:
    """Import an archive without a process of its own; the manifest, and the files written."""
    archive, unpacked = tmp_path / "archive", tmp_path / "unpacked"
    into = RunFolder(tmp_path / "run")
    archive.write_bytes(data)
    unpacked.mkdir()
    into.make()
    unpack(archive, unpacked, bounds or Bounds())
    return rewrite_run(RunFolder(unpacked), into), files_of(into.path)


def import_without_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewrite imports in the test's process: starting the limited one takes 1 s."""

    def rewritten(archive: Path, beside: Path, bounds: Bounds, _: object) -> RunManifest:
        kind, text = limited_import._imported(archive, beside, asdict(bounds))
        if kind == limited_import.REFUSED:
            raise BadArchiveError(text)
        assert kind == limited_import.DONE, text
        return RunManifest.model_validate_json(text)

    monkeypatch.setattr(importing, "_rewritten", rewritten)
    # The limited process has one thread.
    monkeypatch.setattr(pa, "set_cpu_count", lambda _: None)
    monkeypatch.setattr(pa, "set_io_thread_count", lambda _: None)


Change = Callable[[Files], Files]
"""A change to the files of a run."""


def changed_manifest(change: Callable[[dict[str, Any]], object]) -> Change:
    def changed(files: Files) -> Files:
        manifest = json.loads(files["manifest.json"])
        change(manifest)
        return {**files, "manifest.json": json.dumps(manifest).encode()}

    return changed


def changed_column(file: str, name: str, values: Callable[[list[object]], list[object]]) -> Change:
    def changed(files: Files) -> Files:
        table = read_table(files[file])
        place = table.column_names.index(name)
        column = pa.array(values(table[name].to_pylist()), table[name].type)
        return {**files, file: table_bytes(table.set_column(place, name, column))}

    return changed


SAMPLES, SIGNALS, EVENTS = "samples/000001.parquet", "signals/000001.parquet", "events/000001.jsonl"
PART = (SAMPLES, SIGNALS, EVENTS)
DECEIVING: dict[str, tuple[Change, str]] = {
    "a date that no program can name": (
        changed_manifest(lambda m: m.update(started_unix_us=10**18)),
        "year 9999",
    ),
    "a number that no database has": (
        changed_manifest(lambda m: m.update(to_ns=10**40)),
        "manifest.json",
    ),
    "a number that JSON does not have": (
        changed_manifest(lambda m: m["target"].update(rate_hz=float("nan"))),
        "cannot be read|JSON",
    ),
    "a field that is a column": (
        changed_manifest(lambda m: m["target"].update(fields=["seq", "cpu_delay_ns"])),
        "invalid names",
    ),
    "rows of frames that are not there": (
        changed_column(SAMPLES, "seq", lambda seqs: [10**9] * len(seqs)),
        "of no frame",
    ),
    "rows without a thread": (
        changed_column(SAMPLES, "tid", lambda tids: [None] * len(tids)),
        "no tid",
    ),
    "counters above int64": (
        changed_column(SAMPLES, "cpu_run_ns", lambda ns: [2**64 - 1] * len(ns)),
        "cpu_run_ns",
    ),
    "starts at the ends of time": (
        changed_column(SAMPLES, "start_ns", lambda ns: [-(2**63)] * len(ns)),
        "starts of threads",
    ),
    "rows of another level": (
        changed_column(SAMPLES, "level", lambda levels: [250] * len(levels)),
        "levels of rows",
    ),
    "frames that go back": (
        changed_column(SIGNALS, "seq", lambda seqs: seqs[::-1]),
        "numbers of frames",
    ),
    "times that go back": (
        changed_column(SIGNALS, "time_ns", lambda ns: ns[::-1]),
        "times of frames",
    ),
    "frames without a process": (
        changed_column(SIGNALS, "process", lambda rows: [None] * len(rows)),
        "cannot be read",
    ),
    "events of frames that are not there": (
        lambda files: {**files, EVENTS: files[EVENTS].replace(b'"seq":4', b'"seq":999')},
        "of no frame",
    ),
    "a part that is not the next": (
        lambda files: {**files, **{name.replace("1.", "3."): files[name] for name in PART}},
        "numbers of frames",
    ),
}
