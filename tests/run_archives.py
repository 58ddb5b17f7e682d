"""Archives of runs, made of files that a test may have changed."""

import io
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tidscope_backend.exchange.rewriting import rewrite_run
from tidscope_backend.exchange.unpacking import BadArchiveError, Bounds, unpack
from tidscope_backend.store.folder import RunFolder
from tidscope_wire.generated.models import RunManifest

NOT_A_RUN = (BadArchiveError, ValueError, KeyError, pa.ArrowException)
"""What `rewrite` raises for an archive that is none of a run."""
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
