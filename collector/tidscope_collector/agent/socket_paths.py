"""A connection to an agent that nobody can divert.

The collector may connect to no Unix socket itself: a child does, which finds the socket by the id
of the process and hands the connection over; see `foreign.agent_sockets`.
"""

import errno
import socket

from tidscope_collector.agent.errors import (
    AgentClientError,
    AgentTimeoutError,
    NoAgentError,
    StaleSocketError,
    WrongPeerError,
)
from tidscope_collector.inspection.agent_sockets import SocketId
from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.reader import NotConnectedError, ask_agent_socket, connect_agent
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import parse_stat

_ERRORS = {
    "none": NoAgentError,
    "stale": StaleSocketError,
    "wrong-peer": WrongPeerError,
    "timeout": AgentTimeoutError,
    "other": AgentClientError,
}


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
    try:
        connection = connect_agent(pid, start_ticks, timeout_s)
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


def find_socket(pid: int, start_ticks: int) -> SocketId | None:
    """The file that an agent of a process would be reached at; None without one.

    Nothing is connected to: it only tells whether a description of the agent may be out of date.
    """
    try:
        return ask_agent_socket(pid, start_ticks)
    except (UnreadableError, NoAnswerError):
        return None


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
