"""How long threads can have waited for block I/O, by their ledgers.

The kernel's delay counts from the switch away to the wake-up of threads that sleep for I/O. The
ledger has the same sleeps, in a few states: some are of nothing else, others may be, so it bounds
the delay on both sides. What is far outside is wrong.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

from tidscope_collector.threads.reading import Reading

BLKIO = "blkio_delay_ns"
BLKIO_COUNT = "blkio_count"
DISK_STATES = tuple(
    f"state_{wait}_disk_ns" for wait in ("file_read", "file_write", "file_sync", "page_fault")
)
IO_STATES = (*DISK_STATES, "state_io_uring_ns", "state_other_call_ns", "state_other_ns")
"""Opening a file may wait for a disk, too; the ledger does not tell that from other waits there."""
TOLERANCE = 1.25
WAKE_NS = 50_000
"""The kernel's wait ends on the CPU that the thread will run on, the ledger's on the one that wakes
it: with an interrupt in between that took 18 us a wait on a virtual machine (Linux 6.18)."""
SLACK_NS = 20_000_000

Words = npt.NDArray[np.int64]


class IoBounds:
    """What threads have waited, and what they had waited before their ledgers began.

    Args:
        fields: columns of readings; without those of a ledger nothing is bounded.
        attach_ns: CLOCK_MONOTONIC from which the columns count time.
    """

    def __init__(self, fields: Sequence[str], attach_ns: int) -> None:
        self._attach_ns = attach_ns
        self._column = fields.index(BLKIO) if BLKIO in fields and STATE in fields else -1
        if self._column < 0:
            return
        self._states = [fields.index(state) for state in IO_STATES]
        self._disk = [fields.index(state) for state in DISK_STATES]
        self._count = fields.index(BLKIO_COUNT) if BLKIO_COUNT in fields else -1
        self._state, self._since = fields.index(STATE), fields.index(SINCE)
        self._numbers = np.array([STATE_FIELDS.index(state) + 1 for state in IO_STATES], np.uint64)
        none = np.empty(0, np.uint32), np.empty(0, np.int64)
        self._noted = none
        """Threads that were there lately, ascending, and what each had waited before."""
        self._noted_earlier = none
        """The same before some came or went: exit records come after that."""
        self._seen_ns = 0

    def outside(
        self, reading: Reading, now_ns: int, *, ended: bool = False
    ) -> npt.NDArray[np.bool_] | None:
        """Which threads' delays are too long or too short; None: none of them.

        Args:
            reading: of living threads, or of exit records.
            now_ns: CLOCK_MONOTONIC, not before any value of it.
            ended: it is of exit records.
        """
        if self._column < 0 or not len(reading.tid):
            return None
        counters = reading.counters
        delay = counters[:, self._column].astype(np.int64)
        waited = counters[:, self._states].sum(axis=1).astype(np.int64)
        if not ended:
            waited += self._under_way(counters, now_ns)
        before = self._known(reading) if ended else self._follow(reading, delay, waited, now_ns)
        disk = counters[:, self._disk].sum(axis=1).astype(np.int64)
        woken = WAKE_NS * counters[:, self._count].astype(np.int64) if self._count >= 0 else 0
        beyond = delay > before + TOLERANCE * waited + woken + SLACK_NS
        # Ledgers are read before counters: what the one has, the other has to have as well.
        short = delay < before + disk / TOLERANCE - SLACK_NS
        wrong = (before >= 0) & (beyond | short)
        if reading.absent is not None:
            wrong &= ~reading.absent[:, self._column] & ~reading.absent[:, self._state]
        return wrong if wrong.any() else None

    def _in_io(self, counters: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        return np.isin(counters[:, self._state], self._numbers)

    def _under_way(self, counters: npt.NDArray[np.uint64], now_ns: int) -> Words:
        since = self._attach_ns + counters[:, self._since].astype(np.int64)
        return np.where(self._in_io(counters), np.maximum(now_ns - since, 0), 0)

    def _follow(self, reading: Reading, delay: Words, waited: Words, now_ns: int) -> Words:
        """What each had waited before its ledger began; -1: that is not known yet."""
        before = self._known(reading)
        new = before < 0
        if new.any():
            # A wait for I/O that the ledger saw no beginning of will be longer than it says.
            old = (reading.counters[:, self._since] == 0) & self._in_io(reading.counters)
            before = np.where(new & ~old, np.maximum(delay - waited, 0), before)
        if new.any() or len(self._noted[0]) != len(reading.tid):
            order = np.argsort(reading.tid)
            self._noted_earlier = self._noted
            self._noted = reading.tid[order], before[order]
        self._seen_ns = now_ns
        return before

    def _known(self, reading: Reading) -> Words:
        """What was noted of these threads; -1: nothing."""
        found = np.full(len(reading.tid), -1, np.int64)
        for tids, before in (self._noted_earlier, self._noted):
            if len(tids):
                at = np.minimum(np.searchsorted(tids, reading.tid), len(tids) - 1)
                same = (tids[at] == reading.tid) & (reading.start_ns <= self._seen_ns)
                found = np.where(same, before[at], found)
        return found
