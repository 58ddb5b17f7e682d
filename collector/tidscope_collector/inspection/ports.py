"""TCP ports that processes listen on, from /proc/net/tcp and descriptors of processes."""

import os
import socket
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat

LISTEN = b"0A"
TABLES = ("tcp", "tcp6")
_PIECE = 1 << 16
MAX_DESCRIPTORS = 4096
"""Maximum descriptors of a process that are searched where many processes are."""


class Listener(NamedTuple):
    """A listening socket.

    Attributes:
        inode: its inode, which descriptors of processes name.
        port: its port.
        address: its address and port, such as `127.0.0.1:80` or `[::]:80`.
        waiting: connections that wait to be accepted.
    """

    inode: int
    port: int
    address: str
    waiting: int


def listening_ports(procfs: ProcFs, pids: Iterable[int]) -> dict[int, list[int]]:
    """Return ports by process, ascending; processes without visible ports are left out.

    Sockets in other network namespaces (containers) are found through processes in them.
    """
    pids = list(pids)
    port_of_socket = {one.inode: one.port for one in listeners(procfs, pids).values()}
    if not port_of_socket:
        return {}
    ports = {pid: _ports_of(procfs, pid, port_of_socket) for pid in pids}
    return {pid: sorted(found) for pid, found in ports.items() if found}


def parse_listening(table: bytes) -> list[Listener]:
    """Return a table's listening sockets.

    Source: Documentation/networking/proc_net_tcp.rst. Addresses are hexadecimal words in the
    machine's byte order, ports and the numbers of waiting connections (`rx_queue`) hexadecimal.
    """
    found: list[Listener] = []
    for columns in sockets_in_state(table.splitlines()[1:], LISTEN):
        host, _, port = columns[1].rpartition(b":")
        waiting = int(columns[4].rpartition(b":")[2], 16)
        number = int(port, 16)
        found.append(Listener(int(columns[9]), number, f"{readable_host(host)}:{number}", waiting))
    return found


def sockets_in_state(lines: Iterable[bytes], state: bytes) -> Iterator[list[bytes]]:
    """Yield the columns of those lines of a table whose sockets are in a state, such as LISTEN."""
    for line in lines:
        # Most connections of a busy host have ended, and wait for late packets.
        if b" %b " % state not in line:
            continue
        columns = line.split(None, 10)
        if len(columns) >= 10 and columns[3] == state:
            yield columns


def readable_host(words: bytes) -> str:
    """Return the address that is written as words of 32 bits."""
    numbers = [int(words[at : at + 8], 16) for at in range(0, len(words), 8)]
    packed = struct.pack(f"={len(numbers)}I", *numbers)
    if len(packed) == 4:
        return socket.inet_ntop(socket.AF_INET, packed)
    return f"[{socket.inet_ntop(socket.AF_INET6, packed)}]"


def check_port(procfs: ProcFs, pid: int, start_ticks: int, port: int) -> str:
    """Return why a port in our network namespace must not be asked for a process.

    If several processes listen (SO_REUSEPORT), the kernel chooses who gets a connection.

    Args:
        procfs: root of /proc.
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        port: port number.

    Returns:
        The reason; empty if only this process listens on the port.
    """
    refusal = _elsewhere(procfs, pid, start_ticks, port)
    if refusal:
        return refusal
    left = {one.inode for one in sockets_in(procfs, f"{pid}/net") if one.port == port}
    if not left:
        return f"Nobody listens on port {port}."
    # Descriptors come in ascending order, and a server opens its listening sockets early.
    for inode in sockets_of(procfs, pid):
        left.discard(inode)
        if not left:
            return ""
    return f"Port {port} belongs to another process than {pid}."


def _elsewhere(procfs: ProcFs, pid: int, start_ticks: int, port: int) -> str:
    """Return why no port in our namespace belongs to this process; empty if one may."""
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


def listening_sockets(procfs: ProcFs, pids: Sequence[int]) -> list[tuple[Listener, int]]:
    """Return listening sockets with each process that has one open.

    At most MAX_DESCRIPTORS of each process are searched: servers open these sockets early.
    """
    found = listeners(procfs, pids)
    return [
        (found[inode], pid)
        for pid in pids
        for inode in sorted(found.keys() & set(sockets_of(procfs, pid, MAX_DESCRIPTORS)))
    ]


def listeners(procfs: ProcFs, pids: Iterable[int]) -> dict[int, Listener]:
    """Return listening sockets in the network namespaces of processes, by inode."""
    found: list[Listener] = []
    for pid in one_of_each_namespace(procfs, pids):
        found += sockets_in(procfs, f"{pid}/net")
    # If the namespace is inaccessible, our own is still known.
    return {one.inode: one for one in found or sockets_in(procfs, "net")}


def one_of_each_namespace(procfs: ProcFs, pids: Iterable[int]) -> Iterator[int]:
    """Yield the first process of each network namespace that may be seen."""
    seen = set[str]()
    for pid in pids:
        try:
            namespace = procfs.link(f"{pid}/ns/net")
        except OSError:
            continue
        if namespace not in seen:
            seen.add(namespace)
            yield pid


def sockets_in(procfs: ProcFs, folder: str, tables: Collection[str] = TABLES) -> list[Listener]:
    """Return listening sockets of a network namespace.

    Args:
        procfs: root of /proc.
        folder: `net` of a process in the namespace.
        tables: names of the tables that are read. The kernel goes through its connections until it
            finds one of the table's family, which may take milliseconds.
    """
    found: list[Listener] = []
    for table in tables:
        try:
            found += parse_listening(_listening_part(procfs.path(f"{folder}/{table}")))
        except OSError:
            continue
    return found


def _listening_part(path: str) -> bytes:
    """Return the start of a table: listening sockets come first, and connections can be many."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        table = b""
        while piece := os.read(file, _PIECE):
            table += piece
            whole = table[: table.rfind(b"\n")]
            last = whole[whole.rfind(b"\n") + 1 :].split(None, 4)
            if len(last) > 3 and last[3] not in (LISTEN, b"st"):
                break
        return table
    finally:
        os.close(file)


def _ports_of(procfs: ProcFs, pid: int, port_of_socket: dict[int, int]) -> set[int]:
    return {port_of_socket[inode] for inode in sockets_of(procfs, pid) if inode in port_of_socket}


def sockets_of(procfs: ProcFs, pid: int, limit: int | None = None) -> Iterator[int]:
    """Yield inodes of a process' open sockets; none if it hides them.

    Args:
        procfs: root of /proc.
        pid: process ID.
        limit: maximum descriptors that are read; None for all.
    """
    try:
        folder = os.open(procfs.path(f"{pid}/fd"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, limit):
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
