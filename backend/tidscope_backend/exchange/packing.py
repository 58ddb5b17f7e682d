"""Opening of a run for export, and packing of its folder as .tar.zst, even during recording."""

import io
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from tidscope_wire.generated.models import RunManifest
from typing_extensions import Buffer

from tidscope_backend.hidden_arguments import frame_without, manifest_without, processes_without
from tidscope_backend.store.folder import MANIFEST, RunFolder
from tidscope_backend.store.frame_files import pack_frame, whole_bytes, whole_frames
from tidscope_backend.store.part_files import write_again
from tidscope_backend.store.reader import RunReader


def open_run(path: Path, hide: bool) -> RunReader:
    """Open a run.

    Args:
        path: folder of the run.
        hide: whether to hide arguments and output of programs, as for viewers.

    Raises:
        OSError: the run cannot be read.
        ValueError: the run's manifest is invalid.
    """
    reader = RunReader(path)
    if hide:
        reader.manifest = manifest_without(reader.manifest)
    return reader


class StreamBuffer(io.RawIOBase):
    """Holds written bytes until they are read."""

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[bytes] = []

    def writable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def write(self, data: Buffer) -> int:
        """See io.RawIOBase."""
        chunk = bytes(memoryview(data))
        self._chunks.append(chunk)
        return len(chunk)

    def drain(self) -> bytes:
        """Return and clear the bytes written since the last call."""
        data = b"".join(self._chunks)
        self._chunks.clear()
        return data


CHUNK = 256 * 1024
OPEN_DETAIL = "exported while it was being recorded"


def pack_run(path: Path, hide: bool = False) -> Iterator[bytes]:
    """Pack a run.

    Open parts are packed as frames; a truncated last frame is omitted.

    Args:
        path: folder of the run.
        hide: whether to hide arguments and output of programs, as for viewers.

    Raises:
        OSError: a file cannot be read.
    """
    folder = RunFolder(path)
    manifest = manifest_to_pack(path, hide)
    buffer = StreamBuffer()
    with (
        pa.CompressedOutputStream(pa.PythonFile(buffer, "w"), "zstd") as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.USTAR_FORMAT) as archive,
    ):
        text = manifest.model_dump_json(indent=2).encode() + b"\n"
        yield from _added(archive, buffer, manifest.id, MANIFEST, io.BytesIO(text), len(text))
        for number in sorted({*folder.open_parts(), *folder.sealed_parts()}):
            yield from _part(archive, buffer, manifest.id, folder, number, hide=hide)
        if manifest.end_detail != OPEN_DETAIL:
            for summary in (*sorted(folder.overview.glob("*.parquet")), folder.threads):
                with suppress(FileNotFoundError), _opened(summary, hide=hide) as file:
                    size = file.seek(0, io.SEEK_END)
                    file.seek(0)
                    name = summary.relative_to(folder.path).as_posix()
                    yield from _added(archive, buffer, manifest.id, name, file, size)
    yield buffer.drain()


def manifest_to_pack(path: Path, hide: bool = False) -> RunManifest:
    """Return a run's manifest; for an active recording, with the end of the copy."""
    reader = open_run(path, hide)
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
    archive: tarfile.TarFile,
    buffer: StreamBuffer,
    top: str,
    folder: RunFolder,
    number: int,
    *,
    hide: bool,
) -> Iterator[bytes]:
    live = folder.open_part(number)
    try:
        file = live.open("rb")
    except FileNotFoundError:
        # The part is sealed.
        tables = folder.tables(number).values()
        of_part = (folder.samples(number), folder.signals(number), folder.events(number))
        for path in (*of_part, *tables):
            with _opened(path, hide=hide) as sealed:
                size = sealed.seek(0, io.SEEK_END)
                sealed.seek(0)
                name = path.relative_to(folder.path).as_posix()
                yield from _added(archive, buffer, top, name, sealed, size)
        return
    with file:
        # The open descriptor stays readable if the part is sealed now.
        size = whole_bytes(Path(f"/proc/self/fd/{file.fileno()}"))
        name = live.relative_to(folder.path).as_posix()
        if hide:
            shown = map(frame_without, whole_frames(file.read(size)))
            data = b"".join(map(pack_frame, shown))
            yield from _added(archive, buffer, top, name, io.BytesIO(data), len(data))
        else:
            yield from _added(archive, buffer, top, name, file, size)


def _opened(path: Path, *, hide: bool) -> BinaryIO:
    """Open a file of a run; process titles are removed unless the viewer may see arguments."""
    if not hide or (path.stem != "processes" and path.parent.name != "processes"):
        return path.open("rb")
    shown = io.BytesIO()
    write_again(path, shown, processes_without)
    return shown


def _added(
    archive: tarfile.TarFile, buffer: StreamBuffer, top: str, name: str, file: BinaryIO, size: int
) -> Iterator[bytes]:
    """Add a file of `size` bytes in chunks."""
    info = tarfile.TarInfo(f"{top}/{name}")
    info.size, info.mode = size, 0o644
    archive.addfile(info)  # Only the header; the bytes follow.
    stream = archive.fileobj
    left = size
    while stream is not None and left:
        chunk = file.read(min(CHUNK, left))
        if not chunk:
            raise OSError(f"{name} shrank while it was read")
        left -= len(chunk)
        stream.write(chunk)
        if len(waiting := buffer.drain()):
            yield waiting
    if stream is not None:
        stream.write(b"\0" * (-size % tarfile.BLOCKSIZE))
