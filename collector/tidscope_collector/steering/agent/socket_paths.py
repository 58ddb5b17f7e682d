"""Paths of an agent's socket, and a connection to it that nobody can divert.

The collector is often root, and the folders belong to the program's user, who may put anything
there. So no symbolic link is followed, only a socket is connected to, and before a byte is sent
the kernel is asked who listens (SO_PEERCRED, unix(7)): it must be that very process.
"""

import errno
import os
import socket
import struct
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple

from tidscope_collector.foreign.reader import (
    NoAnswerError,
    UnreadableError,
    ask_environment,
    open_sockets,
)
from tidscope_collector.foreign.walk import Obstacle
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import parse_stat
from tidscope_collector.steering.agent.errors import (
    AgentClientError,
    AgentTimeoutError,
    NoAgentError,
    StaleSocketError,
    WrongPeerError,
)

FOLDER_VARIABLE = "TIDSCOPE_AGENT_DIR"
RUNTIME_VARIABLE = "XDG_RUNTIME_DIR"
SYSTEM_FOLDER = "/run/tidscope"
_CREDENTIALS = struct.Struct("iII")


class SocketId(NamedTuple):
    """A socket file: a program that starts again makes another one."""

    path: str
    device: int
    inode: int
    changed_ns: int


class _Candidates(AbstractContextManager["_Candidates"]):
    """Descriptors of the sockets that may be an agent's; closes them.

    Attributes:
        uids: of the process: real, effective, saved, file system.
        files: by path as the process sees it; or why there is no socket there.
    """

    def __init__(self, uids: list[int], files: dict[str, int | Obstacle]) -> None:
        self.uids, self.files = uids, files

    def __exit__(self, *_: object) -> None:
        for file in self.files.values():
            if isinstance(file, int):
                os.close(file)


_OBSTACLES: dict[str, type[AgentClientError]] = {
    "missing": NoAgentError,
    "wrong": WrongPeerError,
    "closed": AgentClientError,
}


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


def connect(procfs: ProcFs, pid: int, start_ticks: int, timeout_s: float) -> socket.socket:
    """Connect to the agent of a process.

    Paths are those that the process sees, so that one in a container is found too.

    Raises:
        NoAgentError: there is no socket of it.
        StaleSocketError: there is one, and nobody listens.
        WrongPeerError: somebody else listens, or a symbolic link is in the way.
        AgentTimeoutError: the agent does not take the connection.
        AgentClientError: the process is gone, or may not be looked at.
    """
    with _candidates(procfs, pid, start_ticks) as found:
        connection = _first(found, pid, timeout_s)
    # The id that the kernel names may have been another process' by now.
    if not _is_alive(procfs, pid, start_ticks):
        connection.close()
        raise NoAgentError(f"Process {pid} has ended.")
    return connection


def find_socket(procfs: ProcFs, pid: int, start_ticks: int) -> SocketId | None:
    """The file that an agent of a process would be reached at; None without one.

    Nothing is connected to: it only tells whether a description of the agent may be out of date.
    """
    try:
        found = _candidates(procfs, pid, start_ticks)
    except AgentClientError:
        return None
    with found:
        for path, file in found.files.items():
            if isinstance(file, int):
                status = os.fstat(file)
                return SocketId(path, status.st_dev, status.st_ino, status.st_ctime_ns)
    return None


def _candidates(procfs: ProcFs, pid: int, start_ticks: int) -> _Candidates:
    """Where the socket of a process may be.

    Raises:
        AgentClientError: the process is gone, or may not be looked at.
    """
    try:
        uids, own_pid = _who(procfs.read(f"{pid}/status"))
        variables = ask_environment(procfs, pid, start_ticks, [FOLDER_VARIABLE, RUNTIME_VARIABLE])
        folders = list_folders(variables, uids[1])
        paths = [f"{folder}/{own_pid}.sock" for folder in folders]
        files = open_sockets(procfs, pid, start_ticks, paths)
    except NoAnswerError as error:
        raise AgentClientError(str(error)) from error
    except (OSError, UnreadableError) as error:
        if isinstance(error, PermissionError) or getattr(error, "number", 0) == errno.EACCES:
            raise AgentClientError(
                f"Process {pid} belongs to another user: run the collector as root."
            ) from error
        raise NoAgentError(f"Process {pid} has ended.") from error
    return _Candidates(uids, dict(zip(paths, files, strict=True)))


def _first(found: _Candidates, pid: int, timeout_s: float) -> socket.socket:
    """The first path at which the right process listens; else the most telling of the errors."""
    failure: AgentClientError = NoAgentError(
        f"Process {pid} has no agent: there is no {' or '.join(found.files)}."
    )
    for path, file in found.files.items():
        try:
            return _connect_at(file, path, pid, found.uids, timeout_s)
        except NoAgentError:
            continue
        except AgentClientError as error:
            if isinstance(failure, NoAgentError):
                failure = error
    raise failure


def _connect_at(
    file: int | Obstacle, path: str, pid: int, uids: list[int], timeout_s: float
) -> socket.socket:
    if not isinstance(file, int):
        raise _OBSTACLES[file.kind](file.text)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.settimeout(timeout_s)
        # By its descriptor: what lies at the path may have been exchanged since.
        connection.connect(f"/proc/self/fd/{file}")
        _check_peer(connection, path, pid, uids)
    except (TimeoutError, BlockingIOError) as error:
        connection.close()
        raise AgentTimeoutError(f"The agent at {path} does not accept connections.") from error
    except ConnectionRefusedError as error:
        connection.close()
        raise StaleSocketError(
            f"No process listens at {path}: a program that has ended left it behind."
        ) from error
    except OSError as error:
        connection.close()
        raise AgentClientError(f"Cannot connect to {path}: {error.strerror}.") from error
    except AgentClientError:
        connection.close()
        raise
    return connection


def _check_peer(connection: socket.socket, path: str, pid: int, uids: list[int]) -> None:
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    peer, uid, _ = _CREDENTIALS.unpack(answer)
    if peer != pid:
        raise WrongPeerError(f"{path} is served by process {peer}, not {pid}.")
    if uid not in uids:
        raise WrongPeerError(f"{path} is served by user {uid}, not by {uids[1]}, who runs {pid}.")


def _is_alive(procfs: ProcFs, pid: int, start_ticks: int) -> bool:
    try:
        return parse_stat(procfs.read(f"{pid}/stat", 4096)).start_ticks == start_ticks
    except OSError:
        return False


def _who(status: bytes) -> tuple[list[int], int]:
    """User ids of a process (real, effective, saved, file system), and its id as itself sees it."""
    lines = dict(line.split(b":", 1) for line in status.splitlines() if b":" in line)
    try:
        return [int(uid) for uid in lines[b"Uid"].split()], int(lines[b"NSpid"].split()[-1])
    except (KeyError, ValueError, IndexError) as error:
        raise AgentClientError("The status file of the process cannot be parsed.") from error
