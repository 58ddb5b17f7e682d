"""The slots that a loaded program keeps for threads: whom it counts for, and when slots are freed.

Its other side is thread_slots.bpf.h. Not for several threads at once: who holds one has a lock.
"""

import mmap
import time
from collections import Counter, deque
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.watched import Pids, Processes, Whose, are_in

WATCHED = 8192
_REST_NS = 50_000_000
"""A slot freed is not used again for so long: the program may still be writing into it."""

_TIDY_NS = 1_000_000_000
_UNCLAIMED_ROUNDS = 5
"""After so many rounds of `tidy`, a second apart, no exit record will come for a slot any more."""

_WATCH = np.dtype([("come", "u4"), ("gone", "u4")])
"""struct watch."""
Slots = npt.NDArray[np.void]
Indices = npt.NDArray[np.intp]

NOBODY: Pids = np.empty(0, np.uint32)
NONE: Indices = np.empty(0, np.intp)


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
        followed: how often processes came into a group or left one.
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
        watched = mmap.mmap(program.map("watched"), WATCHED * _WATCH.itemsize)
        self._gone = np.frombuffer(watched, _WATCH)["gone"]
        slots = mmap.mmap(program.map("slots"), count * slot.itemsize)
        self.slots: Slots = np.frombuffer(slots, slot)
        self.control = np.frombuffer(mmap.mmap(program.map("control"), mmap.PAGESIZE), control, 1)
        self.freed = self.followed = 0
        self._beside: list[Slots] = []
        self._watched: Counter[int] = Counter()
        """How often each process is watched: alone, and in groups."""
        self._groups: dict[Processes, Pids] = {}
        """What was watched of each group last."""
        self._claims: dict[int, set[Whose]] = {}
        """By slot: who knows that its thread has ended, if others are to know it, too."""
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
        if self._runs:
            self._program.attach(tuple(name for name in names if name not in self._attached))
            self._program.detach(tuple(name for name in self._attached if name not in names))
        self._attached = names

    def close(self) -> None:
        """Take the program out of the kernel."""
        self._program.close()
        self._watched.clear()
        self._groups.clear()

    def watch(self, pid: int) -> bool:
        """Count for a process from now on; as often as `forget` will be called.

        Returns:
            Whether nobody watched it before.

        Raises:
            BpfError: the kernel refused.
        """
        self._run()
        try:
            return self._add(pid)
        finally:
            self._rest()

    def forget(self, pid: int) -> bool:
        """Count no more for a process, once nobody watches it; whether that is so."""
        gone = self._remove([pid])
        self._rest()
        self.free(gone)
        return pid not in self._watched

    def follow(self, whose: Processes) -> tuple[list[int], Indices]:
        """Count for the processes that there are now, and no more for those that are gone.

        Their children are among them that a program in the kernel made targets at their birth.

        Returns:
            Processes of which nothing was counted before; intp[n], slots of processes that nobody
            watches any more, to be freed.

        Raises:
            BpfError: the kernel refused.
        """
        self._run()
        before, now = self._groups.get(whose, NOBODY), whose.pids
        self._groups[whose] = now
        if before is now:
            return [], NONE
        self.followed += 1
        new = [pid for pid in np.setdiff1d(now, before, True).tolist() if self._add(pid)]
        return new, self._remove(np.setdiff1d(before, now, True).tolist())

    def leave(self, whose: Processes) -> Indices:
        """Count no more for these processes; twice does no harm.

        Returns:
            intp[n], slots of processes that nobody watches any more, to be freed.
        """
        gone = self._remove(self._groups.pop(whose, NOBODY).tolist())
        self._rest()
        return gone

    @property
    def _runs(self) -> bool:
        return bool(self._watched or self._groups)

    def _run(self) -> None:
        if not self._runs:
            self._program.attach(self._attached)

    def _rest(self) -> None:
        if not self._runs:
            self._program.detach()

    def _add(self, pid: int) -> bool:
        """Count for a process; whether it was none of the targets before."""
        new = False
        if pid not in self._watched:
            new = libbpf.add(self._targets, pid, 1)
            self._gone[pid % WATCHED :][:1] -= np.uint32(new)
        self._watched[pid] += 1
        return new

    def _remove(self, pids: Iterable[int]) -> Indices:
        """Watch processes one time less; intp[n], slots of those that nobody watches now."""
        gone: list[int] = []
        for pid in pids:
            self._watched[pid] -= 1
            if self._watched[pid] > 0:
                continue
            del self._watched[pid]
            gone.append(pid)
            self._gone[pid % WATCHED :][:1] += np.uint32(libbpf.remove(self._targets, pid))
        if not gone:
            return NONE
        left: Indices = np.flatnonzero(are_in(self.used["tgid"], np.array(sorted(gone), np.uint32)))
        return left

    def claim(self, indices: Indices, whose: Whose) -> Indices:
        """Somebody knows that threads have ended.

        Args:
            indices: intp[n], their slots.
            whose: who it is.

        Returns:
            Of these the slots that nobody waits for any more: they are to be freed.
        """
        done = np.ones(len(indices), np.bool_)
        owners = self.slots["tgid"][indices].tolist()
        for place, (index, pid) in enumerate(zip(indices.tolist(), owners, strict=True)):
            if self._watched[pid] > 1:
                claims = self._claims.setdefault(index, set())
                claims.add(whose)
                done[place] = len(claims) >= self._watched[pid]
        return indices[done]

    @property
    def used(self) -> Slots:
        """The slots that have been used so far, those of nobody included."""
        return self.slots[: min(int(self.control["used"][0]), len(self.slots))]

    @property
    def in_use(self) -> int:
        """How many threads have a slot now."""
        return int(np.count_nonzero(self.used["tgid"]))

    def free(self, indices: Indices) -> None:
        """Take slots from their threads; `recycle` makes them anybody's."""
        self.freed += len(indices)
        if self._claims:
            for index in indices.tolist():
                self._claims.pop(index, None)
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

    def tidy(self, many: int | None = None) -> Indices:
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
