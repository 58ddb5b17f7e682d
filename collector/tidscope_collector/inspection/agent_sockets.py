"""Sockets of agents: found and connected to by a child that may inspect other users' files.

A process' user, ID and environment tell where its socket may be. The connecting child reads two
lines of the status and two variables while it still has rights, and nothing else that others have
written. The folders belong to the program's user, who may put anything there. Symbolic links are
therefore not followed, and only a socket is connected to. Before a byte is sent the kernel is asked
who listens (SO_PEERCRED, unix(7)): it must be that very process.
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
"""none: no socket. stale: nobody listens. wrong-peer: another process listens, or a symbolic link
is in the way. timeout: the connection is not accepted in time."""

_CREDENTIALS = struct.Struct("iII")
_STATUS_BYTES = 8192


class SocketTroubleError(Exception):
    """No connection could be made; the text is a sentence for people.

    Attributes:
        trouble: kind of trouble.
    """

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble: Trouble = trouble


class SocketId(NamedTuple):
    """Identity of a socket file; a restarted program makes another one."""

    path: str
    device: int
    inode: int
    changed_ns: int


class Candidates(NamedTuple):
    """Places where the agent of a process may listen.

    Attributes:
        uids: users of the process: real, effective, saved, file system.
        paths: paths below its root, most likely first.
    """

    uids: list[int]
    paths: list[str]


def list_folders(variables: Mapping[str, str], uid: int) -> list[str]:
    """Return folders that may hold a program's socket, most likely first.

    Args:
        variables: environment that the program was started with.
        uid: user of the program.
    """
    named = variables.get(FOLDER_VARIABLE, "")
    if named:
        return [named]
    runtime = variables.get(RUNTIME_VARIABLE, "")
    found = [f"{runtime}/tidscope"] if runtime.startswith("/") else []
    return list(dict.fromkeys([*found, f"/run/user/{uid}/tidscope", SYSTEM_FOLDER]))


def candidates(folder: int) -> Candidates:
    """Return the places where the agent of a process may listen.

    Args:
        folder: descriptor of the process' folder in /proc.

    Raises:
        OSError: the process has ended, or may not be inspected.
        SocketTroubleError: the status is invalid.
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
    """Return the first path that has a socket, or None.

    Args:
        root: descriptor of the program's root folder.
        paths: paths as the program sees them.
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
        root: descriptor of the program's root folder.
        paths: paths as the program sees them.
        pid: ID of the process that must listen.
        uids: allowed users of that process.
        timeout_s: timeout per path, in seconds.

    Raises:
        SocketTroubleError: the most specific trouble of all paths.
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
        # Connect by descriptor: the file at the path may have been exchanged since.
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
    """Return a descriptor of the socket at a path below ``root``; links are not followed."""
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
