"""Where the socket of a program's agent may be, and a connection to it that nobody can divert.

The collector is often root, and the folders belong to the program's user, who may put anything
there. So no symbolic link is followed, only a socket is connected to, and before a byte is sent
the kernel is asked who listens (SO_PEERCRED, unix(7)): it must be that very process.
"""

import errno
import os
import socket
import stat
import struct
from pathlib import PurePosixPath

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.agent.errors import (
    AgentTimeoutError,
    AgentTroubleError,
    NoAgentError,
    StaleSocketError,
    WrongPeerError,
)

FOLDER_VARIABLE = "TIDSCOPE_AGENT_DIR"
SYSTEM_FOLDER = "/run/tidscope"
_CREDENTIALS = struct.Struct("iII")


def folders(environment: bytes, uid: int) -> list[str]:
    """Where to look for a program's socket, the likeliest place first.

    Args:
        environment: of the program, as /proc/PID/environ has it.
        uid: whose program it is.
    """
    pairs = (entry.partition(b"=") for entry in environment.split(b"\0"))
    variables = {key: os.fsdecode(value) for key, _, value in pairs}
    named = variables.get(FOLDER_VARIABLE.encode(), "")
    if named:
        return [named]
    runtime = variables.get(b"XDG_RUNTIME_DIR", "")
    found = [f"{runtime}/tidscope"] if runtime.startswith("/") else []
    return list(dict.fromkeys([*found, f"/run/user/{uid}/tidscope", SYSTEM_FOLDER]))


def connect(procfs: ProcFs, pid: int, timeout_s: float) -> socket.socket:
    """Connect to the agent of a process.

    Paths are those that the process sees, so that one in a container is found too.

    Raises:
        NoAgentError: there is no socket of it.
        StaleSocketError: there is one, and nobody listens.
        WrongPeerError: somebody else listens, or a symbolic link is in the way.
        AgentTimeoutError: the agent does not take the connection.
        AgentTroubleError: the process is gone, or may not be looked at.
    """
    try:
        uids, own_pid = _who(procfs.read(f"{pid}/status"))
        places = folders(procfs.read(f"{pid}/environ", 1 << 20), uids[1])
        root = os.open(procfs.path(f"{pid}/root"), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError as error:
        raise AgentTroubleError(
            f"Process {pid} belongs to somebody else: run the collector as root."
        ) from error
    except OSError as error:
        raise NoAgentError(f"Process {pid} is gone.") from error
    try:
        return _first(root, places, f"{own_pid}.sock", pid, uids, timeout_s)
    finally:
        os.close(root)


def _first(
    root: int, places: list[str], name: str, pid: int, uids: list[int], timeout_s: float
) -> socket.socket:
    """The first place where the right process listens; else the most telling of the troubles."""
    trouble: AgentTroubleError = NoAgentError(
        f"Process {pid} has no agent: there is no {name} in {' or '.join(places)}."
    )
    for place in places:
        try:
            return _connect_at(root, f"{place}/{name}", pid, uids, timeout_s)
        except NoAgentError:
            continue
        except AgentTroubleError as error:
            if isinstance(trouble, NoAgentError):
                trouble = error
    raise trouble


def _connect_at(root: int, path: str, pid: int, uids: list[int], timeout_s: float) -> socket.socket:
    file = _open(root, path)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.settimeout(timeout_s)
        # By its descriptor: what lies at the path may have been exchanged since.
        connection.connect(f"/proc/self/fd/{file}")
        _check_peer(connection, path, pid, uids)
    except (TimeoutError, BlockingIOError) as error:
        connection.close()
        raise AgentTimeoutError(f"The agent at {path} does not take connections.") from error
    except ConnectionRefusedError as error:
        connection.close()
        raise StaleSocketError(
            f"Nobody listens at {path}: it was left by a program that has ended."
        ) from error
    except OSError as error:
        connection.close()
        raise AgentTroubleError(f"{path} cannot be connected to: {error.strerror}.") from error
    except AgentTroubleError:
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
                raise WrongPeerError(f"{path} leads upwards.")
            deeper = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=file)
            os.close(file)
            file = deeper
            kind = os.fstat(file).st_mode
            if stat.S_ISLNK(kind):
                raise WrongPeerError(f"{path} leads over a symbolic link ({part}).")
        if not stat.S_ISSOCK(kind):
            raise WrongPeerError(f"{path} is not a socket.")
    except OSError as error:
        os.close(file)
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise NoAgentError(f"There is no {path}.") from error
        raise AgentTroubleError(f"{path} cannot be opened: {error.strerror}.") from error
    except AgentTroubleError:
        os.close(file)
        raise
    return file


def _check_peer(connection: socket.socket, path: str, pid: int, uids: list[int]) -> None:
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    peer, uid, _ = _CREDENTIALS.unpack(answer)
    if peer != pid:
        raise WrongPeerError(f"At {path} listens process {peer}, not {pid}.")
    if uid not in uids:
        raise WrongPeerError(f"At {path} listens user {uid}; process {pid} is of user {uids[1]}.")


def _who(status: bytes) -> tuple[list[int], int]:
    """User ids of a process (real, effective, saved, file system), and its id as itself sees it."""
    lines = dict(line.split(b":", 1) for line in status.splitlines() if b":" in line)
    try:
        return [int(uid) for uid in lines[b"Uid"].split()], int(lines[b"NSpid"].split()[-1])
    except (KeyError, ValueError, IndexError) as error:
        raise AgentTroubleError("The kernel's account of the process cannot be read.") from error
