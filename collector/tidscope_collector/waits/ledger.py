"""The eBPF program at work: whose ledgers it keeps, and what they say."""

import mmap
import os
import threading
import time

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.exited_threads import find_exited, is_exiting
from tidscope_collector.ebpf.thread_slots import ThreadSlots
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
        self._readings: dict[int, LedgerReading] = {}
        self.unfinished_exits = 0
        kinds = np.frombuffer(mmap.mmap(self._program.map("calls"), CALLS * 8), np.uint64)
        for number, kind in kinds_of_calls(os.uname().machine).items():
            kinds[number] = kind
        self.count_calls(calls)

    def close(self) -> None:
        """Take the program out of the kernel."""
        with self._lock:
            self._held.close()

    def watch(self, pid: int) -> None:
        """Keep the ledgers of a process from now on; as often as `forget` will be called.

        Raises:
            BpfError: the kernel refused.
        """
        with self._lock:
            if self._held.watch(pid):
                try:
                    self._begin(pid)
                except libbpf.BpfError:
                    self._held.forget(pid)
                    raise

    def _begin(self, pid: int) -> None:
        """Begin the ledgers of the threads that are there."""
        link = self._program.iterate(_WALK, pid)
        try:
            descriptor = link.open()
            try:
                os.read(descriptor, 1)
            finally:
                os.close(descriptor)
        finally:
            link.close()

    def forget(self, pid: int) -> None:
        """Keep the ledgers of a process no more, once nobody watches it."""
        with self._lock:
            if self._held.forget(pid):
                self._readings.pop(pid, None)
                self._counting.forget(pid)

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

    def read(self, pid: int) -> Ledgers:
        """All ledgers of a process, those of threads that have ended included.

        A thread that has ended is in them until `exited` claims it, or for some seconds.

        Raises:
            OSError: slots were being written to at each of many looks.
        """
        with self._lock:
            self._tidy()
            return self._read(pid)[0]

    @property
    def slots(self) -> Slots:
        """All slots, which the program writes to."""
        return self._held.slots

    def places(self, pid: int) -> npt.NDArray[np.intp]:
        """The slots of the ledgers that `read` has just given, intp[n].

        One that is freed later is nobody's, or another thread's.
        """
        return self._readings[pid].indices

    def is_listed(self, pid: int) -> bool:
        """Whether no slot was given or freed since `read`."""
        reading = self._readings.get(pid)
        return reading is not None and reading.is_listed(self._listing())

    def tables(self, pid: int) -> dict[str, Table]:
        """What is counted beside ledgers, since the process is watched.

        Returns:
            By name: `stays` (histograms of finished stays by thread and state), `wakes` (who woke
            whom), `locks` (waits for futexes by address), `takers` (who ran while a thread was
            queued), `calls` and `call_stays` (system calls): structured arrays as in tables.py.
            What threads that have ended leave stands under the thread id 0.

        Raises:
            OSError: slots were being written to at each of many looks.
            BpfError: the kernel refused.
        """
        with self._lock:
            return self._counting.tables(pid, lambda: self._read(pid))

    def _read(self, pid: int) -> tuple[Ledgers, npt.NDArray[np.intp]]:
        # Read before the slots are: what changes meanwhile makes the next call list them again.
        listing = self._listing()
        reading = self._readings.get(pid)
        if reading is None:
            reading = self._readings[pid] = LedgerReading(self._held.slots)
        return reading.read(self._held.used, pid, listing), reading.indices

    def _listing(self) -> tuple[int, int]:
        return int(self._held.control["changes"][0]), self._held.freed

    def exited(
        self, pid: int, tids: npt.NDArray[np.uint32], ages_ns: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """The final ledgers of threads whose exit records came; their slots are freed.

        A record comes shortly before the thread's last switch. That one is waited for, a little.

        Args:
            pid: their process.
            tids: uint32[n].
            ages_ns: int64[n], how long each lived, of its record.

        Returns:
            uint64[n, STATES], nanoseconds in each state, zero for a thread without a ledger;
            bool[n], whether it had one.

        Raises:
            OSError: slots were being written to at each of many looks.
        """
        with self._lock:
            found = find_exited(
                self._held.used,
                pid,
                tids,
                ages_ns,
                time.monotonic_ns(),
                lambda tid: is_exiting(self._procfs, pid, tid),
            )
            has = found >= 0
            mine = found[has]
            self._await_last_switches(mine)
            result = np.zeros((len(tids), STATES), np.uint64)
            result[has] = self._free(mine)
            return result, has

    def _free(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.uint64]:
        """Free slots of ended threads; the ledgers that stood in them, uint64[n, STATES]."""
        ns = settle(copy_whole(self._held.slots, indices))[0]
        if len(indices):
            self._counting.keep(indices, ns)
            self._held.free(indices)
        return ns

    def _await_last_switches(self, indices: npt.NDArray[np.intp]) -> None:
        deadline = time.monotonic_ns() + _LAST_SWITCH_NS
        exits = self._held.slots["exit_ns"]
        while len(indices := indices[exits[indices] == 0]):
            if time.monotonic_ns() > deadline:
                self.unfinished_exits += len(indices)
                return
            time.sleep(0.0002)

    def drop_ended(self, pid: int) -> None:
        """Free the slots of threads that have ended."""
        with self._lock:
            used = self._held.used
            self._free(np.flatnonzero((used["tgid"] == pid) & (used["exit_ns"] != 0)))

    def _tidy(self) -> None:
        late = self._held.tidy(_MANY_ENDED)
        if len(late):
            self._free(late)
