"""Unpacks a run from an untrusted .tar.zst.

Headers are parsed here because `tarfile` reads extended headers completely, at any claimed length.
Only regular files with names of a run's files are accepted, so no path of the archive is used on
this machine.
"""

import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import pyarrow as pa

from tidscope_backend.store.folder import MANIFEST, SUBFOLDERS, is_run_file

CHUNK = 256 * 1024
BLOCK = tarfile.BLOCKSIZE
MAX_EXTENDED = 64 * 1024
"""Maximum length of extended headers, which are skipped; longer ones are treated as an attack."""
_REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE)
_SKIPPED = (tarfile.XHDTYPE, tarfile.XGLTYPE)


class BadArchiveError(ValueError):
    """The archive does not contain a run; the text is the reason."""


@dataclass(frozen=True)
class Bounds:
    """Limits of unpacking.

    Attributes:
        max_bytes: maximum bytes of all files together.
        max_files: number of files.
        max_ratio: maximum ratio of unpacked to packed bytes; frames compress to about a thirtieth.
        free_ratio: bytes that may be unpacked regardless of the ratio.
    """

    max_bytes: int = 16 * 2**30
    max_files: int = 100_000
    max_ratio: int = 500
    free_ratio: int = 16 * 2**20
    max_manifest_bytes: int = 2**20


DEFAULT_BOUNDS = Bounds()


def unpack(archive: Path, into: Path, bounds: Bounds = DEFAULT_BOUNDS) -> None:
    """Unpack a run.

    Args:
        archive: a .tar.zst.
        into: an empty folder; after a failure, unpacked files remain there.
        bounds: bounds on the unpacked data.

    Raises:
        BadArchiveError: the archive is not an export, or exceeds the bounds.
        OSError: files cannot be read or written.
    """
    for folder in SUBFOLDERS:
        (into / folder).mkdir()
    with archive.open("rb") as file:
        _Unpacker(file, into, bounds).run()


class _Unpacker:
    def __init__(self, file: BinaryIO, into: Path, bounds: Bounds) -> None:
        self._file = file
        self._stream = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
        self._into = into
        self._bounds = bounds
        self._unpacked = 0
        self._top: str | None = None
        self._seen: set[str] = set()

    def run(self) -> None:
        """Unpack all."""
        while (header := self._header()) is not None:
            if header.type in _SKIPPED:
                if not 0 <= header.size <= MAX_EXTENDED:
                    raise BadArchiveError(f"an extended header has {header.size} bytes")
                self._read(_padded(header.size))
            elif header.isdir():
                self._within(header.name)
            elif header.type in _REGULAR:
                self._take(self._within(header.name), header.size)
            else:
                raise BadArchiveError(f"{header.name!r} is neither a regular file nor a folder")
        if MANIFEST not in self._seen:
            raise BadArchiveError(f"there is no {MANIFEST} in it")

    def _header(self) -> tarfile.TarInfo | None:
        """Return the next header, or None at the end."""
        block = self._read(BLOCK)
        if not block.strip(b"\0"):
            return None
        try:
            return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise BadArchiveError(f"it is not a tar archive: {error}") from None

    def _within(self, name: str) -> str:
        """Return a path relative to the common folder; "" for that folder itself."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise BadArchiveError(f"{name!r} points outside the archive")
        top, *rest = path.parts
        if self._top is None:
            self._top = top
        if top != self._top:
            raise BadArchiveError(f"{name!r} is not in the folder {self._top!r}")
        return "/".join(rest)

    def _take(self, name: str, size: int) -> None:
        if not is_run_file(name):
            raise BadArchiveError(f"{name!r} is not a file of a run")
        if name in self._seen:
            raise BadArchiveError(f"{name} is in it twice")
        if len(self._seen) >= self._bounds.max_files:
            raise BadArchiveError(f"it has more than {self._bounds.max_files} files")
        self._seen.add(name)
        limit = self._bounds.max_bytes - self._unpacked
        if name == MANIFEST:
            limit = min(limit, self._bounds.max_manifest_bytes)
        if not 0 <= size <= limit:
            raise BadArchiveError(f"{name} has {size} bytes; at most {limit} are accepted")
        (self._into / name).parent.mkdir(parents=True, exist_ok=True)
        with (self._into / name).open("xb") as file:
            left = size
            while left:
                chunk = self._read(min(CHUNK, left))
                file.write(chunk)
                left -= len(chunk)
        self._read(-size % BLOCK)

    def _read(self, size: int) -> bytes:
        """Read unpacked bytes. Raises if the archive ends early."""
        chunks: list[bytes] = []
        left = size
        while left:
            try:
                chunk: bytes = self._stream.read(left)
            except (OSError, pa.ArrowException) as error:
                raise BadArchiveError(
                    f"it is not compressed by zstd, or damaged: {error}"
                ) from None
            if not chunk:
                raise BadArchiveError("it ends too early")
            chunks.append(chunk)
            left -= len(chunk)
        self._unpacked += size
        allowed = self._bounds.free_ratio + self._bounds.max_ratio * self._file.tell()
        if self._unpacked > min(allowed, self._bounds.max_bytes + BLOCK * self._bounds.max_files):
            raise BadArchiveError("it unpacks to far more than its size")
        return b"".join(chunks)


def _padded(size: int) -> int:
    return size + -size % BLOCK
