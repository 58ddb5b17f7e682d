"""Sockets of agents, found and connected to in a child that may look at other users' files.

Where to look, a process itself says: by its user, its id and its environment. The child that
connects reads two lines of its status and two of its variables while it still has rights, and
nothing else that others have written. The folders belong to the program's user, who may put
anything there. So no symbolic link is followed, only a socket is connected to, and before a byte is
sent the kernel is asked who listens (SO_PEERCRED, unix(7)): it must be that very process.
"""

import errno
import os
import socket
import stat
import struct
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from tidscope_collector.inspection.process_files import (
    open_file,
    open_without_links,
    read_beginning,
    read_variables,
)

FOLDER_VARIABLE = "TIDSCOPE_AGENT_DIR"
RUNTIME_VARIABLE = "XDG_RUNTIME_DIR"
SYSTEM_FOLDER = "/run/tidscope"

Trouble = Literal["none", "stale", "wrong-peer", "timeout", "other"]
"""none: there is no socket; stale: nobody listens; wrong-peer: somebody else does, or a symbolic
link is in the way; timeout: the connection is not accepted."""

_CREDENTIALS = struct.Struct("iII")
_STATUS_BYTES = 8192


class SocketTroubleError(Exception):
    """There is no connection; the text is a sentence for people.

    Attributes:
        trouble: what kind it is.
    """

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble: Trouble = trouble


class SocketId(NamedTuple):
    """A socket file: a program that starts again makes another one."""

    path: str
    device: int
    inode: int
    changed_ns: int


class Candidates(NamedTuple):
    """Where the agent of a process may listen.

    Attributes:
        uids: users of the process: real, effective, saved, of its files.
        paths: below its root, the likeliest first.
    """

    uids: list[int]
    paths: list[str]


def list_folders(variables: Mapping[str, str], uid: int) -> list[str]:
    """Folders to look for a program's socket in, the likeliest first.

    Args:
        variables: of the environment that the program was started with.
        uid: whose program it is.
    """
    named = variables.get(FOLDER_VARIABLE, "")
    if named:
        return [named]
    runtime = variables.get(RUNTIME_VARIABLE, "")
    found = [f"{runtime}/tidscope"] if runtime.startswith("/") else []
    return list(dict.fromkeys([*found, f"/run/user/{uid}/tidscope", SYSTEM_FOLDER]))


def candidates(folder: int) -> Candidates:
    """Where the agent of a process may listen.

    Args:
        folder: of the process in /proc.

    Raises:
        OSError: the process has ended, or may not be looked at.
        SocketTroubleError: its status makes no sense.
    """
    status = read_beginning(open_file(folder, "status"), _STATUS_BYTES)
    lines = dict(line.split(b":", 1) for line in status.splitlines() if b":" in line)
    environment = os.open("environ", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        uids = [int(uid) for uid in lines[b"Uid"].split()]
        own_pid = int(lines[b"NSpid"].split()[-1])
        user = uids[1]
    except (KeyError, ValueError, IndexError) as error:
        raise SocketTroubleError("other", "The status of the process makes no sense.") from error
    variables = read_variables(environment, (FOLDER_VARIABLE, RUNTIME_VARIABLE))
    paths = [f"{one}/{own_pid}.sock" for one in list_folders(variables, user)]
    return Candidates(uids, paths)


def find_socket(root: int, paths: Sequence[str]) -> SocketId | None:
    """The first of some paths at which there is a socket.

    Args:
        root: descriptor of the folder that is the program's root.
        paths: as the program sees them.
    """
    for path in paths:
        try:
            file = _open(root, path)
        except SocketTroubleError:
            continue
        try:
            status = os.fstat(file)
        finally:
            os.close(file)
        return SocketId(path, status.st_dev, status.st_ino, status.st_ctime_ns)
    return None


def connect_first(
    root: int, paths: Sequence[str], pid: int, uids: Sequence[int], timeout_s: float
) -> socket.socket:
    """Connect at the first path at which the right process listens.

    Args:
        root: as `find_socket` takes it.
        paths: the same.
        pid: of the process that must listen.
        uids: users that it may be of.
        timeout_s: for each path.

    Raises:
        SocketTroubleError: the most telling of all.
    """
    failure = SocketTroubleError(
        "none", f"Process {pid} has no agent: there is no {' or '.join(paths)}."
    )
    for path in paths:
        try:
            return _connect_at(root, path, pid, uids, timeout_s)
        except SocketTroubleError as error:
            if error.trouble != "none" and failure.trouble == "none":
                failure = error
    raise failure


def _connect_at(
    root: int, path: str, pid: int, uids: Sequence[int], timeout_s: float
) -> socket.socket:
    file = _open(root, path)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.settimeout(timeout_s)
        # By its descriptor: what lies at the path may have been exchanged since.
        connection.connect(f"self/fd/{file}")
        _check_peer(connection, path, pid, uids)
    except (TimeoutError, BlockingIOError) as error:
        connection.close()
        raise SocketTroubleError(
            "timeout", f"The agent at {path} does not accept connections."
        ) from error
    except ConnectionRefusedError as error:
        connection.close()
        raise SocketTroubleError(
            "stale", f"No process listens at {path}: a program that has ended left it behind."
        ) from error
    except OSError as error:
        connection.close()
        raise SocketTroubleError("other", f"Cannot connect to {path}: {error.strerror}.") from error
    except SocketTroubleError:
        connection.close()
        raise
    finally:
        os.close(file)
    return connection


def _open(root: int, path: str) -> int:
    """A descriptor of the socket at a path below ``root``; no link is followed on the way."""
    parts = PurePosixPath(path).parts[1:]
    if ".." in parts:
        raise SocketTroubleError("wrong-peer", f"{path} contains a parent folder.")
    try:
        file = open_without_links(root, "/" + "/".join(parts))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise SocketTroubleError("none", f"There is no {path}.") from error
        if error.errno == errno.ELOOP:
            raise SocketTroubleError(
                "wrong-peer", f"{path} goes through a symbolic link."
            ) from error
        raise SocketTroubleError("other", f"{path} cannot be opened: {error.strerror}.") from error
    if not stat.S_ISSOCK(os.fstat(file).st_mode):
        os.close(file)
        raise SocketTroubleError("wrong-peer", f"{path} is not a socket.")
    return file


def _check_peer(connection: socket.socket, path: str, pid: int, uids: Sequence[int]) -> None:
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    peer, uid, _ = _CREDENTIALS.unpack(answer)
    if peer != pid:
        raise SocketTroubleError("wrong-peer", f"{path} is served by process {peer}, not {pid}.")
    if uid not in uids:
        raise SocketTroubleError(
            "wrong-peer", f"{path} is served by user {uid}, not by {uids[1]}, who runs {pid}."
        )
