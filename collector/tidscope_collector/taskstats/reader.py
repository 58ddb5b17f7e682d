"""Reads many threads with few system calls.

Requests go out in batches, one system call each; replies come back with recvmmsg into one buffer,
and are decoded as one array. Cost: about a microsecond of CPU a thread, nearly all in the kernel.
"""

import errno
import socket
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.taskstats.columns import Columns, member
from tidscope_collector.taskstats.link import REQUEST_BUFFER_BYTES, Kernel, open_socket
from tidscope_collector.taskstats.messages import (
    ATTR_HEADER,
    ATTR_PID,
    CMD_GET,
    NLM_F_REQUEST,
    REQUEST_BYTES,
)
from tidscope_collector.taskstats.refusals import Refusal, RefusalCounts
from tidscope_collector.taskstats.replies import Replies
from tidscope_collector.taskstats.shapes import Shape
from tidscope_collector.threads.reading import Reading

BATCH = 128
_SPARE = 64
"""Slots for datagrams that nobody asked for."""
_REQUEST = np.dtype(
    [
        *(("length", "u4"), ("type", "u2"), ("flags", "u2"), ("sequence", "u4"), ("port", "u4")),
        *(("command", "u1"), ("version", "u1"), ("reserved", "u2")),
        *(("attr_length", "u2"), ("attr_type", "u2"), ("tid", "u4")),
    ]
)


class BatchQuery:
    """The socket, the requests and the reply buffer; grows to the largest number of threads asked.

    Args:
        kernel: what the probe found.
        open_link: makes the socket, with a receive buffer of so many bytes.

    Attributes:
        requests: structured array, the messages of a query.
        slots: where replies are received; both are others once there are more threads.
    """

    def __init__(
        self, kernel: Kernel, open_link: Callable[[int], socket.socket] = open_socket
    ) -> None:
        self.kernel = kernel
        self._replies = Replies(kernel)
        self._socket = open_link(REQUEST_BUFFER_BYTES)
        self._socket.setblocking(False)
        self._sequence = 1
        self._grow(2 * BATCH)

    @property
    def shape(self) -> Shape | None:
        """What all good replies have in common; None before the first."""
        return self._replies.shape

    @property
    def descriptor(self) -> int:
        """Of the socket."""
        return self._socket.fileno()

    def reserve(self, count: int) -> None:
        """Make room for so many requests, and their replies."""
        if count > len(self.requests):
            self._grow(1 << (count - 1).bit_length())

    def number(self, count: int) -> int:
        """Sequence numbers for so many requests: the first of them.

        A reply is known by its number, so that none of an earlier query is taken for it.
        """
        if self._sequence + count >= 2**32:
            self._sequence = 1
        first = self._sequence
        self._sequence += count
        return first

    @property
    def refused(self) -> RefusalCounts:
        """Replies that were not what the kernel sends, and requests without any, so far."""
        return self._replies.refused

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _grow(self, count: int) -> None:
        self.slots = self._replies.slots(count + _SPARE)
        requests = np.zeros(count, _REQUEST)
        requests["length"], requests["type"] = REQUEST_BYTES, self.kernel.family
        requests["flags"], requests["command"] = NLM_F_REQUEST, CMD_GET
        requests["version"], requests["attr_type"] = 1, ATTR_PID
        requests["attr_length"] = ATTR_HEADER.size + 4
        self.requests = requests

    def query(
        self, tids: npt.NDArray[np.uint32]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Ask for threads.

        Returns:
            uint64[m, length / 8], struct taskstats of those that answered; int64[m], a moment on
            CLOCK_MONOTONIC, nanoseconds, shortly before each was read.

        Raises:
            OSError: the socket failed, or the kernel answered with another error than that a thread
                has gone.
        """
        count = len(tids)
        self.reserve(count)
        requests = self.requests[:count]
        requests["tid"] = tids
        first = self.number(count)
        requests["sequence"] = np.arange(first, first + count, dtype=np.uint32)
        wire = requests.view(np.uint8).data
        before = np.empty(count, np.int64)
        got = 0
        for start in range(0, count, BATCH):
            end = min(start + BATCH, count)
            before[start:end] = time.monotonic_ns()
            self._socket.send(wire[start * REQUEST_BYTES : end * REQUEST_BYTES])
            got = self._receive(got)
        words, index = self._replies.decode(self.slots, got, first, tids)
        return words, before[index]

    def explain(self, got: int, first: int, tids: npt.NDArray[np.uint32]) -> None:
        """Count what was refused among replies that someone else received into the slots.

        Args:
            got: how many were received; those that are still to be received are, too.
            first: sequence number of the first request.
            tids: uint32[n], what was asked.
        """
        with suppress(OSError):  # who asks again will get it again
            self._replies.decode(self.slots, self._receive(got), first, tids)

    def _receive(self, got: int) -> int:
        """Take all that is there, so that nothing is left to stand in for a later reply."""
        slots, descriptor = self.slots, self._socket.fileno()
        while True:
            if got == slots.count:
                self.refused.note(Refusal.UNASKED, "more answers than requests", _SPARE)
                got -= _SPARE
            try:
                more = slots.receive(descriptor, got, slots.count - got)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                continue  # those that were dropped are missing among the answers
            if not more:
                return got
            got += more


class TaskstatsReader:
    """A `ThreadReader` over taskstats.

    Args:
        query: shared by all targets.
        pid: thread ids that another process has taken over meanwhile are left out (from v12 on).
        delay_accounting: whether kernel.task_delayacct is on.
        network: whether the network fields of an extended struct are given.
        delays_from_ns: threads that started before this moment of CLOCK_MONOTONIC have delays only
            where they are not 0: they may have started before accounting was switched on.

    Attributes:
        pid: the process.
        columns: which words of the struct make its fields.
    """

    def __init__(
        self,
        query: BatchQuery,
        pid: int,
        *,
        delay_accounting: bool,
        delays_from_ns: int,
        network: bool = True,
    ) -> None:
        self.query = query
        self.pid = pid
        self.columns = Columns(
            query.kernel.layout, delay_accounting=delay_accounting, network=network
        )
        self._delays_from_ns = delays_from_ns

    @property
    def fields(self) -> tuple[str, ...]:
        return self.columns.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self.columns.absent

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        """Read these threads; those that have gone are left out."""
        words, before = self.query.query(tids)
        return self.decode(words, before)

    def close(self) -> None:
        """Nothing is open: the query belongs to all targets."""

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of structs.

        Args:
            words: uint64[n, length / 8], struct taskstats.
            before: int64[n] or one value, CLOCK_MONOTONIC shortly before they were made, ns.
        """
        layout = self.query.kernel.layout
        process = None
        if "ac_tgid" in layout.offsets:
            process = member(words, layout, "ac_tgid")
            own = self._is_own(process)
            if not own.all():
                words, before, process = words[own], before[own], process[own]
        counters, age_us, names = self.columns.extract(words)
        start = before - age_us.astype(np.int64) * 1000
        absent = None
        if self.columns.delays.any():
            early = start < self._delays_from_ns
            if early.any():
                absent = early[:, None] & self.columns.delays[None, :] & (counters == 0)
        tids = member(words, layout, "ac_pid")
        return Reading(tids, counters, absent, start, names, age_us, process=self._named(process))

    def _is_own(self, processes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
        """Which threads are wanted, by the ids of their processes."""
        own: npt.NDArray[np.bool_] = processes == self.pid
        return own

    def _named(self, processes: npt.NDArray[np.uint32] | None) -> npt.NDArray[np.uint32] | None:
        """What readings say of the processes of threads: nothing, as it is one."""
        return None
