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
from tidscope_collector.ebpf.watched import Processes, Whose, are_of
from tidscope_collector.netacct.slots import (
    CONTROL,
    MAX_UNCOUNTED,
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
            self._program.map("uncounted"), UNCOUNTED, np.dtype("u8"), MAX_UNCOUNTED
        )
        self._held = ThreadSlots(self._program, attached, SLOT, CONTROL, SLOTS)
        self.slots = self._held.slots
        """The slots of all threads, which the program writes to."""
        self.control = self._held.control
        """How many slots are in use, and what was not counted."""
        self._living: dict[Whose, tuple[tuple[int, int, int], LivingThreads]] = {}

    def close(self) -> None:
        """Take the program out of the kernel."""
        with self._lock:
            self._held.close()

    @property
    def lent(self) -> dict[str, int]:
        """Maps that a program which follows groups may add processes to, by its names."""
        return {f"network_{name}": self._program.map(name) for name in ("targets", "watched")}

    def watch(self, whose: Whose) -> None:
        """Count for processes from now on; for one as often as `forget` will be called.

        Raises:
            BpfError: the kernel refused.
        """
        if not isinstance(whose, int):
            self.follow(whose)
            return
        with self._lock:
            self._held.watch(whose)

    def follow(self, whose: Processes) -> None:
        """Count for those that belong to a group now, and no more for those that are gone.

        Raises:
            BpfError: the kernel refused.
        """
        with self._lock:
            self._held.free(self._held.follow(whose)[1])

    def forget(self, whose: Whose) -> None:
        """Count no more for processes, unless others watch them."""
        with self._lock:
            if not isinstance(whose, int):
                self._held.free(self._held.leave(whose))
                self._living.pop(whose, None)
            elif self._held.forget(whose):
                self._living.pop(whose, None)

    @property
    def uncounted_calls(self) -> int:
        """Calls of watched processes that were not counted, because all slots were in use."""
        return int(self.control["uncounted_calls"][0])

    def uncounted_reads(self, whose: Whose) -> dict[int, tuple[int, int]]:
        """Reads of TCP sockets by splice() and sendfile() that could not be counted.

        Returns:
            Of each thread of these processes that made any, by its id: its start on
            CLOCK_MONOTONIC, and how many parts such reads had, since a process was first watched.

        Raises:
            BpfError: the kernel refused.
        """
        if self.splice:
            return {}
        threads, counts = self._spliced.read()
        mine = are_of(threads["tgid"], whose)
        return {
            int(thread["tid"]): (int(thread["start_ns"]), int(count))
            for thread, count in zip(threads[mine], counts[mine], strict=True)
        }

    @property
    def slots_in_use(self) -> int:
        """How many threads have a slot now."""
        return self._held.in_use

    def live(
        self, whose: Whose, tids: npt.NDArray[np.uint32], before_ns: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """The counters of living threads.

        Args:
            whose: their processes.
            tids: uint32[n].
            before_ns: threads that started after this moment are others, under a used id.

        Returns:
            uint64[n, 4] in the order of slots.FIELDS, zero for a thread that moved nothing;
            bool[n], whether it has a slot.
        """
        with self._lock:
            self._tidy()
            found = self._list_living(whose, before_ns).find(tids)
            return counters(self.slots, found), found >= 0

    def exited(
        self, whose: Whose, tids: npt.NDArray[np.uint32], ages_ns: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        """The final counters of threads whose exit records came; their slots are freed.

        Args:
            whose: their processes.
            tids: uint32[n].
            ages_ns: int64[n], how long each lived, of its record.

        Returns:
            As `live` does.
        """
        with self._lock:
            found: Indices = find_exited(
                self._held.used,
                whose,
                tids,
                ages_ns,
                time.monotonic_ns(),
                lambda pid, tid: is_exiting(self._procfs, pid, tid),
            )
            result = counters(self.slots, found)
            self._held.free(self._held.claim(found[found >= 0], whose))
            return result, found >= 0

    def tidy(self) -> None:
        """Give slots back that are not used any more; `live` does so, too."""
        with self._lock:
            self._tidy()

    def _list_living(self, whose: Whose, before_ns: int) -> LivingThreads:
        """The processes' slots: listed again only after any thread got, left or lost one."""
        # Read before the slots are: what changes meanwhile makes the next call list them again.
        held = self._held
        state = int(self.control["changes"][0]), held.freed, held.followed
        known = self._living.get(whose)
        if known and known[0] == state:
            return known[1]
        living = list_living(held.used, whose, before_ns)
        self._living.pop(whose, None)
        if living.complete:
            self._living[whose] = state, living
        return living

    def _tidy(self) -> None:
        late = self._held.tidy()
        if len(late):
            self._held.free(late)
