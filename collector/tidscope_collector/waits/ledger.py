"""The eBPF program at work: whose ledgers it keeps, and what they say."""

import mmap
import os
import threading
import time
from pathlib import Path

import numpy as np

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.thread_slots import ThreadSlots
from tidscope_collector.waits.slots import (
    CALLS,
    CONTROL,
    SLOT,
    SLOTS,
    Ledgers,
    consistent,
    ledgers,
)
from tidscope_collector.waits.states import kinds_of_calls

OBJECT = Path(__file__).parent / "bpf" / "waits.bpf.o"
_PROGRAMS = ("on_switch", "on_waking", "on_birth", "on_first_wake", "on_exec")
_WALK = "begin_ledgers"
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
        self._held = ThreadSlots(self._program, _PROGRAMS, SLOT, CONTROL, SLOTS)
        calls = np.frombuffer(mmap.mmap(self._program.map("calls"), CALLS * 8), np.uint64)
        for number, kind in kinds_of_calls(os.uname().machine).items():
            calls[number] = kind

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
            self._held.forget(pid)

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

        Raises:
            OSError: slots were being written to at each of many looks.
        """
        with self._lock:
            self._held.recycle(time.monotonic_ns())
            mine = np.flatnonzero(self._held.used["tgid"] == pid)
            copies = self._held.slots[mine]
            torn = np.flatnonzero(~consistent(copies))
            tries = 0
            while len(torn):
                tries += 1
                if tries > _TRIES:
                    raise OSError(f"the ledgers of {len(torn)} threads do not add up")
                copies[torn] = self._held.slots[mine[torn]]
                torn = torn[~consistent(copies[torn])]
            return ledgers(copies, time.monotonic_ns())

    def drop_ended(self, pid: int) -> None:
        """Free the slots of threads that have ended."""
        with self._lock:
            used = self._held.used
            self._held.free(np.flatnonzero((used["tgid"] == pid) & (used["exit_ns"] != 0)))
