"""Sockets of agents, found and connected to in a child that may look at other users' files.

The folders belong to the program's user, who may put anything there. So no symbolic link is
followed, only a socket is connected to, and before a byte is sent the kernel is asked who listens
(SO_PEERCRED, unix(7)): it must be that very process.
"""

import errno
import os
import socket
import stat
import struct
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

Trouble = Literal["none", "stale", "wrong-peer", "timeout", "other"]
"""none: there is no socket; stale: nobody listens; wrong-peer: somebody else does, or a symbolic
link is in the way; timeout: the connection is not accepted."""

_CREDENTIALS = struct.Struct("iII")


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
        connection.connect(f"/proc/self/fd/{file}")
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
    file = os.dup(root)
    try:
        for part in PurePosixPath(path).parts[1:]:
            if part == "..":
                raise SocketTroubleError("wrong-peer", f"{path} contains a parent folder.")
            deeper = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=file)
            os.close(file)
            file = deeper
            kind = os.fstat(file).st_mode
            if stat.S_ISLNK(kind):
                raise SocketTroubleError(
                    "wrong-peer", f"{path} goes through a symbolic link ({part})."
                )
        if not stat.S_ISSOCK(kind):
            raise SocketTroubleError("wrong-peer", f"{path} is not a socket.")
    except OSError as error:
        os.close(file)
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise SocketTroubleError("none", f"There is no {path}.") from error
        raise SocketTroubleError("other", f"{path} cannot be opened: {error.strerror}.") from error
    except SocketTroubleError:
        os.close(file)
        raise
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
