"""Asks only for threads that may have run; of the others the last row stands."""

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.discovery.task_folder import ThreadLister
from tidscope_collector.sampling.readings import join, pick
from tidscope_collector.threads.matching import rows_of_both
from tidscope_collector.threads.reading import ExitDecoder, Reading, ThreadReader


class IdleSkippingReader:
    """A `ProcessReader`: lists the threads and reads those that may have run.

    Args:
        lister: tells which threads have not run since; closed with it.
        reader: of their counters; closed with it.
    """

    def __init__(self, lister: ThreadLister, reader: ThreadReader) -> None:
        self._lister = lister
        self._reader = reader
        self._last: Reading | None = None
        self.exits = reader if isinstance(reader, ExitDecoder) else None
        self.listed: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        self.asked = 0

    @property
    def fields(self) -> tuple[str, ...]:
        return self._reader.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._reader.absent

    def close(self) -> None:
        """Close lister and reader."""
        self._lister.close()
        self._reader.close()

    def keep(self, reading: Reading) -> Reading:
        """Let rows of the last reading that stand be taken from here; the same, in other arrays."""
        self._last = reading
        return reading

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        before = time.monotonic_ns()
        threads = self._lister.list_threads()
        self.listed = threads.tid
        if threads.idle is None:
            self.asked = len(threads.tid)
            return self._reader.read(threads.tid)
        last, self._last = self._last, None  # nothing stands if this reading fails
        ask = np.ones(len(threads.tid), np.bool_)
        kept: Reading | None = None
        if last is not None:
            here, there = rows_of_both(threads.tid, last.tid)
            rows = np.arange(len(last.tid))[there]
            still = threads.idle[here]
            ask[here] = ~still
            if still.any():
                kept = pick(last, rows[still])
        self.asked = int(ask.sum())
        fresh = self._reader.read(threads.tid[ask])
        # The buffer that ids may stand in is the reader's, and written over by the next query.
        fresh = replace(
            fresh,
            tid=fresh.tid.copy(),
            seen_ns=np.full(len(fresh.tid), time.monotonic_ns(), np.int64),
        )
        if kept is None:
            self._last = fresh
        else:
            kept = replace(kept, seen_ns=np.full(len(kept.tid), before, np.int64))
            self._last = _in_order(join([fresh, kept]), threads.tid)
        return self._last


def _in_order(reading: Reading, tids: npt.NDArray[np.uint32]) -> Reading:
    """The rows of a reading in the order of these ids, some of which may have none."""
    _, rows = rows_of_both(tids, reading.tid)
    return reading if isinstance(rows, slice) else pick(reading, rows)
