"""Puts the columns of ledgers beside those of a target's reader."""

import logging
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

from tidscope_collector.compiled.rows import SteadyRows, describe_rows, steady_source
from tidscope_collector.compiled.structs import LEDGERS, Struct
from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.ebpf.watched import Whose
from tidscope_collector.sampling.exit_cpu import CPU
from tidscope_collector.sampling.readings import text
from tidscope_collector.threads.reading import ExitDecoder, Reading, TargetReader
from tidscope_collector.threads.wrapping import WrappingReader
from tidscope_collector.waits.ledger import FinalLedgers, LedgerKeeper
from tidscope_collector.waits.slots import SLOT, STATES, Indices, Ledgers
from tidscope_collector.waits.states import State

LOG = logging.getLogger(__name__)

LEDGER_FIELDS = (*STATE_FIELDS, STATE, SINCE)
"""The columns of a ledger, which stand behind all others."""
_MAX_NAMES = 16_384
_STATES, _SINCE = len(STATE_FIELDS), len(STATE_FIELDS) + 1


class LateStates(NamedTuple):
    """What an ended thread had more than was said with its end.

    Attributes:
        name: its comm.
        process: id of its process.
        totals: name of a field to nanoseconds.
    """

    name: str
    process: int
    totals: dict[str, int]


class LedgerReader(WrappingReader):
    """A `TargetReader` whose readings have the columns of ledgers as well.

    Ledgers are read before everything else, so that they are of the sample's own time.

    Args:
        base: gives everything else; closed with it.
        keeper: keeps the ledgers.
        whose: the processes; they are watched until `close`.
        attach_ns: CLOCK_MONOTONIC of the attachment, from which the wire counts time.

    Raises:
        BpfError: the kernel refuses to keep ledgers of it.
    """

    def __init__(
        self, base: TargetReader, keeper: LedgerKeeper, whose: Whose, attach_ns: int
    ) -> None:
        super().__init__(base)
        self._steady_base = steady_source(base)
        self._keeper = keeper
        self._whose = whose
        self._attach_ns = attach_ns
        self._width = len(base.fields)
        self._reading: Reading | None = None
        """What was given last, if its arrays may be brought up to date."""
        self._from: Reading | None = None
        """The reading of the base that it was made from."""
        self._ledgers: Ledgers | None = None
        self._rows: Indices = np.empty(0, np.intp)
        """Of each thread of the reading the row of its ledger; -1: there is none."""
        self._steady: SteadyRows | None = None
        """The rows, if compiled code may bring them up to date."""
        self._under: SteadyRows | None = None
        """The base's rows, of which those were made."""
        self._places: Indices = np.empty(0, np.intp)
        """Of each ledger that was read last its slot."""
        self._lacks_ledgers = False
        """Whether some of these rows have no ledger."""
        self._closed = False
        keeper.watch(whose)
        exits = base.exits
        cpu = base.fields.index(CPU) if CPU in base.fields else None
        self._ends = None if exits is None else _ExitDecoder(exits, keeper, whose, cpu)
        self.exits: ExitDecoder | None = self._ends

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.base.fields, *LEDGER_FIELDS)

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return tuple(one for one in self.base.absent if one.field not in LEDGER_FIELDS)

    def close(self) -> None:
        """Keep the ledgers no more, and close the base; twice does no harm."""
        # A group has its last members then.
        self.base.close()
        if not self._closed:
            self._closed = True
            self._keeper.forget(self._whose)

    def take_late(self) -> list[LateStates]:
        """What ended threads had more than was said with their ends, since this was asked last."""
        return [] if self._ends is None else self._ends.take_late()

    def begin(self, samples: int = 1) -> SteadyRows | None:
        """See `SteadySource.begin`."""
        steady, kept = self._steady_base, self._reading
        under = None if steady is None else steady.begin(samples)
        if under is None or kept is None or self._from is None:
            self._steady = self._under = None
        elif self._lacks_ledgers and not self._keeper.is_listed(self._whose):
            self._steady = self._under = None  # one of them may have a ledger by now
        elif self._under is not under:
            same = under.reading.counters is self._from.counters
            self._steady = self._describe(kept, under) if same else None
            self._under = under
        return self._steady

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

    def _describe(self, kept: Reading, under: SteadyRows) -> SteadyRows:
        """What compiled code needs to bring the columns of ledgers up to date."""
        rows, ledgers = describe_rows(kept), Struct(LEDGERS)
        alone = self._whose if isinstance(self._whose, int) else 0
        slot_of = np.full(len(self._rows), -1, np.int64)
        has = self._rows >= 0
        slot_of[has] = self._places[self._rows[has]]
        self._lacks_ledgers = not has.all()
        ledgers.point(rows=rows, base=under.rows, slots=self._keeper.slots, slot_of=slot_of)
        ledgers.point(known=np.zeros((len(slot_of), 3), np.uint64))
        ledgers.set(stride=SLOT.itemsize, states=STATES, first_column=self._width)
        offsets = {name: at for name, (_, at, *_) in (SLOT.fields or {}).items()}
        ledgers.set(mark_at=offsets["mark"], woken_at=offsets["woken_ns"])
        ledgers.set(arrived_at=offsets["arrived_ns"], began_at=offsets["began_ns"])
        ledgers.set(ns_at=offsets["ns"], attach_ns=self._attach_ns)
        ledgers.set(tgid=alone, tgid_at=offsets["tgid"], tid_at=offsets["tid"])
        return SteadyRows(
            kept, rows, under.sample, under.sampled, under.walks, under.completed, ledgers
        )

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        self._steady = self._under = None
        ledgers = self._read_ledgers()
        base = self.base.read()
        kept, before = self._reading, self._from
        if (
            kept is None
            or before is None
            or base.changed is None
            or base.counters is not before.counters
            or base.absent is not before.absent
        ):
            return self._join(base, ledgers)
        if self._ledgers is None or ledgers.tid is not self._ledgers.tid:
            rows = ledgers.find(base.tid)
            if self._began_since(base, ledgers, rows) or ((rows < 0) != (self._rows < 0)).any():
                return self._join(base, ledgers)
            self._rows = rows
        self._update(kept, base, ledgers)
        self._reading = replace(kept, seen_ns=base.seen_ns)
        return self._reading

    def _read_ledgers(self) -> Ledgers:
        self._keeper.follow(self._whose)
        ledgers = self._keeper.read(self._whose)
        self._places = self._keeper.places(self._whose)
        return ledgers

    def _began_since(self, base: Reading, ledgers: Ledgers, rows: Indices) -> bool:
        """Whether some threads began, or were given another's id, since ledgers were read."""
        if (rows < 0).any():
            return True
        return bool((ledgers.state[rows] == State.ENDED).any())

    def _join(self, base: Reading, ledgers: Ledgers) -> Reading:
        """Make a reading of its own."""
        rows = ledgers.find(base.tid)
        if self._began_since(base, ledgers, rows):
            ledgers = self._read_ledgers()
            rows = ledgers.find(base.tid)
        counters = np.concatenate([base.counters, columns(ledgers, rows, self._attach_ns)], axis=1)
        absent = None
        if base.absent is not None or (rows < 0).any():
            absent = np.zeros(counters.shape, np.bool_)
            absent[:, self._width :] = (rows < 0)[:, None]
            if base.absent is not None:
                absent[:, : self._width] = base.absent
        changed = None if base.changed is None else np.zeros(len(base.tid), np.bool_)
        reading = replace(base, counters=counters, absent=absent, changed=changed)
        self._reading = self._from = None
        if base.changed is not None:
            base.changed[:] = False
            reading = replace(reading, tid=base.tid.copy())
            self._reading, self._from, self._ledgers, self._rows = reading, base, ledgers, rows
        return reading

    def _update(self, kept: Reading, base: Reading, ledgers: Ledgers) -> None:
        """Bring the rows up to date that changed."""
        changed, known = kept.changed, self._ledgers
        if changed is None or base.changed is None or known is None:
            raise AssertionError("a reading that is brought up to date marks what changed")
        rows = np.flatnonzero(base.changed)
        if len(rows):
            kept.counters[rows, : self._width] = base.counters[rows]
            base.changed[rows] = False
            changed[rows] = True
        if ledgers is not known:
            newer = ledgers.changed[self._rows] > known.number
            mine = np.flatnonzero(newer & (self._rows >= 0))
            made = columns(ledgers, self._rows[mine], self._attach_ns)
            kept.counters[mine, self._width :] = made
            changed[mine] = True
            self._ledgers = ledgers


class _ExitDecoder:
    """An `ExitDecoder` whose readings have the columns of ledgers as well.

    A record has the time on a CPU up to the last tick, a ledger that up to the last switch. Groups
    have it from elsewhere.
    """

    def __init__(
        self, base: ExitDecoder, keeper: LedgerKeeper, whose: Whose, cpu: int | None
    ) -> None:
        self._base = base
        self._cpu = cpu
        self._keeper = keeper
        self._whose = whose
        self._names: dict[int, bytes] = {}
        """By id: comms of threads whose records came lately."""

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of exit records; see `TaskstatsReader.decode`."""
        reading = self._base.decode(words, before)
        count, width = reading.counters.shape
        counters = np.zeros((count, width + len(LEDGER_FIELDS)), np.uint64)
        counters[:, :width] = reading.counters
        absent = None
        if count:
            # All records of a drain have the same moment.
            ages = before[0] - reading.start_ns
            ns, has, run_ns = self._exited(reading, ages)
            counters[:, width : width + _STATES] = ns[:, State.ON_CPU :]
            if self._cpu is not None and reading.process is None:
                counters[:, self._cpu] = np.maximum(counters[:, self._cpu], run_ns)
            if reading.absent is not None or not has.all():
                absent = np.zeros(counters.shape, np.bool_)
                absent[:, width:] = ~has[:, None]
                if reading.absent is not None:
                    absent[:, :width] = reading.absent
        invalid = reading.invalid
        if invalid is not None:
            invalid = np.pad(invalid, ((0, 0), (0, len(LEDGER_FIELDS))))
        return replace(reading, counters=counters, absent=absent, invalid=invalid)

    def _exited(self, reading: Reading, ages: npt.NDArray[np.int64]) -> FinalLedgers:
        tids, alone = reading.tid, reading.process is None
        try:
            self._keeper.follow(self._whose)
            found = self._keeper.exited(self._whose, tids, ages, wait=alone)
        except (BpfError, OSError) as error:
            LOG.warning("%d threads end without their ledgers: %s", len(tids), error)
            none = np.zeros(len(tids), np.uint64)
            ns = np.zeros((len(tids), _STATES + 1), np.uint64)
            return FinalLedgers(ns, np.zeros(len(tids), np.bool_), none)
        if not alone:
            self._names.update(zip(tids.tolist(), reading.name.tolist(), strict=True))
            for tid in list(self._names)[: -_MAX_NAMES or None]:
                del self._names[tid]
        return found

    def take_late(self) -> list[LateStates]:
        """What ended threads had more than was said with their ends, since this was asked last."""
        return [
            LateStates(
                text(self._names.get(one.tid, b"")),
                one.pid,
                dict(zip(STATE_FIELDS, one.ns[State.ON_CPU :].tolist(), strict=True)),
            )
            for one in self._keeper.take_late(self._whose)
        ]


def columns(ledgers: Ledgers, rows: Indices, attach_ns: int) -> npt.NDArray[np.uint64]:
    """The columns of LEDGER_FIELDS.

    Args:
        ledgers: of a process.
        rows: intp[n] of them; -1: no ledger, which gives zeros.
        attach_ns: CLOCK_MONOTONIC from which times count.

    Returns:
        uint64[n, 26].
    """
    made = np.zeros((len(rows), len(LEDGER_FIELDS)), np.uint64)
    if not len(ledgers.tid):
        return made
    made[:, :_STATES] = ledgers.ns[rows, State.ON_CPU :]
    made[:, _STATES] = ledgers.state[rows]
    made[:, _SINCE] = np.maximum(ledgers.since_ns[rows] - attach_ns, 0).astype(np.uint64)
    made[rows < 0] = 0
    return made
