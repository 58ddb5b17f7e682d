"""The operators' token, offered to commands of the backend's own user in a file.

A backend holds a lock on its file while it lives, so a file that a killed one left offers nothing.
The file is for who can read it: its folder and the file itself are its owner's alone, and whoever
reads it checks that. A system service offers its token to its group, in a folder below /run.
"""

import fcntl
import logging
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 1024
SERVICE_FOLDER = Path("/run/tidscope-backend")
"""Folder of the system service's token; only root makes folders in /run."""
log = logging.getLogger(__name__)


@contextmanager
def offered_token(
    folder: Path | None, port: int, token: str, *, to_group: bool = False
) -> Iterator[None]:
    """Offer a token within the context. A file that cannot be written is only logged.

    Args:
        folder: folder for the file, created with mode 0700; None to offer nothing.
        port: port on which the backend listens.
        token: the token.
        to_group: whether this process's group may read the file, too.
    """
    if folder is None:
        yield
        return
    path = _path(folder, port)
    try:
        file = _write(folder, path, token, 0o640 if to_group else 0o600)
    except OSError as error:
        log.info("commands of this user need TIDSCOPE_TOKEN: %s", error)
        yield
        return
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)


def find_token(folder: Path | None, port: int) -> str | None:
    """Return the token that a living backend of this user offers; None without one.

    Args:
        folder: as for `offered_token`.
        port: port on which the backend listens.
    """
    return None if folder is None else _read(folder, port, _is_own)


def find_service_token(port: int, folder: Path = SERVICE_FOLDER) -> str | None:
    """Return the token that the system service offers; None without it or the right to read it.

    Args:
        port: port on which the service listens.
        folder: its folder, which root or the service's user owns.
    """
    return _read(folder, port, _is_unchanged_by_others)


def _read(folder: Path, port: int, trusted: Callable[[os.stat_result], bool]) -> str | None:
    try:
        file = os.open(_path(folder, port), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not trusted(os.fstat(file)) or not _is_locked(file):
            return None
        return os.pread(file, LONGEST, 0).decode("ascii", "replace").strip() or None
    finally:
        os.close(file)


def _path(folder: Path, port: int) -> Path:
    return folder / f"token-{port}"


def _write(folder: Path, path: Path, token: str, mode: int) -> int:
    """Write a locked file and return its descriptor."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Beside what is there already, and over it: another user's file, or a link, is not written to.
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(fresh, flags, mode)
    try:
        os.fchmod(file, mode)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.write(file, f"{token}\n".encode())
        fresh.rename(path)
    except OSError:
        os.close(file)
        fresh.unlink(missing_ok=True)
        raise
    return file


def _is_own(found: os.stat_result) -> bool:
    mine = found.st_uid == os.geteuid()
    return mine and stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077


def _is_unchanged_by_others(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and not found.st_mode & 0o027


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
