"""Reads many threads with few system calls.

Requests go out in batches, one system call each; replies come back with recvmmsg into one buffer,
and are decoded as one array. Cost: about a microsecond of CPU a thread, nearly all in the kernel.
"""

import errno
import time

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.reading import Reading
from tidscope_collector.taskstats.columns import Columns, member
from tidscope_collector.taskstats.datagrams import Slots
from tidscope_collector.taskstats.link import REQUEST_BUFFER_BYTES, Kernel, open_socket
from tidscope_collector.taskstats.messages import (
    ATTR_HEADER,
    ATTR_PID,
    CMD_GET,
    NLM_F_REQUEST,
    REQUEST_BYTES,
)

BATCH = 128
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
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._socket = open_socket(REQUEST_BUFFER_BYTES)
        self._socket.setblocking(False)
        self._lead = -kernel.payload % 8
        self._reply_bytes = kernel.payload + kernel.layout.length
        self._sequence = 1
        self._slots = Slots(0, 8, 0)
        self._requests = np.zeros(0, _REQUEST)
        self._grow(2 * BATCH)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _grow(self, count: int) -> None:
        stride = -(-(self._lead + self._reply_bytes + 64) // 64) * 64
        self._slots = Slots(count, stride, self._lead)
        requests = np.zeros(count, _REQUEST)
        requests["length"], requests["type"] = REQUEST_BYTES, self.kernel.family
        requests["flags"], requests["command"] = NLM_F_REQUEST, CMD_GET
        requests["version"], requests["attr_type"] = 1, ATTR_PID
        requests["attr_length"] = ATTR_HEADER.size + 4
        self._requests = requests

    def query(
        self, tids: npt.NDArray[np.uint32]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Ask for threads.

        Returns:
            uint64[m, length / 8], struct taskstats of those that answered; int64[m], a moment on
            CLOCK_MONOTONIC, nanoseconds, shortly before each was read.

        Raises:
            OSError: the socket failed.
        """
        count = len(tids)
        if count > self._slots.count:
            self._grow(1 << (count - 1).bit_length())
        requests = self._requests[:count]
        requests["tid"] = tids
        # A reply is known by its sequence number, so that none of an earlier query is taken for it.
        if self._sequence + count >= 2**32:
            self._sequence = 1
        expected = np.arange(self._sequence, self._sequence + count, dtype=np.uint32)
        self._sequence += count
        requests["sequence"] = expected
        wire = requests.view(np.uint8).data
        before = np.empty(count, np.int64)
        slots, descriptor = self._slots, self._socket.fileno()
        got = 0
        for start in range(0, count, BATCH):
            end = min(start + BATCH, count)
            before[start:end] = time.monotonic_ns()
            self._socket.send(wire[start * REQUEST_BYTES : end * REQUEST_BYTES])
            while got < end:
                try:
                    more = slots.receive(descriptor, got, end - got)
                except OSError as error:
                    if error.errno != errno.ENOBUFS:
                        raise
                    continue
                if not more:
                    break
                got += more
        return self._decode(got, expected, tids, before)

    def _decode(
        self,
        got: int,
        expected: npt.NDArray[np.uint32],
        tids: npt.NDArray[np.uint32],
        before: npt.NDArray[np.int64],
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        slots, lead = self._slots, self._lead
        words = slots.words[:got, (lead + self.kernel.payload) // 8 :]
        words = words[:, : self.kernel.layout.length // 8]
        head = slots.halves[:got, lead // 4 :]
        sequence = head[:, 2]
        index = (sequence - expected[0]).astype(np.int64) if got else np.empty(0, np.int64)
        good = (
            (slots.lengths[:got] == self._reply_bytes)
            & ((head[:, 1] & 0xFFFF) == self.kernel.family)
            & (index < len(tids))
            & ~slots.foreign(0, got)
        )
        index = np.where(good, index, 0)
        layout = self.kernel.layout
        good &= (words[:, 0] & np.uint64(0xFFFF)) == layout.version
        good &= member(words, layout, "ac_pid") == tids[index] if got else good
        if good.all():
            return words, before[index]
        return words[good], before[index[good]]


class TaskstatsReader:
    """A `ThreadReader` over taskstats.

    Args:
        query: shared by all targets.
        pid: thread ids that another process has taken over meanwhile are left out (from v12 on).
        delay_accounting: whether kernel.task_delayacct is on.
        delays_from_ns: threads that started before this moment of CLOCK_MONOTONIC have delays only
            where they are not 0: they may have started before accounting was switched on.
    """

    def __init__(
        self, query: BatchQuery, pid: int, *, delay_accounting: bool, delays_from_ns: int
    ) -> None:
        self._query = query
        self._pid = pid
        self._columns = Columns(query.kernel.layout, delay_accounting=delay_accounting)
        self._delays_from_ns = delays_from_ns

    @property
    def fields(self) -> tuple[str, ...]:
        return self._columns.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._columns.absent

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        """Read these threads; those that have gone are left out."""
        words, before = self._query.query(tids)
        return self.decode(words, before)

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of structs.

        Args:
            words: uint64[n, length / 8], struct taskstats.
            before: int64[n] or one value, CLOCK_MONOTONIC shortly before they were made, ns.
        """
        layout = self._query.kernel.layout
        if "ac_tgid" in layout.offsets and len(words):
            own = member(words, layout, "ac_tgid") == self._pid
            if not own.all():
                words, before = words[own], before[own]
        counters, age_us, names = self._columns.take(words)
        start = before - age_us.astype(np.int64) * 1000
        absent = None
        if self._columns.delays.any():
            early = start < self._delays_from_ns
            if early.any():
                absent = early[:, None] & self._columns.delays[None, :] & (counters == 0)
        tids = member(words, layout, "ac_pid")
        return Reading(tids, counters, absent, start, names, age_us)
