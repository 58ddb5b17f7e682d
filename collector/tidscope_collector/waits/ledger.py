"""The eBPF program at work: whose ledgers it keeps, and what they say."""

import mmap
import os
import threading
import time
from collections import deque
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf
from tidscope_collector.waits.slots import (
    CALLS,
    CONTROL,
    SLOT,
    SLOTS,
    WATCHED,
    Ledgers,
    Slots,
    consistent,
    ledgers,
)
from tidscope_collector.waits.states import kinds_of_calls

OBJECT = Path(__file__).parent / "bpf" / "waits.bpf.o"
_PROGRAMS = ("on_switch", "on_waking", "on_birth", "on_first_wake", "on_exec")
_WALK = "begin_ledgers"
_REST_NS = 50_000_000
"""A slot freed is not used again for so long: a switch under way may still write into it."""
_TRIES = 100


class LedgerKeeper:
    """The loaded program. It looks at the switches of other processes only to leave them alone.

    Its methods may be called from several threads.

    Raises:
        BpfError: it cannot be loaded.
    """

    def __init__(self) -> None:
        self._program = libbpf.Program(OBJECT.read_bytes())
        self._lock = threading.Lock()
        self._targets = self._program.map("targets")
        self._vacant = self._program.map("vacant")
        self._bits = np.frombuffer(self._mapped("watched", WATCHED * 8), np.uint64)
        self._slots: Slots = np.frombuffer(self._mapped("slots", SLOTS * SLOT.itemsize), SLOT)
        self._control = np.frombuffer(self._mapped("control", mmap.PAGESIZE), CONTROL, 1)
        calls = np.frombuffer(self._mapped("calls", CALLS * 8), np.uint64)
        for number, kind in kinds_of_calls(os.uname().machine).items():
            calls[number] = kind
        self._watched: dict[int, int] = {}
        self._resting: deque[tuple[int, int]] = deque()

    def _mapped(self, name: str, length: int) -> mmap.mmap:
        return mmap.mmap(self._program.map(name), length)

    def close(self) -> None:
        """Take the program out of the kernel."""
        with self._lock:
            self._program.close()
            self._watched.clear()

    def watch(self, pid: int) -> None:
        """Keep the ledgers of a process from now on; as often as `forget` will be called.

        Raises:
            BpfError: the kernel refused.
        """
        with self._lock:
            if pid in self._watched:
                self._watched[pid] += 1
                return
            if not self._watched:
                self._program.attach(_PROGRAMS)
            try:
                libbpf.write_map(self._targets, pid, 1)
                self._watched[pid] = 1
                self._bits[pid % WATCHED] = 1
                self._begin(pid)
            except libbpf.BpfError:
                self._forget(pid)
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
            if self._watched.get(pid, 0) > 1:
                self._watched[pid] -= 1
            else:
                self._forget(pid)

    def _forget(self, pid: int) -> None:
        self._watched.pop(pid, None)
        libbpf.remove(self._targets, pid)
        if not any(other % WATCHED == pid % WATCHED for other in self._watched):
            self._bits[pid % WATCHED] = 0
        if not self._watched:
            self._program.detach()
        self._give_back(np.flatnonzero(self._used["tgid"] == pid))

    @property
    def threads_without_slot(self) -> int:
        """Threads of watched processes that have no ledger, because all slots were in use."""
        return int(self._control["threads_without_slot"][0])

    @property
    def slots_in_use(self) -> int:
        """How many threads have a ledger now."""
        return int(np.count_nonzero(self._used["tgid"]))

    @property
    def _used(self) -> Slots:
        return self._slots[: min(int(self._control["used"][0]), SLOTS)]

    def read(self, pid: int) -> Ledgers:
        """All ledgers of a process, those of threads that have ended included.

        Raises:
            OSError: slots were being written to at each of many looks.
        """
        with self._lock:
            self._tidy()
            mine = np.flatnonzero(self._used["tgid"] == pid)
            copies = self._slots[mine]
            torn = np.flatnonzero(~consistent(copies))
            tries = 0
            while len(torn):
                tries += 1
                if tries > _TRIES:
                    raise OSError(f"the ledgers of {len(torn)} threads do not add up")
                copies[torn] = self._slots[mine[torn]]
                torn = torn[~consistent(copies[torn])]
            return ledgers(copies, time.monotonic_ns())

    def drop_ended(self, pid: int) -> None:
        """Free the slots of threads that have ended."""
        with self._lock:
            used = self._used
            self._give_back(np.flatnonzero((used["tgid"] == pid) & (used["exit_ns"] != 0)))

    def _give_back(self, indices: npt.NDArray[np.intp]) -> None:
        self._slots["tgid"][indices] = 0
        self._slots["generation"][indices] += np.uint64(1)
        now = time.monotonic_ns()
        self._resting.extend((now, index) for index in indices.tolist())

    def _tidy(self) -> None:
        now = time.monotonic_ns()
        while self._resting and now - self._resting[0][0] > _REST_NS:
            index = self._resting.popleft()[1]
            generation = self._slots["generation"][index]
            self._slots[index] = 0
            self._slots["generation"][index] = generation
            libbpf.write_map(self._vacant, None, index)
