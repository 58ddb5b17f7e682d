"""TCP ports that processes listen on, from outside: sockets of /proc/net/tcp, found in fds."""

import os
from collections.abc import Iterable, Iterator

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat

_LISTEN = b"0A"
_TABLES = ("tcp", "tcp6")
_PIECE = 1 << 16


def listening_ports(procfs: ProcFs, pids: Iterable[int]) -> dict[int, list[int]]:
    """Ports by process, ascending; processes that listen on none, or hide it, are left out.

    Sockets of other network namespaces (containers) are found through their own processes.
    """
    pids = list(pids)
    port_of_socket = _sockets(procfs, pids)
    if not port_of_socket:
        return {}
    ports = {pid: _ports_of(procfs, pid, port_of_socket) for pid in pids}
    return {pid: sorted(found) for pid, found in ports.items() if found}


def parse_listening(table: bytes) -> dict[int, int]:
    """Port by inode of the sockets of one table that listen.

    Source: Documentation/networking/proc_net_tcp.rst; the port is hexadecimal.
    """
    found: dict[int, int] = {}
    for line in table.splitlines()[1:]:
        columns = line.split(None, 10)
        if len(columns) >= 10 and columns[3] == _LISTEN:
            found[int(columns[9])] = int(columns[1].rpartition(b":")[2], 16)
    return found


def check_port(procfs: ProcFs, pid: int, start_ticks: int, port: int) -> str:
    """Why a port of our own network namespace must not be asked in place of a process.

    Where several may listen (SO_REUSEPORT) the kernel chooses who gets a connection.

    Args:
        procfs: where processes are looked at.
        pid: the process.
        start_ticks: its start.
        port: the port.

    Returns:
        The reason; empty if all that listen on the port are the process'.
    """
    refusal = _elsewhere(procfs, pid, start_ticks, port)
    if refusal:
        return refusal
    left = {inode for inode, found in _tables(procfs, f"{pid}/net").items() if found == port}
    if not left:
        return f"Nobody listens on port {port}."
    # Descriptors come in ascending order, and a server opens early what it listens on.
    for inode in _sockets_of(procfs, pid):
        left.discard(inode)
        if not left:
            return ""
    return f"Port {port} belongs to another process than {pid}."


def _elsewhere(procfs: ProcFs, pid: int, start_ticks: int, port: int) -> str:
    """Why no port of ours is this process', whoever listens; or empty."""
    try:
        started = parse_stat(procfs.read(f"{pid}/stat", 4096)).start_ticks
        own, its = (procfs.link(f"{who}/ns/net") for who in ("self", pid))
    except (OSError, ValueError) as error:
        return f"Process {pid} may not be looked at, or has ended: {error}."
    if started != start_ticks:
        return f"Process {pid} has ended."
    if own != its:
        return (
            f"Process {pid} is in another network namespace than the collector: port {port} is "
            "another one here. Run a collector in that container, or share its network."
        )
    return ""


def _sockets(procfs: ProcFs, pids: Iterable[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    seen: set[str] = set()
    for pid in pids:
        try:
            namespace = procfs.link(f"{pid}/ns/net")
        except OSError:
            continue
        if namespace not in seen:
            seen.add(namespace)
            found |= _tables(procfs, f"{pid}/net")
    # Where no namespace may be looked at, its own is still known.
    return found or _tables(procfs, "net")


def _tables(procfs: ProcFs, folder: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for table in _TABLES:
        try:
            found |= parse_listening(_listening_part(procfs.path(f"{folder}/{table}")))
        except OSError:
            continue
    return found


def _listening_part(path: str) -> bytes:
    """The start of a table: the kernel lists what listens first, and connections can be many."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        table = b""
        while piece := os.read(file, _PIECE):
            table += piece
            whole = table[: table.rfind(b"\n")]
            last = whole[whole.rfind(b"\n") + 1 :].split(None, 4)
            if len(last) > 3 and last[3] not in (_LISTEN, b"st"):
                break
        return table
    finally:
        os.close(file)


def _ports_of(procfs: ProcFs, pid: int, port_of_socket: dict[int, int]) -> set[int]:
    return {port_of_socket[inode] for inode in _sockets_of(procfs, pid) if inode in port_of_socket}


def _sockets_of(procfs: ProcFs, pid: int) -> Iterator[int]:
    """Inodes of the sockets that a process has open; none of one that hides them."""
    try:
        folder = os.open(procfs.path(f"{pid}/fd"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    link = os.readlink(entry.name, dir_fd=folder)
                except FileNotFoundError:
                    continue
                if link.startswith("socket:["):
                    yield int(link[8:-1])
    except OSError:
        pass
    finally:
        os.close(folder)
