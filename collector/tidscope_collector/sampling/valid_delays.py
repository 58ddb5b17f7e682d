"""Delays that cannot be are not given as the kernel's: longer than the thread lived, or, for block
I/O, longer or shorter than its ledger allows.

From Linux 6.12 on the kernel may count a wait for block I/O from the start of an earlier one, or of
none, or not at all (docs/measurement.md). Once a counter has such a wait in it, it is wrong for the
rest of the thread's life. A ledger says what it should be; without one there is no value.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.compiled.rows import SteadyRows, steady_source
from tidscope_collector.sampling.exit_cpu import with_tick_time
from tidscope_collector.sampling.io_bounds import BLKIO, DISK_STATES, IoBounds
from tidscope_collector.sampling.readings import invalid_mask
from tidscope_collector.threads.reading import (
    ExitDecoder,
    Reading,
    TargetReader,
    is_delay_time,
)
from tidscope_collector.threads.wrapping import WrappingReader

LEDGER_STATES = {
    BLKIO: DISK_STATES,
    "cpu_delay_ns": ("state_preempted_ns", "state_woken_ns"),
}
"""Delays that a ledger knows as well: the states that they are the sum of."""
SLACK_NS = 20_000_000
"""Starts of living threads come from ages, in /proc in ticks of 10 ms."""
RECORD_SLACK_NS = 1_000_000
"""Exit records have the age itself, in whole microseconds."""
COMPARE_NS = 1_000_000_000
"""Between two comparisons with ledgers while rows are brought up to date in place."""
FORGET_NS = 5_000_000_000
"""Threads that are neither read nor reported as ended for so long are forgotten."""
_CATALOGUE = {field.name: place for place, field in enumerate(CATALOGUE.fields)}

Masks = npt.NDArray[np.bool_]
Key = tuple[int, int]
"""Thread and column."""


@dataclass(slots=True)
class _Held:
    """A counter that is wrong.

    Attributes:
        start_ns: of its thread, CLOCK_MONOTONIC, about.
        seen_ns: CLOCK_MONOTONIC at which the id stood for it.
        base: what the kernel had counted before the ledger began, in the field's unit.
        kernel: what it says now.
        life_ns: how long the thread lived by then.
        label: `ledger` or `invalid`.
    """

    start_ns: int
    seen_ns: int
    base: int
    kernel: int
    life_ns: int
    label: str


class ValidDelays(WrappingReader):
    """A `TargetReader` and `SteadySource` without delays that cannot be.

    Args:
        base: gives everything; closed with it.
        attach_ns: CLOCK_MONOTONIC from which ledgers' columns count time.
        clock: CLOCK_MONOTONIC, nanoseconds.
    """

    def __init__(
        self,
        base: TargetReader,
        attach_ns: int = 0,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        super().__init__(base)
        self._steady_base = steady_source(base)
        self._clock = clock
        fields = base.fields
        self._columns = [place for place, name in enumerate(fields) if is_delay_time(name)]
        self._states = {
            fields.index(delay): [fields.index(state) for state in states]
            for delay, states in LEDGER_STATES.items()
            if delay in fields and set(states) <= set(fields)
        }
        self._bounds = IoBounds(fields, attach_ns)
        self._compared_ns = 0
        self._held: dict[Key, _Held] = {}
        self._before: dict[int, tuple[int, list[int]]] | None = None
        """Of threads that were there first: start, and of each ledger's delay what was before."""
        self._reading: Reading | None = None
        """The last one of the base."""
        exits = base.exits
        self.exits = None if exits is None else _ExitDecoder(exits, self)

    @property
    def fields(self) -> tuple[str, ...]:
        return self.base.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self.base.absent

    def close(self) -> None:
        """Close the base; twice does no harm."""
        self.base.close()

    def begin(self, samples: int = 1) -> SteadyRows | None:
        """See `SteadySource.begin`: not while values have to be corrected."""
        steady = self._steady_base
        if steady is None or self._held or self._is_outside():
            return None
        return steady.begin(samples)

    def sampled(self, result: int, cpu_ns: int = 0) -> bool:
        """See `SteadySource.sampled`."""
        steady = self._steady_base
        return steady is not None and steady.sampled(result, cpu_ns)

    @property
    def at_once(self) -> int:
        """See `SteadySource.at_once`."""
        return 0 if self._steady_base is None else self._steady_base.at_once

    @property
    def is_complete(self) -> bool:
        """See `SteadySource.is_complete`."""
        return self._steady_base is None or self._steady_base.is_complete

    def complete(self) -> bool:
        """See `SteadySource.complete`."""
        return self._steady_base is not None and self._steady_base.complete()

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        last, reading = self._reading, self.base.read()
        self._reading = reading
        now_ns = self._clock()
        life_ns = np.maximum(now_ns - reading.start_ns, 0) + SLACK_NS
        in_place = last is not None and reading.counters is last.counters
        outside = None
        if not in_place or self._held or now_ns - self._compared_ns >= COMPARE_NS:
            self._compared_ns = now_ns
            outside = self._bounds.outside(reading, now_ns)
        changed = reading.changed if in_place else None
        found = self._with_outside(self._too_long(reading, life_ns, changed), outside)
        if self._before is None:
            self._note_first(reading, found)
        if found is None and not self._held:
            return reading
        own = replace(
            reading,
            counters=reading.counters.copy(),
            seen_ns=None if reading.seen_ns is None else reading.seen_ns.copy(),
            changed=None,
        )
        if reading.changed is not None:
            reading.changed[:] = False
        corrected = self._corrected(own, found, life_ns - SLACK_NS, now_ns)
        for key in [key for key, held in self._held.items() if now_ns - held.seen_ns > FORGET_NS]:
            del self._held[key]
        return corrected

    def exited(self, reading: Reading, now_ns: int) -> Reading:
        """Correct exit records, the time on a CPU of those without a ledger, too; their threads are
        forgotten.

        Args:
            reading: of exit records.
            now_ns: CLOCK_MONOTONIC, about.
        """
        if reading.process is None:
            reading = with_tick_time(reading, self.fields)
        if reading.age_us is None:
            life_ns = np.maximum(now_ns - reading.start_ns, 0)
        else:
            life_ns = 1000 * reading.age_us.astype(np.int64)
        found = self._with_outside(
            self._too_long(reading, life_ns + RECORD_SLACK_NS),
            self._bounds.outside(reading, now_ns, ended=True),
        )
        if found is None and not self._held:
            return reading
        own = replace(reading, counters=reading.counters.copy())
        corrected = self._corrected(own, found, life_ns, now_ns)
        ended = set(reading.tid.tolist())
        for key in [key for key in self._held if key[0] in ended]:
            del self._held[key]
        return corrected

    def start_of(self, tid: int) -> int | None:
        """When a thread of the last reading began, CLOCK_MONOTONIC; None: it is not in it."""
        reading = self._reading
        found = () if reading is None else np.flatnonzero(reading.tid == tid).tolist()
        return None if reading is None or not found else int(reading.start_ns[found[0]])

    def table(self) -> Table:
        """The rows of the table `inexact`."""
        rows = [
            (tid, _CATALOGUE[name], held.kernel, held.life_ns, name, held.label)
            for (tid, column), held in self._held.items()
            for name in (self.fields[column],)
        ]
        return np.array(rows, dtype_of("inexact"))

    def _too_long(
        self,
        reading: Reading,
        life_ns: npt.NDArray[np.int64],
        changed: npt.NDArray[np.bool_] | None = None,
    ) -> Masks | None:
        """bool[n, delays], which delays are longer than these lives; None if none is.

        Args:
            reading: n threads.
            life_ns: int64[n].
            changed: bool[n], threads of which anything can be longer now; None: all.
        """
        if not self._columns or not len(reading.tid):
            return None
        if changed is not None and not self._held:
            rows = np.flatnonzero(changed)
            lives = life_ns[rows].astype(np.uint64)
            # By columns: rows of some columns would be copied one value at a time.
            if not any((reading.counters[rows, one] > lives).any() for one in self._columns):
                return None
        longer: Masks = reading.counters[:, self._columns] > life_ns.astype(np.uint64)[:, None]
        if not longer.any():
            return None
        if reading.absent is not None:
            longer &= ~reading.absent[:, self._columns]
        return longer if longer.any() else None

    def _is_outside(self) -> bool:
        """Whether a delay has become impossible by its ledger, of what compiled code samples."""
        now_ns = self._clock()
        if self._reading is None or now_ns - self._compared_ns < COMPARE_NS:
            return False
        if self._bounds.outside(self._reading, now_ns) is not None:
            # The next reading may be of the same rows: it has to be compared as well.
            return True
        self._compared_ns = now_ns
        return False

    def _with_outside(
        self, longer: Masks | None, outside: npt.NDArray[np.bool_] | None
    ) -> Masks | None:
        """With the block-I/O delays that ledgers do not allow."""
        if outside is None:
            return longer
        if longer is None:
            longer = np.zeros((len(outside), len(self._columns)), np.bool_)
        longer[:, self._columns.index(self.fields.index(BLKIO))] |= outside
        return longer

    def _note_first(self, reading: Reading, found: Masks | None) -> None:
        """Note what threads had waited before their ledgers began."""
        self._before = {}
        if not self._states:
            return
        wrong = (
            np.zeros((len(reading.tid), len(self._columns)), np.bool_) if found is None else found
        )
        for row, tid in enumerate(reading.tid.tolist()):
            before = []
            for column, states in self._states.items():
                counted = int(reading.counters[row, column]) - _sum(reading, row, states)
                bad = wrong[row, self._columns.index(column)]
                before.append(0 if bad else max(0, counted))
            self._before[tid] = int(reading.start_ns[row]), before

    def _corrected(
        self,
        own: Reading,
        found: Masks | None,
        life_ns: npt.NDArray[np.int64],
        now_ns: int,
    ) -> Reading:
        """Correct a reading of which counters and `seen_ns` belong to nobody else."""
        if found is not None:
            for row, place in np.argwhere(found).tolist():
                self._hold(own, row, self._columns[place], int(life_ns[row]), now_ns)
        invalid = invalid_mask(own).copy()
        absent = np.zeros_like(invalid) if own.absent is None else own.absent.copy()
        rows = {tid: row for row, tid in enumerate(own.tid.tolist())} if self._held else {}
        for (tid, column), held in list(self._held.items()):
            if tid not in rows:
                continue
            place = rows[tid]
            start_ns = int(own.start_ns[place])
            if start_ns > held.seen_ns:
                del self._held[tid, column]  # another thread, under its id
                continue
            held.seen_ns = now_ns
            held.kernel, held.life_ns = int(own.counters[place, column]), int(life_ns[place])
            states = self._states.get(column)
            if states is None or absent[place, states].any():
                held.label = "invalid"
                own.counters[place, column] = 0
                absent[place, column] = True
            else:
                held.label = "ledger"
                own.counters[place, column] = held.base + _sum(own, place, states)
            invalid[place, column] = True
        return replace(own, absent=absent if absent.any() else None, invalid=invalid)

    def _hold(self, reading: Reading, row: int, column: int, life_ns: int, now_ns: int) -> None:
        tid, start_ns = int(reading.tid[row]), int(reading.start_ns[row])
        known = self._held.get((tid, column))
        if known is not None and start_ns <= known.seen_ns:
            return
        first = (self._before or {}).get(tid)
        base = 0
        if column in self._states and first is not None and abs(first[0] - start_ns) <= SLACK_NS:
            base = first[1][list(self._states).index(column)]
        kernel = int(reading.counters[row, column])
        self._held[tid, column] = _Held(start_ns, now_ns, base, kernel, life_ns, "invalid")


class _ExitDecoder:
    """An `ExitDecoder` without delays that cannot be."""

    def __init__(self, base: ExitDecoder, valid: ValidDelays) -> None:
        self._base = base
        self._valid = valid

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of exit records; see `TaskstatsReader.decode`."""
        reading = self._base.decode(words, before)
        return self._valid.exited(reading, int(before[0])) if len(reading.tid) else reading


def _sum(reading: Reading, row: int, columns: list[int]) -> int:
    return int(reading.counters[row, columns].sum())
