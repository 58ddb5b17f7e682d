"""Fetched debug files on disk, by build ID, bounded in bytes. Methods block.

The folder is laid out as /usr/lib/debug is: `.build-id/ab/cdef.debug`. The time of last use is the
time of modification, because many file systems do not keep access times.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PARTIAL = ".partial"
_FOLDER = ".build-id"
_SUFFIX = ".debug"
_OTHERS = 0o077


class CacheError(Exception):
    """The folder cannot be used; the text says why, and what to do."""


class _Kept(NamedTuple):
    used_ns: int
    path: Path
    bytes: int


class DebugFileCache:
    """Debug files by build ID.

    Args:
        folder: the folder; made if need be.
        max_bytes: maximum bytes of all files. The files used longest ago are deleted beyond it.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder, self._max_bytes = folder, max_bytes

    @property
    def max_file_bytes(self) -> int:
        """Maximum bytes of one file, so that two have room."""
        return self._max_bytes // 2

    @property
    def partial(self) -> Path:
        """Path of the file that is being fetched."""
        return self._folder / _PARTIAL

    def open(self) -> None:
        """Make the folder and check who may write in it.

        Raises:
            CacheError: it cannot be made, or belongs to another user, or others may write in it.
        """
        for folder in (self._folder, self._folder / _FOLDER):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                found = folder.lstat()
            except OSError as error:
                raise CacheError(f"{folder} cannot be made: {error.strerror}") from None
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                raise CacheError(f"{folder} is not a folder of this user; name another one")
            if stat.S_IMODE(found.st_mode) & _OTHERS:
                raise CacheError(f"{folder} is open to others; chmod 700 {folder}")
        self.discard_partial()

    def discard_partial(self) -> None:
        """Delete what was fetched last, if it was not kept."""
        with suppress(OSError):
            self.partial.unlink()

    def has(self, build_id: str) -> bool:
        """Return True if the debug file is there."""
        try:
            return _is_own(self._path(build_id).lstat())
        except OSError:
            return False

    def use(self, build_id: str) -> None:
        """Note that a file is in use."""
        with suppress(OSError):
            os.utime(self._path(build_id), follow_symlinks=False)

    def keep(self, build_id: str) -> None:
        """Make the file at `partial` the one with this build ID. Raises OSError."""
        path = self._path(build_id)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        self.partial.rename(path)
        self.use(build_id)
        self._make_room(path)

    def bytes(self) -> int:
        """Return the size of all files."""
        return sum(one.bytes for one in self._kept())

    def _path(self, build_id: str) -> Path:
        return self._folder / _FOLDER / build_id[:2] / f"{build_id[2:]}{_SUFFIX}"

    def _make_room(self, newest: Path) -> None:
        kept = sorted(self._kept())
        total = sum(one.bytes for one in kept)
        for one in kept:
            if total <= self._max_bytes:
                break
            if one.path != newest:
                one.path.unlink(missing_ok=True)
                total -= one.bytes

    def _kept(self) -> Iterator[_Kept]:
        for path in (self._folder / _FOLDER).glob(f"??/*{_SUFFIX}"):
            with suppress(OSError):
                found = path.lstat()
                if _is_own(found):
                    yield _Kept(found.st_mtime_ns, path, found.st_size)


def _is_own(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
