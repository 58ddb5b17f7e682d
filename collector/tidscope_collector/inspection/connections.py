"""TCP connections whose bytes the other side has not taken, and the processes at both ends."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tidscope_collector.inspection.ports import (
    MAX_DESCRIPTORS,
    TABLES,
    one_of_each_namespace,
    readable_host,
    sockets_of,
)
from tidscope_collector.procfs.files import ProcFs

FULL_BYTES = 8192
"""Minimum bytes of a queue that keeps its sender waiting: the smallest buffers are of 16 KiB, and a
sender waits while two thirds of its buffer are taken."""
MAX_TABLE = 1 << 24
"""Maximum size of a table that is read, about 100,000 connections; further ones are left out."""
_ESTABLISHED = b" 01 "
_MAPPED = b"0000000000000000FFFF0000"
"""Beginning of an IPv4 address in a table of IPv6."""


class Connection(NamedTuple):
    """One side of an established connection.

    Attributes:
        inode: inode of the socket, which descriptors of processes name.
        local: address and port as in the table, without `_MAPPED`; the other side's `remote`.
        remote: the other side's.
        unsent: bytes that the other side has not confirmed.
    """

    inode: int
    local: bytes
    remote: bytes
    unsent: int

    @property
    def other_host(self) -> str:
        """Address of the other side, without its port."""
        return readable_host(self.remote.partition(b":")[0])


class Reader(NamedTuple):
    """A process that reads too slowly, and the process that sends to it.

    Attributes:
        inode: inode of the sender's socket.
        pid: the sender.
        address: address of the reader, without its port.
        peer_pid: the reader; 0 if it is on another host, or in another network namespace.
        peer: its name.
    """

    inode: int
    pid: int
    address: str
    peer_pid: int
    peer: str


def parse_connections(table: bytes) -> Iterator[Connection]:
    """Yield the established connections of a table.

    Source: Documentation/networking/proc_net_tcp.rst. `tx_queue` is write_seq - snd_una
    (net/ipv4/tcp_ipv4.c, get_tcp4_sock). Lines of another form are left out, and one that was cut.
    """
    for line in table[: table.rfind(b"\n") + 1].splitlines()[1:]:
        # Most connections of a busy host have ended, and wait for late packets.
        if _ESTABLISHED not in line:
            continue
        columns = line.split(None, 10)
        if len(columns) < 10 or columns[3] != _ESTABLISHED.strip():
            continue
        local, remote = (each.removeprefix(_MAPPED) for each in columns[1:3])
        try:
            unsent = int(columns[4].partition(b":")[0], 16)
            yield Connection(int(columns[9]), local, remote, unsent)
        except ValueError:
            continue


def connections_of(procfs: ProcFs, pid: int) -> list[Connection]:
    """Return the established connections in the network namespace of a process."""
    found: list[Connection] = []
    for table in TABLES:
        try:
            found += parse_connections(procfs.read(f"{pid}/net/{table}", MAX_TABLE))
        except OSError:
            continue
    return found


def slow_readers(procfs: ProcFs, pids: Sequence[int]) -> list[Reader]:
    """Return who does not take what processes have sent, for each of their full connections.

    Args:
        procfs: root of /proc.
        pids: processes of a target; at most MAX_DESCRIPTORS descriptors of each are searched.
    """
    full: dict[int, Connection] = {}
    others: dict[int, int] = {}
    for pid in one_of_each_namespace(procfs, pids):
        found = connections_of(procfs, pid)
        by_side = {(one.local, one.remote): one.inode for one in found}
        for one in found:
            if one.unsent >= FULL_BYTES:
                full[one.inode] = one
                others[one.inode] = by_side.get((one.remote, one.local), 0)
    owners = {inode: pid for pid, inode in _owned(procfs, pids, full)}
    wanted = {others[inode] for inode in owners} - {0}
    peers = {inode: pid for pid, inode in _owned(procfs, procfs.pids(), wanted)} if wanted else {}
    return [
        Reader(inode, pid, full[inode].other_host, peer, _name(procfs, peer))
        for inode, pid in owners.items()
        for peer in (peers.get(others[inode], 0),)
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
