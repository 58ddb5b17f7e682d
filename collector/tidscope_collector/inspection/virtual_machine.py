"""Attach socket of a Java virtual machine: finding it, opening it safely, requesting a thread dump.

A HotSpot machine listens on /tmp/.java_pidN of its own file system after a tool has requested it.
The request is a file /tmp/.attach_pidN of its user or root, and SIGQUIT
(src/hotspot/os/posix/attachListener_posix.cpp). That signal kills programs that do not catch it,
and must not reach programs that catch it for another reason: see `obstacle`.
"""

import os
import re
import signal
import socket
import time
from typing import NamedTuple

from tidscope_collector.inspection.agent_sockets import SocketTroubleError, connect_first
from tidscope_collector.inspection.opened_process import MAPS_BYTES
from tidscope_collector.inspection.process_files import open_file, read_beginning, thread_ids
from tidscope_collector.procfs.process import namespace_uid, read_id_map

DUMP_BYTES = 16 << 20
OPEN_S = 3.0
"""Timeout for opening a socket, in seconds; it normally takes some hundredths of a second."""
CONNECT_S = 1.0
"""Timeout for connecting to an attach socket, in seconds."""

_STATUS_BYTES = 8192
_POLL_S = 0.02
_OWN_PID = re.compile(rb"^NSpid:.*?(\d+)$", re.MULTILINE)
_USERS = re.compile(rb"^Uid:\s+(\d+)\s+(\d+)", re.MULTILINE)
_CAUGHT = re.compile(rb"^SigCgt:\s+([0-9a-f]+)$", re.MULTILINE)
_FOLDER = "tmp"
_SOCKET = "/".join(("", _FOLDER, ".java_pid{}"))
_TRIGGER = ".attach_pid{}"
_ASK_FOR_DUMP = b"1\0threaddump\0\0\0\0"
"""Protocol version, command and three arguments; -l is absent because it walks the heap."""


class Machine(NamedTuple):
    """A process that may be a virtual machine.

    Attributes:
        pid: process ID.
        folder: descriptor of its folder in /proc.
        root: descriptor of its root folder.
        own_pid: process ID in its own namespace.
        uids: real and effective user ID.
        status: content of /proc/PID/status.
    """

    pid: int
    folder: int
    root: int
    own_pid: int
    uids: tuple[int, int]
    status: bytes


def look_at(pid: int, folder: int) -> Machine:
    """Gather what connecting to a process requires.

    Args:
        pid: process ID.
        folder: descriptor of its folder in /proc.

    Raises:
        OSError: the process has ended, or is inaccessible.
        ValueError: the status is invalid.
    """
    status = read_beginning(open_file(folder, "status"), _STATUS_BYTES)
    root = os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    own, users = _OWN_PID.search(status), _USERS.search(status)
    if own is None or users is None:
        raise ValueError("its status makes no sense")
    return Machine(pid, folder, root, int(own[1]), (int(users[1]), int(users[2])), status)


def connect(machine: Machine, *, may_open: bool = False) -> socket.socket:
    """Connect to an attach socket.

    Args:
        machine: machine from `look_at`.
        may_open: True if the machine may be asked to open a closed socket.

    Raises:
        SocketTroubleError: no connection could be made; the text says why.
    """
    path = _SOCKET.format(machine.own_pid)
    try:
        made = connect_first(machine.root, [path], machine.pid, machine.uids, CONNECT_S)
    except SocketTroubleError as error:
        # A stale socket of an earlier process with this ID also blocks the machine itself.
        if error.trouble != "none" or not may_open:
            raise
        why_not = obstacle(machine)
        if why_not:
            raise SocketTroubleError("other", why_not) from error
        _open(machine, path)
        made = connect_first(machine.root, [path], machine.pid, machine.uids, CONNECT_S)
    # A confined child may not change the timeout later.
    made.settimeout(None)
    return made


def ask_for_dump(connection: socket.socket) -> str | None:
    """Return a thread dump, as jcmd PID Thread.print prints it; None if refused."""
    os.write(connection.fileno(), _ASK_FOR_DUMP)
    dump = read_beginning(connection.fileno(), DUMP_BYTES)
    return dump[2:].decode("utf-8", "replace") if dump.startswith(b"0\n") else None


def own_tids(machine: Machine) -> dict[int, int]:
    """Return our thread IDs by the IDs that a process in another PID namespace sees.

    Empty if the namespace is the same.
    """
    found: dict[int, int] = {}
    if machine.own_pid == machine.pid:
        return found
    for name in thread_ids(machine.folder):
        status = open_file(machine.folder, f"task/{name}/status")
        own = _OWN_PID.search(read_beginning(status, _STATUS_BYTES))
        if status >= 0:
            os.close(status)
        if own is not None:
            found[int(own[1])] = name
    return found


def obstacle(machine: Machine) -> str:
    """Return why a machine must not be asked to open its socket; empty if it may."""
    caught = _CAUGHT.search(machine.status)
    if caught is None or not int(caught[1], 16) >> (signal.SIGQUIT - 1) & 1:
        return "It does not catch SIGQUIT: it is still starting, or no virtual machine."
    maps = read_beginning(open_file(machine.folder, "maps"), 16 * MAPS_BYTES)
    if b"/libjvm.so" not in maps or b"/libj9vm" in maps:
        return "It is no HotSpot virtual machine."
    command = read_beginning(open_file(machine.folder, "cmdline"), MAPS_BYTES)
    if b"-XX:+DisableAttachMechanism" in command:
        return "It runs with -XX:+DisableAttachMechanism."
    # The request file must belong to the machine's user or root, as the machine sees them.
    own = os.geteuid()
    users = read_beginning(open_file(machine.folder, "uid_map"), _STATUS_BYTES)
    ranges = read_id_map(users.decode("ascii", "replace"))
    inside = namespace_uid(own, ranges)
    mapped = any(one.outside <= own < one.outside + one.length for one in ranges)
    if own != machine.uids[1] and not (mapped and (own if inside is None else inside) == 0):
        return "It runs in a user namespace in which the collector's user is unknown."
    return ""


def _open(machine: Machine, path: str) -> None:
    """Ask a machine to open its socket, and wait until it has.

    Raises:
        SocketTroubleError: it does not open its socket, or must not be asked.
    """
    trigger = _TRIGGER.format(machine.own_pid)
    try:
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        place = os.open(_FOLDER, flags, dir_fd=machine.root)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(trigger, flags, 0o600, dir_fd=place))
    except OSError as error:
        raise SocketTroubleError(
            "other", f"Its attach socket cannot be asked for: {error.strerror}."
        ) from error
    try:
        process = os.pidfd_open(machine.pid)
        # The folder is bound to the process: if it is alive now, the ID was never recycled.
        os.close(os.open("stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=machine.folder))
        signal.pidfd_send_signal(process, signal.SIGQUIT)
        deadline = time.monotonic() + OPEN_S
        while time.monotonic() < deadline:
            try:
                os.stat(path.rpartition("/")[2], dir_fd=place, follow_symlinks=False)
            except FileNotFoundError:
                time.sleep(_POLL_S)
            else:
                return
    except OSError as error:
        raise SocketTroubleError(
            "other", f"It cannot be asked to open its attach socket: {error.strerror}."
        ) from error
    finally:
        os.unlink(trigger, dir_fd=place)
    raise SocketTroubleError("timeout", f"It did not open its attach socket in {OPEN_S:.0f} s.")
