"""TCP ports that processes listen on, from outside: sockets of /proc/net/tcp, found in fds."""

import os
from collections.abc import Iterable

from tidscope_collector.procfs.files import ProcFs

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
    found: set[int] = set()
    try:
        folder = os.open(procfs.path(f"{pid}/fd"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return found
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    link = os.readlink(entry.name, dir_fd=folder)
                except FileNotFoundError:
                    continue
                if link.startswith("socket:["):
                    port = port_of_socket.get(int(link[8:-1]))
                    if port is not None:
                        found.add(port)
    except OSError:
        pass
    finally:
        os.close(folder)
    return found
