"""Reads all threads of a process by walks, as every source gives them."""

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.compiled.library import USUAL, Compiled
from tidscope_collector.compiled.rows import (
    SteadyRows,
    bits_of_delays,
    describe_network,
    describe_rows,
)
from tidscope_collector.compiled.structs import TICK, WALK, Struct
from tidscope_collector.netacct.reader import NetworkReader
from tidscope_collector.taskstats.columns import is_delay
from tidscope_collector.threads.reading import ExitDecoder, Reading, ThreadReader
from tidscope_collector.walk.block import DELAYS, FIELDS, Columns
from tidscope_collector.walk.crosscheck import CrossCheck, Walked
from tidscope_collector.walk.walks import Walk, Walks

_ROOM = 512


class WalkReader:
    """A `ProcessReader` by walks. While threads stay the same, readings are updated in place.

    Args:
        walks: the memory of all walks.
        pid: the process.
        reader: of the same process, over taskstats: gives fields, absent ones and exit records, and
            network columns where they are counted by eBPF. Not closed with it.
        compiled: takes most samples; None: Python takes all.

    Attributes:
        ran: how many threads had new counters in the last reading in place.

    Raises:
        BpfError: the kernel refused.
    """

    def __init__(
        self, walks: Walks, pid: int, reader: ThreadReader, compiled: Compiled | None = None
    ) -> None:
        self._reader = reader
        self._network = reader if isinstance(reader, NetworkReader) else None
        base = reader if self._network is None else self._network.base
        self._check = CrossCheck(base, np.array([pid], np.uint32))
        self._width = len(base.fields)
        self._delays = np.array([is_delay(name) for name in reader.fields], np.bool_)
        self._walk: Walk = walks.over(pid, self._width)
        self._now = Columns(len(reader.fields), _ROOM)
        self._then: Columns | None = None
        self._reading: Reading | None = None
        self._changed = np.empty(0, np.bool_)
        self.exits = reader if isinstance(reader, ExitDecoder) else None
        self.ran = 0
        self._compiled = compiled
        self._steady: SteadyRows | None = None
        """The rows, if the next walk may be a steady one."""
        self._gone = np.empty(0, np.bool_)
        """Of each of them whether its thread was not there any more."""
        self._plan, self._sample_only = Struct(WALK), Struct(TICK)
        self._plan.point(block=walks.block)
        self._plan.point(network=describe_network(self._network, self._width, pid))
        self._plan.set(link=self._walk.link, program=self._walk.program)
        self._plan.set(pid=pid, fields=self._width, delays=bits_of_delays(base.fields))
        self._sample_only.point(walk=self._plan)

    @property
    def fields(self) -> tuple[str, ...]:
        return self._reader.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._reader.absent

    @property
    def listed(self) -> npt.NDArray[np.uint32]:
        reading = self._reading
        return np.empty(0, np.uint32) if reading is None else reading.tid

    @property
    def asked(self) -> int:
        """About how many threads taskstats was asked, to check."""
        return self._check.asked

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`.

        Raises:
            DisagreementError: the walk, or the one before it, says otherwise than taskstats.
                Readings are as they were.
        """
        steady = self._steady
        if (
            steady is not None
            and self._compiled is not None
            and not steady.rows["news"]
            and self.sampled(self._compiled.tick(self._sample_only.address))
        ):
            self._look()
            return steady.reading
        self._steady = None
        before = time.monotonic_ns()
        now, count = self._walk.read(self._now)
        self._now = now
        then = self._then
        same = then is not None and count == len(self._changed) and now.same_threads(count, then)
        counters = now.counters[: self._width, :count].T
        self._check.check(Walked(now.tid[:count], now.start_ns[:count], counters), same=same)
        unknown = None
        if self._network is not None:
            numbers, unknown = self._network.live(now.tid[:count], before)
            now.counters[self._width :, :count] = numbers.T
        # An id stood for its thread when this was visited: not before it began, nor before now.
        seen = np.maximum(now.start_ns[:count], before)
        last = self._reading
        if last is not None and same and unknown is None and self._updated(now, count):
            self._reading = replace(last, seen_ns=seen, changed=self._changed)
        else:
            # Masks are not updated: what comes after one of the network is a reading of its own.
            self._then = now if unknown is None else None
            self._now = Columns(len(self.fields), now.room)
            self._changed = np.zeros(count, np.bool_)
            self._reading = Reading(
                now.tid[:count],
                now.counters[:, :count].T,
                self._absent(now.state[:count], unknown),
                now.start_ns[:count],
                now.comm[:count].view("S16").reshape(-1),
                seen_ns=seen,
                changed=self._changed,
            )
        self._prepare()
        return self._reading

    def begin(self, samples: int = 1) -> SteadyRows | None:
        """See `SteadySource.begin`."""
        return self._steady

    @property
    def at_once(self) -> int:
        """See `SteadySource.at_once`: none of them is to be checked."""
        return self._check.before_due

    def sampled(self, result: int, cpu_ns: int = 0) -> bool:
        """See `SteadySource.sampled`."""
        if result != USUAL:
            self._steady = None
            return False
        self.ran = self._plan["ran"]
        return True

    @property
    def is_complete(self) -> bool:
        """See `SteadySource.is_complete`: from time to time it is checked."""
        return not self._check.is_due

    def complete(self) -> bool:
        """See `SteadySource.complete`.

        Raises:
            DisagreementError: the walk, or the one before it, says otherwise than taskstats.
        """
        self._look()
        return True

    def _look(self) -> None:
        """Check rows that compiled code has brought up to date, if that is due."""
        if not self._check.is_due:
            self._check.pass_over()
        elif self._steady is not None:
            reading = self._steady.reading
            counters = reading.counters[:, : self._width]
            if not self._gone.any():
                self._check.check(Walked(reading.tid, reading.start_ns, counters), same=True)
                return
            there = ~self._gone
            walked = Walked(reading.tid[there], reading.start_ns[there], counters[there])
            self._check.check(walked, same=False)

    def _prepare(self) -> None:
        """Make the rows of the last reading those that steady walks bring up to date."""
        reading, columns = self._reading, self._then
        if self._compiled is None or reading is None or columns is None:
            return
        rows = describe_rows(reading)
        self._gone = np.zeros(len(reading.tid), np.bool_)
        rows.point(gone=self._gone)
        self._plan.point(rows=rows, states=columns.state, starts=columns.start_ns)
        self._plan.point(comms=columns.comm)
        self._steady = SteadyRows(reading, rows, self._plan, rows, walks=True, completed=True)

    def _updated(self, now: Columns, count: int) -> bool:
        """Bring the last reading up to date, which has the same threads, unless something fell."""
        then = self._then
        if then is None:
            return False
        counters, before = now.counters[:, :count], then.counters[:, :count]
        if (counters < before).any():
            return False
        changed = (counters != before).any(axis=0)
        self.ran = int(np.count_nonzero(changed))
        self._changed |= changed
        before[:] = counters
        return True

    def _absent(
        self, state: npt.NDArray[np.uint32], unknown: npt.NDArray[np.bool_] | None
    ) -> npt.NDArray[np.bool_] | None:
        """bool[n, F], by columns as the counters are; None if all values are there."""
        without = state & DELAYS == 0
        if unknown is None and not (self._delays.any() and without.any()):
            return None
        absent: npt.NDArray[np.bool_] = self._delays[:, None] & without
        if unknown is not None:
            absent[self._width :] |= unknown
        return absent.T

    def close(self) -> None:
        """Let go of the process."""
        self._walk.close()


def lacking(fields: tuple[str, ...], given: tuple[str, ...]) -> str:
    """Why walks cannot give the fields of a reader over taskstats; empty if they can.

    Args:
        fields: of that reader, those of eBPF excepted.
        given: by the kernel to walks.
    """
    missing = [name for name in fields if name not in given]
    if missing:
        return f"the kernel's threads do not have {', '.join(missing)}"
    return "" if fields == FIELDS[: len(fields)] else "its fields are in another order"
