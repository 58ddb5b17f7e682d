"""The eBPF program at work: whose ledgers it keeps, and what they say."""

import mmap
import os
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.exited_threads import find_exited, is_exiting
from tidscope_collector.ebpf.thread_slots import ThreadSlots
from tidscope_collector.ebpf.watched import Processes, Whose, are_of
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.waits.counting import Counting
from tidscope_collector.waits.loading import load
from tidscope_collector.waits.reading import LedgerReading, copy_whole
from tidscope_collector.waits.slots import (
    CALLS,
    CONTROL,
    DETAIL,
    SLOT,
    SLOTS,
    STATES,
    Ledgers,
    Slots,
    settle,
)
from tidscope_collector.waits.states import kinds_of_calls
from tidscope_collector.waits.tables import Table

_CALLS = ("on_call", "on_return")
_WALK = "begin_ledgers"
_MANY_ENDED = SLOTS // 4
_LAST_SWITCH_NS = 5_000_000
"""From an exit record to the last switch of its thread it takes less, as a rule."""
_LATEST_SWITCH_NS = 2_000_000_000
"""Ledgers that are closed later are given up after so long."""
_MAX_WALKS = 8
"""Of more new processes all threads of the machine are looked at, once."""


class FinalLedgers(NamedTuple):
    """Of n threads whose exit records came.

    Attributes:
        ns: uint64[n, STATES], nanoseconds in each state, zero for a thread without a ledger.
        has: bool[n], whether it had one.
        run_ns: uint64[n], the kernel's count of its time on CPUs at its last switch; 0 if that is
            not known.
    """

    ns: npt.NDArray[np.uint64]
    has: npt.NDArray[np.bool_]
    run_ns: npt.NDArray[np.uint64]


class LateLedger(NamedTuple):
    """What a ledger had more in the end than was said with its thread's exit.

    Attributes:
        tid: of the thread.
        pid: of its process.
        ns: uint64[STATES].
    """

    tid: int
    pid: int
    ns: npt.NDArray[np.uint64]


class _Open(NamedTuple):
    """A ledger that was given before it was closed: what to whom, and since when."""

    given: dict[Whose, npt.NDArray[np.uint64]]
    since_ns: int


class LedgerKeeper:
    """The loaded program. It looks at the switches of other processes only to leave them alone.

    Its methods may be called from several threads.

    Args:
        procfs: root of /proc.
        calls: whether system calls are counted, too.

    Raises:
        BpfError: it cannot be loaded.

    Attributes:
        unfinished_exits: threads whose ledger was closed before their last switch was seen.
    """

    def __init__(self, procfs: ProcFs | None = None, *, calls: bool = False) -> None:
        self._procfs = procfs or ProcFs()
        self._program, self._programs = load()
        self._lock = threading.Lock()
        self._held = ThreadSlots(self._program, self._programs, SLOT, CONTROL, SLOTS)
        details = self._held.map_beside("details", DETAIL)
        self._counting = Counting(
            self._program, self._held.slots, details, self._held.control, self._procfs
        )
        self._readings: dict[Whose, LedgerReading] = {}
        self._open: dict[int, _Open] = {}
        """By slot: ledgers that were given before their threads' last switches."""
        self._late: dict[Whose, list[LateLedger]] = {}
        self.unfinished_exits = 0
        kinds = np.frombuffer(mmap.mmap(self._program.map("calls"), CALLS * 8), np.uint64)
        for number, kind in kinds_of_calls(os.uname().machine).items():
            kinds[number] = kind
        self.count_calls(calls)

    def close(self) -> None:
        """Take the program out of the kernel."""
        with self._lock:
            self._held.close()

    @property
    def lent(self) -> dict[str, int]:
        """Maps that a program which follows groups may add processes to, by its names."""
        return {f"ledger_{name}": self._program.map(name) for name in ("targets", "watched")}

    def watch(self, whose: Whose) -> None:
        """Keep the ledgers of processes from now on; of one as often as `forget` will be called.

        Raises:
            BpfError: the kernel refused.
        """
        if not isinstance(whose, int):
            self.follow(whose)
            return
        with self._lock:
            if self._held.watch(whose):
                try:
                    self._begin(whose)
                except libbpf.BpfError:
                    self._held.forget(whose)
                    raise
            self._counting.begin(whose)

    def follow(self, whose: Whose) -> None:
        """Keep the ledgers of those that belong to a group now, and no more of those that are gone.

        Of those that a program in the kernel has made targets since their birth nothing is missed.

        Args:
            whose: processes that are watched; a single one remains what it is.

        Raises:
            BpfError: the kernel refused.
        """
        if isinstance(whose, int):
            return
        with self._lock:
            new, gone = self._held.follow(whose)
            self._counting.begin(whose)
            for pid in new if len(new) <= _MAX_WALKS else [0]:
                self._begin(pid)
            self._free(gone, whose)

    def forget(self, whose: Whose) -> None:
        """Keep the ledgers of processes no more, unless others watch them."""
        with self._lock:
            if not isinstance(whose, int):
                self._free(self._held.leave(whose), whose)
            elif not self._held.forget(whose):
                return
            self._readings.pop(whose, None)
            self._late.pop(whose, None)
            self._counting.forget(whose)

    def _begin(self, pid: int) -> None:
        """Begin the ledgers of the threads that are there; 0: of all targets."""
        link = self._program.iterate(_WALK, pid)
        try:
            descriptor = link.open()
            try:
                os.read(descriptor, 1)
            finally:
                os.close(descriptor)
        finally:
            link.close()

    def count_calls(self, wanted: bool) -> None:
        """Count system calls from now on, or no more. That slows all calls of the machine down.

        Raises:
            BpfError: the kernel refused.
        """
        with self._lock:
            self._held.set_attached((*self._programs, *_CALLS) if wanted else self._programs)
            self._counting.calls |= wanted

    @property
    def lost_counts(self) -> int:
        """Wake-ups, takers and system calls that found no room in the program's tables."""
        control = self._held.control
        return sum(int(control[name][0]) for name in ("lost_edges", "lost_takers", "lost_calls"))

    @property
    def threads_without_slot(self) -> int:
        """Threads of watched processes that have no ledger, because all slots were in use."""
        return int(self._held.control["threads_without_slot"][0])

    @property
    def slots_in_use(self) -> int:
        """How many threads have a ledger now."""
        return self._held.in_use

    def read(self, whose: Whose) -> Ledgers:
        """All ledgers of processes, those of threads that have ended included.

        A thread that has ended is in them until `exited` claims it, or for some seconds.

        Raises:
            OSError: slots were being written to at each of many looks.
        """
        with self._lock:
            self._tidy()
            return self._read(whose)[0]

    @property
    def slots(self) -> Slots:
        """All slots, which the program writes to."""
        return self._held.slots

    def places(self, whose: Whose) -> npt.NDArray[np.intp]:
        """The slots of the ledgers that `read` has just given, intp[n].

        One that is freed later is nobody's, or another thread's.
        """
        return self._readings[whose].indices

    def is_listed(self, whose: Whose) -> bool:
        """Whether no slot was given or freed since `read`."""
        reading = self._readings.get(whose)
        return reading is not None and reading.is_listed(self._listing())

    def tables(self, whose: Whose) -> Iterator[dict[str, Table]]:
        """What is counted beside ledgers, since the processes are watched, table by table.

        All of it is of the moment at which it is asked for first. Others may use the keeper between
        two pieces, of which some are empty.

        Yields:
            By name: `stays` (histograms of finished stays by thread and state), `wakes` (who woke
            whom), `locks` (waits for futexes by process and address), `takers` (who ran while a
            thread was queued), `calls` and `call_stays` (system calls): structured arrays as in
            tables.py. What threads that have ended leave stands under the thread id 0.

        Raises:
            OSError: slots were being written to at each of many looks.
            BpfError: the kernel refused.
        """
        pieces = self._counting.tables(whose, lambda: self._read(whose))
        while True:
            with self._lock:
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    def _read(self, whose: Whose) -> tuple[Ledgers, npt.NDArray[np.intp]]:
        # Read before the slots are: what changes meanwhile makes the next call list them again.
        listing = self._listing()
        reading = self._readings.get(whose)
        if reading is None:
            reading = self._readings[whose] = LedgerReading(self._held.slots)
        return reading.read(self._held.used, whose, listing), reading.indices

    def _listing(self) -> tuple[int, int, int]:
        return int(self._held.control["changes"][0]), self._held.freed, self._held.followed

    def exited(
        self,
        whose: Whose,
        tids: npt.NDArray[np.uint32],
        ages_ns: npt.NDArray[np.int64],
        *,
        wait: bool = True,
    ) -> FinalLedgers:
        """The final ledgers of threads whose exit records came; their slots are freed.

        A record comes shortly before the thread's last switch.

        Args:
            whose: their processes.
            tids: uint32[n].
            ages_ns: int64[n], how long each lived, of its record.
            wait: for that switch, a little; else what comes later is what `take_late` gives.

        Raises:
            OSError: slots were being written to at each of many looks.
        """
        with self._lock:
            found = find_exited(
                self._held.used,
                whose,
                tids,
                ages_ns,
                time.monotonic_ns(),
                lambda pid, tid: is_exiting(self._procfs, pid, tid),
            )
            has = found >= 0
            mine = found[has]
            if wait:
                self._await_last_switches(mine)
            copies = copy_whole(self._held.slots, mine)
            ns = settle(copies)[0]
            run_ns = np.zeros(len(tids), np.uint64)
            run_ns[has] = np.where(copies["exit_ns"] != 0, copies["run_ns"], 0)
            if not wait:
                open_ = self._held.slots["exit_ns"][mine] == 0
                for row in np.flatnonzero(open_).tolist():
                    index = int(mine[row])
                    self._open.setdefault(index, _Open({}, time.monotonic_ns())).given[whose] = ns[
                        row
                    ].copy()
                mine = mine[~open_]
            result = np.zeros((len(tids), STATES), np.uint64)
            result[has] = ns
            self._free(self._held.claim(mine, whose))
            return FinalLedgers(result, has, run_ns)

    def take_late(self, whose: Whose) -> list[LateLedger]:
        """What ledgers had more in the end than `exited` gave, since this was asked last."""
        with self._lock:
            self._settle_late()
            return self._late.pop(whose, [])

    def _settle_late(self) -> None:
        """Close ledgers whose threads have made their last switch by now."""
        if not self._open:
            return
        now_ns = time.monotonic_ns()
        slots = self._held.slots
        for index, one in list(self._open.items()):
            if not slots["exit_ns"][index]:
                if now_ns - one.since_ns < _LATEST_SWITCH_NS:
                    continue
                self.unfinished_exits += 1
            place = np.array([index], np.intp)
            ns = settle(copy_whole(slots, place))[0][0]
            pid, tid = int(slots["tgid"][index]), int(slots["tid"][index])
            for whose, given in one.given.items():
                late = LateLedger(tid, pid, ns - np.minimum(given, ns))
                self._late.setdefault(whose, []).append(late)
            del self._open[index]
            for whose in one.given:
                self._free(self._held.claim(place, whose))

    def _free(self, indices: npt.NDArray[np.intp], leaving: Processes | None = None) -> None:
        """Free slots of ended threads, and keep what they leave."""
        if not len(indices):
            return
        ns = settle(copy_whole(self._held.slots, indices))[0]
        self._counting.keep(indices, ns, leaving)
        self._held.free(indices)
        for index in self._open.keys() & set(indices.tolist()):
            del self._open[index]

    def _await_last_switches(self, indices: npt.NDArray[np.intp]) -> None:
        deadline = time.monotonic_ns() + _LAST_SWITCH_NS
        exits = self._held.slots["exit_ns"]
        while len(indices := indices[exits[indices] == 0]):
            if time.monotonic_ns() > deadline:
                self.unfinished_exits += len(indices)
                return
            time.sleep(0.0002)

    def drop_ended(self, whose: Whose) -> None:
        """Free the slots of threads that have ended."""
        with self._lock:
            used = self._held.used
            self._free(np.flatnonzero(are_of(used["tgid"], whose) & (used["exit_ns"] != 0)))

    def _tidy(self) -> None:
        late = self._held.tidy(_MANY_ENDED)
        if len(late):
            self._free(late)
