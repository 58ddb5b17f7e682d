"""Paths of an agent's socket, and a connection to it that nobody can divert.

The collector may connect to no Unix socket itself: a child does, which hands the connection over;
see `foreign.agent_sockets`.
"""

import errno
import socket
from collections.abc import Mapping
from typing import NamedTuple

from tidscope_collector.agent.errors import (
    AgentClientError,
    AgentTimeoutError,
    NoAgentError,
    StaleSocketError,
    WrongPeerError,
)
from tidscope_collector.foreign.agent_sockets import SocketId
from tidscope_collector.foreign.reader import (
    NoAnswerError,
    NotConnectedError,
    UnreadableError,
    ask_agent_socket,
    ask_environment,
    connect_agent,
)
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import parse_stat

FOLDER_VARIABLE = "TIDSCOPE_AGENT_DIR"
RUNTIME_VARIABLE = "XDG_RUNTIME_DIR"
SYSTEM_FOLDER = "/run/tidscope"
_ERRORS = {
    "none": NoAgentError,
    "stale": StaleSocketError,
    "wrong-peer": WrongPeerError,
    "timeout": AgentTimeoutError,
    "other": AgentClientError,
}


class _Candidates(NamedTuple):
    """Paths below the root of a process, and whose process it is."""

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
    found = _candidates(procfs, pid, start_ticks)
    try:
        connection = connect_agent(procfs, pid, start_ticks, found.paths, found.uids, timeout_s)
    except NotConnectedError as error:
        raise _ERRORS[error.trouble](str(error)) from error
    except UnreadableError as error:
        raise _unreadable(pid, error.number) from error
    except NoAnswerError as error:
        raise AgentTimeoutError(str(error)) from error
    # The id that the kernel names may have been another process' by now.
    if not _is_alive(procfs, pid, start_ticks):
        connection.close()
        raise NoAgentError(f"Process {pid} has ended.")
    connection.settimeout(timeout_s)
    return connection


def find_socket(procfs: ProcFs, pid: int, start_ticks: int) -> SocketId | None:
    """The file that an agent of a process would be reached at; None without one.

    Nothing is connected to: it only tells whether a description of the agent may be out of date.
    """
    try:
        found = _candidates(procfs, pid, start_ticks)
        return ask_agent_socket(procfs, pid, start_ticks, found.paths)
    except (AgentClientError, UnreadableError, NoAnswerError):
        return None


def _candidates(procfs: ProcFs, pid: int, start_ticks: int) -> _Candidates:
    """Where to look for the socket of a process.

    Raises:
        AgentClientError: the process is gone, or may not be looked at.
    """
    try:
        uids, own_pid = _who(procfs.read(f"{pid}/status"))
        variables = ask_environment(procfs, pid, start_ticks, [FOLDER_VARIABLE, RUNTIME_VARIABLE])
    except NoAnswerError as error:
        raise AgentClientError(str(error)) from error
    except UnreadableError as error:
        raise _unreadable(pid, error.number) from error
    except OSError as error:
        raise _unreadable(pid, error.errno) from error
    folders = list_folders(variables, uids[1])
    return _Candidates(uids, [f"{folder}/{own_pid}.sock" for folder in folders])


def _unreadable(pid: int, number: int | None) -> AgentClientError:
    if number in (errno.EACCES, errno.EPERM):
        return AgentClientError(
            f"Process {pid} belongs to another user: run the collector as root."
        )
    return NoAgentError(f"Process {pid} has ended.")


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
