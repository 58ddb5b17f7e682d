"""The agent's socket: its folder, its creation, and the removal of stale ones."""

import errno
import os
import re
import socket
import stat
from contextlib import suppress
from pathlib import Path

FOLDER_VARIABLE = "TIDSCOPE_AGENT_DIR"
SYSTEM_FOLDER = Path("/run/tidscope")


class NoSocketFolderError(Exception):
    """There is no folder for the socket."""


def listen(pid: int) -> tuple[socket.socket, Path]:
    """Make the socket of a process in the first usable folder.

    Raises:
        NoSocketFolderError: no folder is usable; the text says why.
    """
    wrong = []
    for folder in _folders():
        path = folder / f"{pid}.sock"
        try:
            _prepare(folder)
            bound = _bind(path)
        except NoSocketFolderError as error:
            wrong.append(str(error))
        except OSError as error:
            wrong.append(f"{path}: {error.strerror or error}")
        else:
            sweep(folder)
            return bound, path
    raise NoSocketFolderError(f"no folder for a socket: {'; '.join(wrong)}")


def _folders() -> list[Path]:
    """Folders that a collector searches, in order."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return [Path(named)]
    uid = os.geteuid()
    # sudo may leave another user's folder in the environment.
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    bases = dict.fromkeys((runtime, Path(f"/run/user/{uid}")))
    own = [base / "tidscope" for base in bases if base.is_absolute() and _owner(base) == uid]
    return [*own, SYSTEM_FOLDER]


def _prepare(folder: Path) -> None:
    """Make a folder if it is missing, and refuse one that others can change."""
    if not folder.is_absolute():
        raise NoSocketFolderError(f"{folder}: not an absolute path")
    try:
        # All users share the system's folder.
        folder.mkdir(0o755 if folder == SYSTEM_FOLDER else 0o700)
    except FileExistsError:
        pass
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NoSocketFolderError(f"{folder}: not a folder")
    if status.st_uid not in (0, os.geteuid()):
        raise NoSocketFolderError(f"{folder}: belongs to another user, {status.st_uid}")
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        raise NoSocketFolderError(f"{folder}: others may write to it")


def _owner(path: Path) -> int:
    try:
        return path.lstat().st_uid
    except OSError:
        return -1


def _bind(path: Path) -> socket.socket:
    """Listen with mode 0600.

    The socket is renamed into place when it is ready, so that other users can never connect. The
    stale socket of an ended process with this ID is replaced.
    """
    unnamed = path.with_name(f"{path.name}.new")
    unnamed.unlink(missing_ok=True)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(str(unnamed))
        unnamed.chmod(0o600)
        made.listen()
        made.setblocking(False)
        unnamed.rename(path)
    except BaseException:
        made.close()
        unnamed.unlink(missing_ok=True)
        raise
    return made


_NAME = re.compile(r"([1-9][0-9]{0,9})\.sock")
MAX_FILES = 256
"""Maximum directory entries checked per cleanup."""


def sweep(folder: Path) -> None:
    """Remove this user's stale sockets, which killed programs leave behind.

    A process ID may belong to another namespace, so a connection attempt decides. It does not
    disturb a listening program.
    """
    try:
        names = os.listdir(folder)[:MAX_FILES]
    except OSError:
        return
    for name in names:
        match = _NAME.fullmatch(name)
        if match and not Path("/proc", match[1]).exists():
            with suppress(OSError):
                _remove_if_stale(folder / name)


def _remove_if_stale(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        refused = probe.connect_ex(str(path)) == errno.ECONNREFUSED
    # A new program may have reused the name.
    if refused and os.path.samestat(path.lstat(), found):
        path.unlink()
