"""The totals of threads that exit, and the exact number of those that were lost.

The kernel sends a record for each exiting thread to whoever registered for its CPU, and counts
those that it drops because the socket is full (net/netlink/af_netlink.c: netlink_overrun). One
socket a CPU shares the load, and makes the sequence numbers on each contiguous: a second account.
"""

import errno
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tidscope_collector.taskstats.columns import member
from tidscope_collector.taskstats.exit_filter import attach_filter, exit_filter
from tidscope_collector.taskstats.link import Kernel, TaskstatsUnavailableError, open_socket
from tidscope_collector.taskstats.messages import (
    ATTR_DEREGISTER_CPUMASK,
    ATTR_REGISTER_CPUMASK,
    command,
    error_code,
)
from tidscope_collector.taskstats.numbering import Numbering
from tidscope_collector.taskstats.records import RecordDecoder, Records
from tidscope_collector.taskstats.refusals import RefusalCounts

EXIT_BUFFER_BYTES = 64 * 1024 * 1024
_BATCH = 256
_MOST = 1 << 16
"""Records of a CPU in one drain; a full buffer holds fewer."""
LATE_NS = 2_000_000_000
"""How long a record may be on its way: threads are preempted between its making and its sending."""
_REGISTER_S = 2.0
_SO_MEMINFO = 55
_MEMINFO = struct.Struct("=9I")
_DROPS = 8
"""SK_MEMINFO_DROPS (include/uapi/linux/sock_diag.h), since Linux 4.12."""


def parse_cpu_list(text: str) -> list[int]:
    """The CPUs of a list such as 0-3,8.

    Raises:
        ValueError: it is no such list.
    """
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, dash, last = part.partition("-")
        cpus += range(int(first), int(last if dash else first) + 1)
    return cpus


def possible_cpus(sys: Path = Path("/sys")) -> list[int]:
    """CPUs that may exist: the kernel refuses a mask that names another (ERANGE)."""
    return parse_cpu_list((sys / "devices/system/cpu/possible").read_text())


@dataclass(frozen=True)
class Exits:
    """Exit records of one drain.

    Attributes:
        words: uint64[n, length / 8], struct taskstats of each thread.
        cpu: uint16[n], the CPU whose listener got each record.
        number: uint32[n], its sequence number.
        ended: process ids whose last thread exited.
        before_ns: CLOCK_MONOTONIC before the drain.
        lost: records lost since the drain before, exact.
        since_ns: CLOCK_MONOTONIC before the drain before; 0: there was none.
    """

    words: npt.NDArray[np.uint64]
    cpu: npt.NDArray[np.uint16]
    number: npt.NDArray[np.uint32]
    ended: frozenset[int]
    before_ns: int
    lost: int
    since_ns: int = 0


def dropped(link: socket.socket) -> int | None:
    """How many datagrams the kernel did not put into a socket, modulo 2^32; None if untold."""
    try:
        answer = link.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
    except OSError:
        return None
    return int(_MEMINFO.unpack(answer)[_DROPS]) if len(answer) == _MEMINFO.size else None


class ExitListener:
    """One socket a CPU.

    Args:
        kernel: what the probe found.
        cpus: whose exits are wanted.
        buffer_bytes: receive buffer of each socket.
        open_link: makes a socket with a receive buffer of so many bytes.
        drops: tells how many datagrams a socket has dropped, modulo 2^32, or None.

    Attributes:
        received: records so far.
        lost: records lost so far.
        numbering: the account of the sequence numbers.

    Raises:
        TaskstatsUnavailableError: the kernel refused to register us.
    """

    def __init__(
        self,
        kernel: Kernel,
        cpus: Sequence[int],
        buffer_bytes: int = EXIT_BUFFER_BYTES,
        open_link: Callable[[int], socket.socket] = open_socket,
        drops: Callable[[socket.socket], int | None] = dropped,
    ) -> None:
        self._kernel = kernel
        self._decoder = RecordDecoder(kernel)
        self._slots = self._decoder.slots(_BATCH)
        self._sockets: dict[int, socket.socket] = {}
        self._drops = drops
        self._dropped: dict[int, int] = {}
        self._drops_known = True
        self._missing_before = 0
        self._missing_reported = 0
        self._filter: bytes | None = None
        self._drained_ns = 0
        self._poll = select.epoll()
        self._nothing = Exits(
            np.empty((0, kernel.layout.length // 8), np.uint64),
            np.empty(0, np.uint16),
            np.empty(0, np.uint32),
            frozenset(),
            0,
            0,
        )
        self.received = 0
        self.lost = 0
        self.numbering = Numbering()
        try:
            for cpu in cpus:
                link = open_link(buffer_bytes)
                self._sockets[cpu] = link
                self._register(link, cpu)
                link.setblocking(False)
                count = drops(link)
                self._drops_known = count is not None
                self._dropped[cpu] = count or 0
                self._poll.register(link.fileno(), select.EPOLLIN)
        except OSError as error:
            self.close()
            raise TaskstatsUnavailableError(
                f"exit records are not available: {error}; they need the initial PID and "
                "network namespaces and CAP_NET_ADMIN"
            ) from error

    @property
    def refused(self) -> RefusalCounts:
        """Messages that were no record, by reason."""
        return self._decoder.refused

    def _register(self, link: socket.socket, cpu: int) -> None:
        link.settimeout(_REGISTER_S)
        link.send(command(self._kernel.family, ATTR_REGISTER_CPUMASK, f"{cpu}\0".encode(), 1))
        code = None
        while code is None:  # records may come before the answer
            code = error_code(link.recv(64 * 1024))
        if code:
            raise OSError(code, os.strerror(code))

    def close(self) -> None:
        """Deregister and close."""
        for cpu, link in self._sockets.items():
            try:
                link.setblocking(False)
                link.send(
                    command(self._kernel.family, ATTR_DEREGISTER_CPUMASK, f"{cpu}\0".encode(), 2)
                )
            except OSError:
                pass
            link.close()
        self._sockets.clear()
        self._poll.close()

    def keep_only(self, processes: Collection[int] | None) -> None:
        """Let the kernel leave out the records of other processes, as far as it can.

        It can where records say whose they are, and where lost ones are not counted by their
        numbers, which skip those that are left out.

        Args:
            processes: ids of those whose records are wanted; None: all.

        Raises:
            OSError: the kernel refused.
        """
        wanted = None
        if processes is not None and self._drops_known:
            wanted = exit_filter(self._kernel, processes)
        if wanted != self._filter:
            for link in self._sockets.values():
                attach_filter(link, wanted)
            self._filter = wanted

    @property
    def filters(self) -> bool:
        """Whether the kernel leaves out the records of other processes now."""
        return self._filter is not None

    def drain(self) -> Exits:
        """Take all records that are there.

        Raises:
            OSError: a socket failed.
        """
        since, before = self._drained_ns, time.monotonic_ns()
        self._drained_ns = before
        # A socket that dropped a record is ready too: the kernel reports ENOBUFS on it.
        ready = {descriptor for descriptor, _ in self._poll.poll(0)}
        if not ready and self._drops_known:
            return replace(self._nothing, before_ns=before, since_ns=since)
        parts: list[tuple[int, Records]] = []
        lost = 0
        for cpu, link in self._sockets.items():
            if link.fileno() not in ready:
                continue
            parts += [(cpu, records) for records in self._empty(cpu, link.fileno())]
            # After the socket is empty: while it is not, the kernel drops without a new report.
            count = self._drops(link)
            if count is not None:
                lost += (count - self._dropped[cpu]) % 2**32
                self._dropped[cpu] = count
        if not self._drops_known:
            lost = self._missing()
        words = np.concatenate([self._nothing.words, *(part.words for _, part in parts)])
        self.received += len(words)
        self.lost += lost
        return Exits(
            words,
            np.concatenate(
                [
                    self._nothing.cpu,
                    *(np.full(len(part.words), cpu, np.uint16) for cpu, part in parts),
                ]
            ),
            np.concatenate([self._nothing.number, *(part.number for _, part in parts)]),
            frozenset().union(*(part.ended for _, part in parts)),
            before,
            lost,
            since,
        )

    def _missing(self) -> int:
        """Lost by the sequence numbers, for a kernel that does not tell what it dropped.

        A record that was only overtaken has come by the next drain.
        """
        missing = self.numbering.missing
        settled = min(missing, self._missing_before)
        self._missing_before = missing
        more = max(0, settled - self._missing_reported)
        self._missing_reported += more
        return more

    def _empty(self, cpu: int, descriptor: int) -> Iterator[Records]:
        for _ in range(0, _MOST, _BATCH):
            try:
                got = self._slots.receive(descriptor, 0, _BATCH)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                continue  # how many were lost, the kernel tells
            if got:
                self.numbering.note(cpu, self._decoder.numbers(self._slots, got))
                yield self._decoder.decode(self._slots, got)
            if got < _BATCH:
                return

    @property
    def descriptor(self) -> int:
        """It is readable when records wait, or when some were dropped."""
        return self._poll.fileno()

    def own_member(self, exits: Exits, name: str) -> npt.NDArray[np.uint32]:
        """A 32-bit member of the records, uint32[n]."""
        return member(exits.words, self._kernel.layout, name)

    def of_process(self, exits: Exits, pid: int, began_ns: int) -> Exits:
        """Leave out the records of a later process that has got the id of one that ended.

        A process that lived at the drain before is older than the time since its start up to
        there, and each record says how old the process was.

        Args:
            exits: of one drain.
            pid: id of the process.
            began_ns: CLOCK_MONOTONIC of its start.

        Returns:
            The records without those; all, where the kernel does not say whose they are.
        """
        oldest_ns = exits.since_ns - began_ns - LATE_NS
        if oldest_ns <= 0:
            return exits
        layout = self._kernel.layout
        if "ac_tgetime" not in layout.offsets:
            return exits
        age_us = exits.words[:, layout.offsets["ac_tgetime"] // 8]
        later = self.own_member(exits, "ac_tgid") == pid
        later &= age_us < np.uint64(oldest_ns // 1000)
        if not later.any():
            return exits
        kept = ~later
        return replace(
            exits, words=exits.words[kept], cpu=exits.cpu[kept], number=exits.number[kept]
        )


def exit_self_test(open_exits: Callable[[], ExitListener]) -> bool:
    """Start a thread and see whether its exit record arrives."""
    listener = open_exits()
    try:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        reported = thread.native_id
        thread.join()
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            if reported in listener.own_member(listener.drain(), "ac_pid"):
                return True
            time.sleep(0.005)  # the record is sent a moment after join returns
        return False
    finally:
        listener.close()
