"""A run's folder as .tar.zst, made while it is sent; a run that is being recorded can be packed."""

import io
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from tidscope_wire.generated.models import RunManifest

from tidscope_backend.exchange.sink import Sink
from tidscope_backend.store.folder import MANIFEST, THREADS, RunFolder
from tidscope_backend.store.open_part import whole_bytes
from tidscope_backend.store.reader import RunReader

CHUNK = 256 * 1024
OPEN_DETAIL = "exported while it was being recorded: what came later is not in it"


def pack_run(path: Path) -> Iterator[bytes]:
    """Pack a run.

    Parts are taken as they are found: as frames where they are open, and only whole frames.

    Args:
        path: of its folder.

    Raises:
        OSError: a file cannot be read.
    """
    folder = RunFolder(path)
    manifest = manifest_to_pack(path)
    sink = Sink()
    with (
        pa.CompressedOutputStream(pa.PythonFile(sink, "w"), "zstd") as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.USTAR_FORMAT) as archive,
    ):
        text = manifest.model_dump_json(indent=2).encode() + b"\n"
        yield from _added(archive, sink, manifest.id, MANIFEST, io.BytesIO(text), len(text))
        for number in sorted({*folder.open_parts(), *folder.sealed_parts()}):
            yield from _part(archive, sink, manifest.id, folder, number)
        if manifest.end_detail != OPEN_DETAIL:
            with suppress(FileNotFoundError), folder.threads.open("rb") as file:
                size = file.seek(0, io.SEEK_END)
                file.seek(0)
                yield from _added(archive, sink, manifest.id, THREADS, file, size)
    yield sink.take()


def manifest_to_pack(path: Path) -> RunManifest:
    """The manifest of a run; that of one that is being recorded tells where the copy ends."""
    reader = RunReader(path)
    manifest = reader.manifest
    if manifest.state != "recording":
        return manifest
    last_ns = reader.spans[-1][1] if reader.spans else manifest.from_ns
    return manifest.model_copy(
        update={
            "state": "interrupted",
            "end": "stopped",
            "end_detail": OPEN_DETAIL,
            "to_ns": max(manifest.to_ns, last_ns),
        }
    )


def _part(
    archive: tarfile.TarFile, sink: Sink, top: str, folder: RunFolder, number: int
) -> Iterator[bytes]:
    live = folder.open_part(number)
    try:
        file = live.open("rb")
    except FileNotFoundError:
        # It is sealed, or was sealed meanwhile.
        for path in (folder.samples(number), folder.signals(number), folder.events(number)):
            with path.open("rb") as sealed:
                size = sealed.seek(0, io.SEEK_END)
                sealed.seek(0)
                name = path.relative_to(folder.path).as_posix()
                yield from _added(archive, sink, top, name, sealed, size)
        return
    with file:
        # Opened, it stays readable even if the part is sealed now.
        size = whole_bytes(Path(f"/proc/self/fd/{file.fileno()}"))
        name = live.relative_to(folder.path).as_posix()
        yield from _added(archive, sink, top, name, file, size)


def _added(
    archive: tarfile.TarFile, sink: Sink, top: str, name: str, file: BinaryIO, size: int
) -> Iterator[bytes]:
    """Add a file of so many bytes, piece by piece."""
    info = tarfile.TarInfo(f"{top}/{name}")
    info.size, info.mode = size, 0o644
    archive.addfile(info)  # The header alone: the bytes follow below.
    stream = archive.fileobj
    left = size
    while stream is not None and left:
        chunk = file.read(min(CHUNK, left))
        if not chunk:
            raise OSError(f"{name} became shorter while it was read")
        left -= len(chunk)
        stream.write(chunk)
        if len(waiting := sink.take()):
            yield waiting
    if stream is not None:
        stream.write(b"\0" * (-size % tarfile.BLOCKSIZE))
