"""TCP connections of processes, who opened them, and the processes at both ends."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from tidscope_collector.inspection.ports import (
    LISTEN,
    MAX_DESCRIPTORS,
    TABLES,
    one_of_each_namespace,
    readable_host,
    sockets_in_state,
    sockets_of,
)
from tidscope_collector.procfs.files import ProcFs

FULL_BYTES = 8192
"""Minimum bytes of a queue that keeps its sender waiting: the smallest buffers are of 16 KiB, and a
sender waits while two thirds of its buffer are taken."""
MAX_TABLE = 1 << 24
"""Maximum size of a table that is read, about 100,000 connections; further ones are left out."""
MAX_PEERS = 2048
"""Maximum connections of a target whose other ends are searched."""
_ESTABLISHED = b"01"
_MAPPED = b"0000000000000000FFFF0000"
"""Beginning of an IPv4 address in a table of IPv6."""


class Connection(NamedTuple):
    """One side of an established connection.

    Attributes:
        inode: inode of the socket, which descriptors of processes name.
        local: address and port as in the table, without `_MAPPED`; the other side's `remote`.
        remote: the other side's.
        unsent: bytes that the other side has not confirmed.
        opened: whether this side opened it: nobody listens at its port.
    """

    inode: int
    local: bytes
    remote: bytes
    unsent: int
    opened: bool

    @property
    def other_host(self) -> str:
        """Address of the other side, without its port."""
        return readable_host(self.remote.partition(b":")[0])

    @property
    def matters(self) -> bool:
        """Whether its other end is worth knowing: it was opened from here, or is full."""
        return self.opened or self.unsent >= FULL_BYTES


class Peer(NamedTuple):
    """A connection of a process, and the process at its other end.

    Attributes:
        inode: inode of the own socket.
        pid: the process.
        opened: whether it opened the connection.
        address: address of the other end, without its port.
        peer_pid: process there; 0 if it is on another host, or in another network namespace.
        name: its name; empty if unknown.
    """

    inode: int
    pid: int
    opened: bool
    address: str
    peer_pid: int
    name: str


def parse_connections(tables: Sequence[bytes]) -> list[Connection]:
    """Return the established connections of a network namespace.

    Source: Documentation/networking/proc_net_tcp.rst. `tx_queue` is write_seq - snd_una
    (net/ipv4/tcp_ipv4.c, get_tcp4_sock). Lines of another form are left out, and one that was cut.
    """
    lines = [line for each in tables for line in each[: each.rfind(b"\n") + 1].splitlines()[1:]]
    listening = {columns[1].rpartition(b":")[2] for columns in sockets_in_state(lines, LISTEN)}
    found: list[Connection] = []
    for columns in sockets_in_state(lines, _ESTABLISHED):
        local, remote = (each.removeprefix(_MAPPED) for each in columns[1:3])
        try:
            unsent = int(columns[4].partition(b":")[0], 16)
            opened = local.rpartition(b":")[2] not in listening
            found.append(Connection(int(columns[9]), local, remote, unsent, opened))
        except ValueError:
            continue
    return found


def connections_of(procfs: ProcFs, pid: int) -> list[Connection]:
    """Return the established connections in the network namespace of a process."""
    tables: list[bytes] = []
    for table in TABLES:
        try:
            tables.append(procfs.read(f"{pid}/net/{table}", MAX_TABLE))
        except OSError:
            continue
    return parse_connections(tables)


def peers_of(procfs: ProcFs, pids: Sequence[int]) -> list[Peer]:
    """Return who is at the other end of processes' connections that matter; MAX_PEERS at most.

    Args:
        procfs: root of /proc.
        pids: processes of a target; at most MAX_DESCRIPTORS descriptors of each are searched.
    """
    those: dict[int, Connection] = {}
    others: dict[int, int] = {}
    for pid in one_of_each_namespace(procfs, pids):
        found = connections_of(procfs, pid)
        by_side = {(one.local, one.remote): one.inode for one in found}
        for one in found:
            if one.matters:
                those[one.inode] = one
                others[one.inode] = by_side.get((one.remote, one.local), 0)
    owned = islice(_owned(procfs, pids, those), MAX_PEERS)
    owners = {inode: pid for pid, inode in owned}
    wanted = {others[inode] for inode in owners} - {0}
    peers = {inode: pid for pid, inode in _owned(procfs, procfs.pids(), wanted)} if wanted else {}
    names = {pid: _name(procfs, pid) for pid in {0, *peers.values()}}
    return [
        Peer(inode, pid, one.opened, one.other_host, peer, names[peer])
        for inode, pid in owners.items()
        for one, peer in ((those[inode], peers.get(others[inode], 0)),)
    ]


def _owned(procfs: ProcFs, pids: Iterable[int], inodes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield processes with the sockets that they have open, until each was found once."""
    left = set(inodes)
    for pid in pids:
        if not left:
            return
        for inode in left.intersection(sockets_of(procfs, pid, MAX_DESCRIPTORS)):
            left.remove(inode)
            yield pid, inode


def _name(procfs: ProcFs, pid: int) -> str:
    """Return the name of a process; empty if it has ended, or is none."""
    try:
        return procfs.read(f"{pid}/comm", 64).decode(errors="replace").strip() if pid else ""
    except OSError:
        return ""
