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
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tidscope_collector.taskstats.columns import member
from tidscope_collector.taskstats.datagrams import Slots
from tidscope_collector.taskstats.link import Kernel, TaskstatsUnavailableError, open_socket
from tidscope_collector.taskstats.messages import (
    ATTR_DEREGISTER_CPUMASK,
    ATTR_REGISTER_CPUMASK,
    NLMSG_HEADER,
    command,
    error_code,
)
from tidscope_collector.taskstats.numbering import Numbering
from tidscope_collector.taskstats.refusals import MalformedReplyError, Refusal, Refused
from tidscope_collector.taskstats.shapes import SEQUENCE_WORD, Shape, learn

EXIT_BUFFER_BYTES = 64 * 1024 * 1024
_BATCH = 256
_MOST = 1 << 16
"""Records of a CPU in one drain; a full buffer holds fewer."""
_MOST_SHAPES = 8
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
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
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
    """

    words: npt.NDArray[np.uint64]
    cpu: npt.NDArray[np.uint16]
    number: npt.NDArray[np.uint32]
    ended: frozenset[int]
    before_ns: int
    lost: int


class _Batch:
    """Collects the parts of a drain."""

    def __init__(self, width: int) -> None:
        self.words = [np.empty((0, width), np.uint64)]
        self.cpus = [np.empty(0, np.uint16)]
        self.numbers = [np.empty(0, np.uint32)]
        self.ended: set[int] = set()


class ExitListener:
    """One socket a CPU.

    Args:
        kernel: what the probe found.
        cpus: whose exits are wanted.
        buffer_bytes: receive buffer of each socket.
        open_link: makes a socket with a receive buffer of so many bytes.

    Attributes:
        received: records so far.
        refused: messages that are no record, by reason.
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
    ) -> None:
        self._kernel = kernel
        # Two records; the headers of one are shorter than those of a reply and 64 bytes.
        most = 2 * (kernel.payload + kernel.layout.length + 64)
        self._slots = Slots(_BATCH, -(-most // 64) * 64, 0)
        self._shapes: list[Shape] = []
        self._sockets: dict[int, socket.socket] = {}
        self._dropped: dict[int, int] = {}
        self._told = True
        self._missing_before = 0
        self._missing_told = 0
        self._poll = select.epoll()
        self.received = 0
        self.lost = 0
        self.refused = Refused()
        self.numbering = Numbering()
        try:
            for cpu in cpus:
                link = open_link(buffer_bytes)
                self._sockets[cpu] = link
                self._register(link, cpu)
                link.setblocking(False)
                dropped = _drops(link)
                self._told = dropped is not None
                self._dropped[cpu] = dropped or 0
                self._poll.register(link.fileno(), select.EPOLLIN)
        except OSError as error:
            self.close()
            raise TaskstatsUnavailableError(
                f"exit totals of threads are not to be had: {error}; they need the initial PID and "
                "network namespaces and CAP_NET_ADMIN"
            ) from error

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

    def drain(self) -> Exits:
        """Take all records that are there.

        Raises:
            OSError: a socket failed.
        """
        before = time.monotonic_ns()
        batch = _Batch(self._kernel.layout.length // 8)
        # A socket that dropped a record is ready too: the kernel reports ENOBUFS on it.
        ready = {descriptor for descriptor, _ in self._poll.poll(0)}
        lost = 0
        for cpu, link in self._sockets.items():
            if link.fileno() not in ready:
                continue
            self._empty(cpu, link.fileno(), batch)
            # After the socket is empty: while it is not, the kernel drops without a new report.
            dropped = _drops(link)
            if dropped is not None:
                lost += (dropped - self._dropped[cpu]) % 2**32
                self._dropped[cpu] = dropped
        if not self._told:
            lost = self._missing()
        words = np.concatenate(batch.words)
        self.received += len(words)
        self.lost += lost
        return Exits(
            words,
            np.concatenate(batch.cpus),
            np.concatenate(batch.numbers),
            frozenset(batch.ended),
            before,
            lost,
        )

    def _missing(self) -> int:
        """Lost by the sequence numbers, for a kernel that does not tell what it dropped.

        A record that was only overtaken has come by the next drain.
        """
        missing = self.numbering.missing
        settled = min(missing, self._missing_before)
        self._missing_before = missing
        more = max(0, settled - self._missing_told)
        self._missing_told += more
        return more

    def _empty(self, cpu: int, descriptor: int, batch: _Batch) -> None:
        for _ in range(0, _MOST, _BATCH):
            try:
                got = self._slots.receive(descriptor, 0, _BATCH)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                continue  # how many were lost, the kernel tells
            if got:
                self._take(cpu, got, batch)
            if got < _BATCH:
                return

    def _take(self, cpu: int, got: int, batch: _Batch) -> None:
        slots = self._slots
        lengths, halves = slots.lengths[:got], slots.halves[:got]
        foreign = slots.foreign(0, got)
        left = ~foreign
        for slot in np.flatnonzero(foreign).tolist():
            sender, _ = slots.origin(slot)
            kind = Refusal.SENDER if sender else Refusal.CUT
            self.refused.note(kind, f"port {sender}, {int(lengths[slot])} bytes")
        numbered = left & (lengths >= NLMSG_HEADER.size)
        numbered &= (halves[:, 1] & 0xFFFF) == self._kernel.family
        self.numbering.note(cpu, halves[numbered, SEQUENCE_WORD])
        for shape in self._shapes:
            left &= ~self._gather(shape, cpu, left, batch)
        while left.any():
            slot = int(np.argmax(left))
            new = self._learn(slot)
            if new is not None:
                left &= ~self._gather(new, cpu, left, batch)
            left[slot] = False

    def _learn(self, slot: int) -> Shape | None:
        try:
            shape = learn(self._slots.datagram(slot), self._kernel.family, self._kernel.layout)
            if len(self._shapes) == _MOST_SHAPES:
                raise MalformedReplyError(Refusal.SHAPES, f"more than {_MOST_SHAPES}")
        except MalformedReplyError as error:
            self.refused.note(error.refusal, str(error))
            return None
        self._shapes.append(shape)
        return shape

    def _gather(
        self, shape: Shape, cpu: int, left: npt.NDArray[np.bool_], batch: _Batch
    ) -> npt.NDArray[np.bool_]:
        """Copy the records of one shape out of the slots; returns which they were."""
        halves, lengths = self._slots.halves[: len(left)], self._slots.lengths[: len(left)]
        chosen = left & shape.fits(lengths, halves)
        rows = np.flatnonzero(chosen)
        layout = self._kernel.layout
        at = shape.stats // 4
        words = halves[rows, at : at + layout.length // 4].view(np.uint64)
        sound = (words[:, 0] & np.uint64(0xFFFF)) == layout.version
        sound &= member(words, layout, "ac_pid") == halves[rows, shape.thread // 4]
        if not sound.all():
            bad = int(np.count_nonzero(~sound))
            self.refused.note(Refusal.IDENTITY, "in an exit record", bad)
            rows, words = rows[sound], words[sound]
        batch.words.append(words)
        batch.numbers.append(halves[rows, SEQUENCE_WORD])
        batch.cpus.append(np.full(len(rows), cpu, np.uint16))
        if shape.process is not None:
            batch.ended.update(halves[rows, shape.process // 4].tolist())
        return chosen

    def own_member(self, exits: Exits, name: str) -> npt.NDArray[np.uint32]:
        """A 32-bit member of the records, uint32[n]."""
        return member(exits.words, self._kernel.layout, name)


def _drops(link: socket.socket) -> int | None:
    """How many datagrams the kernel did not put into a socket, modulo 2^32; None if untold."""
    try:
        answer = link.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
    except OSError:
        return None
    if len(answer) < _MEMINFO.size:
        return None
    return int(_MEMINFO.unpack(answer)[_DROPS])
