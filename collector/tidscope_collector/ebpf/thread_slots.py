"""The slots that a loaded program keeps for threads: whom it counts for, and when slots are freed.

Its other side is thread_slots.bpf.h. Not for several threads at once: who holds one has a lock.
"""

import mmap
import time
from collections import deque

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf

WATCHED = 8192
_REST_NS = 50_000_000
"""A slot freed is not used again for so long: the program may still be writing into it."""

_TIDY_NS = 1_000_000_000
_UNCLAIMED_ROUNDS = 5
"""After so many rounds of `tidy`, a second apart, no exit record will come for a slot any more."""

Slots = npt.NDArray[np.void]


class ThreadSlots:
    """Maps the slots of a program, which runs while any process is watched.

    Args:
        program: loaded; it has the maps of thread_slots.bpf.h.
        attached: names of its programs, in the order in which they are attached.
        slot: struct slot.
        control: struct control.
        count: how many slots there are.

    Attributes:
        slots: all of them, which the program writes to.
        control: one row.
        freed: how many slots were freed so far.
    """

    def __init__(
        self,
        program: libbpf.Program,
        attached: tuple[str, ...],
        slot: np.dtype[np.void],
        control: np.dtype[np.void],
        count: int,
    ) -> None:
        self._program = program
        self._attached = attached
        self._targets = program.map("targets")
        self._vacant = program.map("vacant")
        self._bits = np.frombuffer(mmap.mmap(program.map("watched"), WATCHED * 8), np.uint64)
        slots = mmap.mmap(program.map("slots"), count * slot.itemsize)
        self.slots: Slots = np.frombuffer(slots, slot)
        self.control = np.frombuffer(mmap.mmap(program.map("control"), mmap.PAGESIZE), control, 1)
        self.freed = 0
        self._beside: list[Slots] = []
        self._watched: dict[int, int] = {}
        self._resting: deque[tuple[int, int]] = deque()
        self._rounds: dict[int, int] = {}
        self._tidied_ns = 0

    def map_beside(self, name: str, row: np.dtype[np.void]) -> Slots:
        """A further map with a row for each slot, which is emptied with it.

        Args:
            name: of the map.
            row: its struct.
        """
        length = len(self.slots) * row.itemsize
        rows: Slots = np.frombuffer(mmap.mmap(self._program.map(name), length), row)
        self._beside.append(rows)
        return rows

    def set_attached(self, names: tuple[str, ...]) -> None:
        """Let other programs run while any process is watched.

        Raises:
            BpfError: the kernel refused.
        """
        if self._watched:
            self._program.attach(tuple(name for name in names if name not in self._attached))
            self._program.detach(tuple(name for name in self._attached if name not in names))
        self._attached = names

    def close(self) -> None:
        """Take the program out of the kernel."""
        self._program.close()
        self._watched.clear()

    def watch(self, pid: int) -> bool:
        """Count for a process from now on; as often as `forget` will be called.

        Returns:
            Whether nobody watched it before.

        Raises:
            BpfError: the kernel refused.
        """
        known = self._watched.get(pid, 0)
        if not self._watched:
            self._program.attach(self._attached)
        try:
            libbpf.write_map(self._targets, pid, 1)
        except libbpf.BpfError:
            if not self._watched:
                self._program.detach()
            raise
        self._watched[pid] = known + 1
        self._bits[pid % WATCHED] = 1
        return not known

    def forget(self, pid: int) -> bool:
        """Count no more for a process, once nobody watches it; whether that is so."""
        left = self._watched.pop(pid, 0) - 1
        if left > 0:
            self._watched[pid] = left
            return False
        libbpf.remove(self._targets, pid)
        if not any(other % WATCHED == pid % WATCHED for other in self._watched):
            self._bits[pid % WATCHED] = 0
        if not self._watched:
            self._program.detach()
        self.free(np.flatnonzero(self.used["tgid"] == pid))
        return True

    @property
    def used(self) -> Slots:
        """The slots that have been used so far, those of nobody included."""
        return self.slots[: min(int(self.control["used"][0]), len(self.slots))]

    @property
    def in_use(self) -> int:
        """How many threads have a slot now."""
        return int(np.count_nonzero(self.used["tgid"]))

    def free(self, indices: npt.NDArray[np.intp]) -> None:
        """Take slots from their threads; `recycle` makes them anybody's."""
        self.freed += len(indices)
        self.slots["tgid"][indices] = 0
        self.slots["generation"][indices] += np.uint64(1)
        now = time.monotonic_ns()
        self._resting.extend((now, index) for index in indices.tolist())

    def recycle(self, now_ns: int) -> None:
        """Empty slots that have rested, and let them be claimed again.

        Args:
            now_ns: CLOCK_MONOTONIC.
        """
        while self._resting and now_ns - self._resting[0][0] > _REST_NS:
            index = self._resting.popleft()[1]
            generation = self.slots["generation"][index]
            self.slots[index] = 0
            self.slots["generation"][index] = generation
            for rows in self._beside:
                rows[index] = 0
            libbpf.write_map(self._vacant, None, index)

    def tidy(self, many: int | None = None) -> npt.NDArray[np.intp]:
        """Recycle slots, and once a second look for those of ended threads that nobody claims.

        Args:
            many: from so many ended threads on they wait for one round only; None: never.

        Returns:
            intp[n], slots to be freed: their threads ended long ago.
        """
        now = time.monotonic_ns()
        self.recycle(now)
        if now - self._tidied_ns < _TIDY_NS:
            return np.empty(0, np.intp)
        self._tidied_ns = now
        used = self.used
        ended = np.flatnonzero((used["tgid"] != 0) & (used["exit_ns"] != 0))
        patience = 1 if many is not None and len(ended) >= many else _UNCLAIMED_ROUNDS
        self._rounds = {index: self._rounds.get(index, 0) + 1 for index in ended.tolist()}
        late = [index for index, rounds in self._rounds.items() if rounds > patience]
        return np.array(late, np.intp)
