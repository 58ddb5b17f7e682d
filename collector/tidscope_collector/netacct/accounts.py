"""The eBPF program at work: which processes it counts for, and what it counted."""

import threading
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.exited_threads import find_exited, is_exiting
from tidscope_collector.ebpf.hash_maps import HashMap
from tidscope_collector.ebpf.thread_slots import ThreadSlots
from tidscope_collector.netacct.slots import (
    CONTROL,
    MOST_UNCOUNTED,
    SLOT,
    SLOTS,
    UNCOUNTED,
    Indices,
    LivingThreads,
    counters,
    list_living,
)
from tidscope_collector.procfs.files import ProcFs

OBJECT = Path(__file__).parent / "bpf" / "netacct.bpf.o"
SPLICE = "count_splice"
NOTE_SPLICE = "note_splice"
_PROGRAMS = ("mark_exit", "follow_exec", "count_send", "count_receive")


class Accounts:
    """The loaded program. Other processes' socket calls are looked at only while one is watched.

    Its methods may be called from several threads.

    Args:
        procfs: root of /proc.

    Raises:
        BpfError: it cannot be loaded.
    """

    def __init__(self, procfs: ProcFs) -> None:
        self._procfs = procfs
        image = OBJECT.read_bytes()
        self.splice = True
        """Whether splice() out of a TCP socket is counted."""
        try:
            self._program = libbpf.Program(image, leave_out=(NOTE_SPLICE,))
            self._program.attach((SPLICE,))
        except libbpf.BpfError:
            self.splice = False
            self._program = libbpf.Program(image, leave_out=(SPLICE,))
        self._program.detach()
        self._lock = threading.Lock()
        attached = (*_PROGRAMS, SPLICE if self.splice else NOTE_SPLICE)
        self._spliced = HashMap(
            self._program.map("uncounted"), UNCOUNTED, np.dtype("u8"), MOST_UNCOUNTED
        )
        self._held = ThreadSlots(self._program, attached, SLOT, CONTROL, SLOTS)
        self.slots = self._held.slots
        """The slots of all threads, which the program writes to."""
        self.control = self._held.control
        """How many slots are in use, and what was not counted."""
        self._living: dict[int, tuple[tuple[int, int], LivingThreads]] = {}

    def close(self) -> None:
        """Take the program out of the kernel."""
        with self._lock:
            self._held.close()

    def watch(self, pid: int) -> None:
        """Count for a process from now on; as often as `forget` will be called.

        Raises:
            BpfError: the kernel refused.
        """
        with self._lock:
            self._held.watch(pid)

    def forget(self, pid: int) -> None:
        """Count no more for a process, once nobody watches it."""
        with self._lock:
            if self._held.forget(pid):
                self._living.pop(pid, None)

    @property
    def uncounted_calls(self) -> int:
        """Calls of watched processes that were not counted, because all slots were in use."""
        return int(self.control["uncounted_calls"][0])

    def uncounted_reads(self, pid: int) -> dict[int, tuple[int, int]]:
        """Reads of TCP sockets by splice() and sendfile() that could not be counted.

        Returns:
            Of each thread of a process that made any, by its id: its start on CLOCK_MONOTONIC, and
            how many parts such reads had, since a process was first watched.

        Raises:
            BpfError: the kernel refused.
        """
        if self.splice:
            return {}
        threads, counts = self._spliced.read()
        return {
            int(thread["tid"]): (int(thread["start_ns"]), int(count))
            for thread, count in zip(threads, counts, strict=True)
            if thread["tgid"] == pid
        }

    @property
    def slots_in_use(self) -> int:
        """How many threads have a slot now."""
        return self._held.in_use

    def live(
        self, pid: int, tids: npt.NDArray[np.uint32], before_ns: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """The counters of living threads.

        Args:
            pid: their process.
            tids: uint32[n].
            before_ns: threads that started after this moment are others, under a used id.

        Returns:
            uint64[n, 4] in the order of slots.FIELDS, zero for a thread that moved nothing;
            bool[n], whether it has a slot.
        """
        with self._lock:
            self._tidy()
            found = self._list_living(pid, before_ns).find(tids)
            return counters(self.slots, found), found >= 0

    def exited(
        self, pid: int, tids: npt.NDArray[np.uint32], ages_ns: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """The final counters of threads whose exit records came; their slots are freed.

        Args:
            pid: their process.
            tids: uint32[n].
            ages_ns: int64[n], how long each lived, of its record.

        Returns:
            As `live` does.
        """
        with self._lock:
            found: Indices = find_exited(
                self._held.used,
                pid,
                tids,
                ages_ns,
                time.monotonic_ns(),
                lambda tid: is_exiting(self._procfs, pid, tid),
            )
            result = counters(self.slots, found)
            self._held.free(found[found >= 0])
            return result, found >= 0

    def tidy(self) -> None:
        """Give slots back that are not used any more; `live` does so, too."""
        with self._lock:
            self._tidy()

    def _list_living(self, pid: int, before_ns: int) -> LivingThreads:
        """The process' slots: listed again only after any thread got, left or lost one."""
        # Read before the slots are: what changes meanwhile makes the next call list them again.
        state = int(self.control["changes"][0]), self._held.freed
        known = self._living.get(pid)
        if known and known[0] == state:
            return known[1]
        living = list_living(self._held.used, pid, before_ns)
        self._living.pop(pid, None)
        if living.complete:
            self._living[pid] = state, living
        return living

    def _tidy(self) -> None:
        late = self._held.tidy()
        if len(late):
            self._held.free(late)
