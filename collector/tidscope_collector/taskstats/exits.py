"""The totals of threads that exit, and the exact number of those that were lost.

The kernel sends a record for each exiting thread to whoever registered for its CPU. One socket a
CPU makes the sequence numbers on it contiguous: a gap is the exact number of lost records.
Source: kernel/taskstats.c (taskstats_exit, prepare_reply: one counter a CPU).
"""

import errno
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tidscope_collector.taskstats.columns import member
from tidscope_collector.taskstats.datagrams import Slots
from tidscope_collector.taskstats.link import Kernel, TaskstatsUnavailableError, open_socket
from tidscope_collector.taskstats.messages import (
    ATTR_DEREGISTER_CPUMASK,
    ATTR_HEADER,
    ATTR_REGISTER_CPUMASK,
    command,
    error_code,
)

EXIT_BUFFER_BYTES = 64 * 1024 * 1024
_BATCH = 256


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
        ended: process ids whose last thread exited.
        before_ns: CLOCK_MONOTONIC before the drain.
        lost: records lost since the drain before, exact.
    """

    words: npt.NDArray[np.uint64]
    ended: frozenset[int]
    before_ns: int
    lost: int


class ExitListener:
    """One socket a CPU.

    Raises:
        TaskstatsUnavailableError: the kernel refused to register us.
    """

    def __init__(self, kernel: Kernel, cpus: list[int]) -> None:
        self._kernel = kernel
        self._lead = -kernel.payload % 8
        self._single = kernel.payload + kernel.layout.length
        # Behind the thread's record the last one of a process has the process' record.
        self._double = self._single + (kernel.payload - 20) + kernel.layout.length
        stride = -(-(self._lead + self._double + 64) // 64) * 64
        self._slots = Slots(_BATCH, stride, self._lead)
        self._sockets: dict[int, socket.socket] = {}
        self._next: dict[int, int | None] = {}
        self.received = 0
        self.lost = 0
        self.malformed = 0
        try:
            for cpu in cpus:
                self._sockets[cpu] = open_socket(EXIT_BUFFER_BYTES)
                self._next[cpu] = None
                self._register(cpu, ATTR_REGISTER_CPUMASK)
                self._sockets[cpu].setblocking(False)
        except OSError as error:
            self.close()
            raise TaskstatsUnavailableError(
                f"exit totals of threads are not to be had: {os.strerror(error.errno or 0)}; they "
                "need the initial PID and network namespaces and CAP_NET_ADMIN"
            ) from error

    def _register(self, cpu: int, attribute: int) -> None:
        link = self._sockets[cpu]
        link.settimeout(2)
        link.send(command(self._kernel.family, attribute, f"{cpu}\0".encode(), 1))
        while True:
            code = error_code(link.recv(64 * 1024))
            if code is not None:
                break
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

    def drain(self) -> Exits:
        """Take all records that are there.

        Raises:
            OSError: a socket failed.
        """
        before = time.monotonic_ns()
        parts: list[npt.NDArray[np.uint64]] = []
        ended: set[int] = set()
        lost = 0
        for cpu, link in self._sockets.items():
            while True:
                try:
                    got = self._slots.receive(link.fileno(), 0, _BATCH)
                except OSError as error:
                    if error.errno != errno.ENOBUFS:
                        raise
                    continue  # how many were lost, the next sequence number tells
                if not got:
                    break
                lost += self._take(cpu, got, parts, ended)
                if got < _BATCH:
                    break
        width = self._kernel.layout.length // 8
        words = np.concatenate(parts) if parts else np.empty((0, width), np.uint64)
        self.received += len(words)
        self.lost += lost
        return Exits(words, frozenset(ended), before, lost)

    def _take(
        self, cpu: int, got: int, parts: list[npt.NDArray[np.uint64]], ended: set[int]
    ) -> int:
        slots, lead, layout = self._slots, self._lead, self._kernel.layout
        lengths = slots.lengths[:got]
        head = slots.halves[:got, lead // 4 :]
        good = ((lengths == self._single) | (lengths == self._double)) & ~slots.foreign(0, got)
        good &= (head[:, 1] & 0xFFFF) == self._kernel.family
        words = slots.words[:got, (lead + self._kernel.payload) // 8 :]
        words = words[:, : layout.length // 8]
        good &= (words[:, 0] & np.uint64(0xFFFF)) == layout.version
        self.malformed += got - int(good.sum())
        if not good.any():
            return 0
        # fancy indexing copies: the slots are used again
        parts.append(words[good])
        sequence = head[good, 2].astype(np.int64)
        expected = self._next[cpu]
        first = sequence[0] if expected is None else expected
        lost = int((sequence[-1] - first + 1) % 2**32) - len(sequence)
        self._next[cpu] = int(sequence[-1] + 1) % 2**32
        at = (lead + self._single + ATTR_HEADER.size + ATTR_HEADER.size) // 4
        last = good & (lengths == self._double)
        ended.update(int(pid) for pid in slots.halves[:got][last, at])
        return max(lost, 0)

    def own_member(self, exits: Exits, name: str) -> npt.NDArray[np.uint32]:
        """A 32-bit member of the records, uint32[n]."""
        return member(exits.words, self._kernel.layout, name)
