"""Numbers and names of the locks of a group's processes: one lock is a place in one process."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_addresses import MAX_ADDRESSES
from tidscope_collector.inspection.lock_answers import LockAnswer, ask_lock_addresses
from tidscope_collector.inspection.lock_kinds import Found
from tidscope_collector.locks.locks import LockWaits
from tidscope_collector.locks.registry import (
    OF_THREADS,
    Addresses,
    LockName,
    LockRows,
    Numbers,
)
from tidscope_collector.locks.runtime_locks import LockSource

_MAX_REFUSED = 64
"""Processes of which it is remembered why they could not be examined."""
SPARE_PLACES = 4096
"""Places whose number is remembered, beyond twice those that are asked for."""
_BETWEEN_S = 0.2
"""Between two questions about locks, each of which takes some 10 ms of CPU time: of a build's
processes most end before their turn comes."""

log = logging.getLogger("tidscope.locks")


class LockOwner(NamedTuple):
    """A process with locks.

    Attributes:
        pid: its id.
        start_ticks: from boot to its start.
        name: comm.
        lives: whether it can be asked about.
    """

    pid: int
    start_ticks: int
    name: str
    lives: bool


class GroupLocks:
    """A `LockNumbering` of several processes; any thread may call its methods.

    The locks of processes that end before they are examined are one for each name of a process.

    Args:
        find: the process of an id, as it is or was lately; None: it is not known. Called by
            whoever calls `numbers_in`.
    """

    def __init__(self, find: Callable[[int], LockOwner | None]) -> None:
        self._find = find
        self._numbers: dict[tuple[int, int], int] = {}
        """By process and address."""
        self._locks: dict[Hashable, int] = {}
        self._names = LockRows()
        self._texts: set[str] = set()
        self._places: Counter[tuple[int, str]] = Counter()
        self._join_places: dict[str, int] = {}
        self._pending: dict[LockOwner, set[int]] = {}
        self._examined: dict[int, str] = {}
        """Of each process the name under which it was asked about."""
        self._refused: dict[int, str] = {}
        """Of processes that could not be examined: why."""
        self._changed = threading.Condition()
        self._closed = False
        self._worker = threading.Thread(target=self._work, name="group-locks", daemon=True)
        self._worker.start()

    def numbers_in(self, processes: npt.NDArray[np.uint32], addresses: Addresses) -> Numbers:
        """Numbers of locks by process and address; returns at once.

        Args:
            processes: uint32[n]; of all places at which threads waited so far.
            addresses: uint64[n].

        Returns:
            uint32[n]; 0 for those that are being examined, and beyond the most that there may be.
        """
        found = np.zeros(len(addresses), np.uint32)
        asked = list(zip(processes.tolist(), addresses.tolist(), strict=True))
        with self._changed:
            if len(self._numbers) > 2 * len(asked) + SPARE_PLACES:
                self._forget_all_but(asked)
            for row, place in enumerate(asked):
                number = self._numbers.get(place)
                found[row] = self._request(*place) if number is None else number
            if self._pending:
                self._changed.notify_all()
        return found

    def number_of_call(self, name: str) -> int:
        """The number of waits in a system call, of all processes; 0: there are too many locks."""
        row = LockName(0, 0, name, "call", "system-call", "")
        with self._changed:
            return self._add(("call", name), row)

    def names(self) -> list[LockName]:
        """Rows of `lock_names`; a row never changes."""
        with self._changed:
            return list(self._names.rows)

    def waits(self) -> list[LockWaits]:
        """None: programs of a group are not asked for their own account."""
        return []

    def executed_in(self, pid: int, _source: LockSource | None = None) -> None:
        """A process runs another program: its addresses mean other locks from now on."""
        with self._changed:
            for place in [place for place in self._numbers if place[0] == pid]:
                del self._numbers[place]
            for key in [key for key in self._locks if isinstance(key, tuple) and key[0] == pid]:
                del self._locks[key]
            for owner in [owner for owner in self._pending if owner.pid == pid]:
                del self._pending[owner]

    @property
    def places(self) -> int:
        """Places whose number is remembered."""
        with self._changed:
            return len(self._numbers)

    @property
    def without_number(self) -> int:
        """Locks that have no number, because there are too many."""
        with self._changed:
            return self._names.without_number

    @property
    def reason(self) -> str:
        """Why locks of living processes have no names, by the last of them; empty if all have."""
        with self._changed:
            for pid in list(self._refused):
                owner = self._find(pid)
                if owner is None or not owner.lives:
                    del self._refused[pid]
            if not self._refused:
                return ""
            others = len(self._refused) - 1
            last = next(reversed(self._refused.values()))
            return f"{last}; so have those of {others} more" if others else last

    def close(self) -> None:
        """Stop examining; returns at once, names stay."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        """Wait until every address is examined; whether that is so in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending, timeout_s)

    def _request(self, pid: int, address: int) -> int:
        """A number for what has none yet; 0: it has to be examined."""
        owner = self._find(pid)
        if owner is None or not owner.lives:
            name = self._examined.get(pid, "") if owner is None else owner.name
            for asked in [asked for asked in self._pending if asked.pid == pid]:
                del self._pending[asked]
            row = LockName(0, 0, f"locks in ended {name}".rstrip(), "unknown", "futex", "")
            number = self._numbers[pid, address] = self._add(("ended", name), row)
            return number
        self._pending.setdefault(owner, set()).add(address)
        self._examined[pid] = owner.name
        return 0

    def _forget_all_but(self, asked: Sequence[tuple[int, int]]) -> None:
        """Forget places, most of them in ended processes, that nobody asks for any more."""
        places, pids = set(asked), {pid for pid, _ in asked}
        self._numbers = {at: number for at, number in self._numbers.items() if at in places}
        self._examined = {pid: name for pid, name in self._examined.items() if pid in pids}

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or bool(self._pending))
                if self._closed:
                    return
                owner = next(iter(self._pending))
                asked = sorted(self._pending[owner])[:MAX_ADDRESSES]
            answer = self._ask(owner, asked)
            with self._changed:
                # Addresses of another program may be other locks.
                if owner in self._pending:
                    self._enter(owner, asked, answer)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed, _BETWEEN_S)

    def _ask(self, owner: LockOwner, asked: list[int]) -> LockAnswer | None:
        join_place = self._join_places.get(owner.name, 0)
        try:
            answer = ask_lock_addresses(owner.pid, owner.start_ticks, asked, join_place)
        except NoAnswerError as error:
            log.info("locks of process %d: %s", owner.pid, error)
            with self._changed:
                self._refuse(owner, str(error))
            return None
        with self._changed:
            self._refused.pop(owner.pid, None)
        return answer

    def _refuse(self, owner: LockOwner, why: str) -> None:
        self._refused.pop(owner.pid, None)
        self._refused[owner.pid] = f"locks of {owner.name} ({owner.pid}) have no names: {why}"
        if len(self._refused) > _MAX_REFUSED:
            del self._refused[next(iter(self._refused))]

    def _enter(self, owner: LockOwner, asked: list[int], answer: LockAnswer | None) -> None:
        left = self._pending.pop(owner) - set(asked)
        if left:
            self._pending[owner] = left
        if answer is not None:
            self._join_places[owner.name] = answer.join_place
        known = {} if answer is None else answer.found
        for address in asked:
            found = known.get(address) or Found("unknown", "", address, "gone", "")
            self._numbers[owner.pid, address] = self._number(owner, address, found)

    def _number(self, owner: LockOwner, address: int, found: Found) -> int:
        shared = found.kind in OF_THREADS and found.name
        key: Hashable = owner.pid, found.name if shared else found.base
        if key in self._locks:
            return self._locks[key]
        name = found.name
        if not name and found.place != "gone":
            # The place in memory, and a number in order of appearance.
            self._places[owner.pid, found.place] += 1
            name = f"{found.place} #{self._places[owner.pid, found.place]}"
        text = f"{name or 'lock'} in {owner.name}"
        if text in self._texts:
            text = f"{text} {owner.pid}"
        begin = address if shared else found.base
        return self._add(key, LockName(0, begin, text, found.kind, "futex", found.file))

    def _add(self, key: Hashable, row: LockName) -> int:
        if key in self._locks:
            return self._locks[key]
        number = self._names.add(row)
        if number:
            self._locks[key] = number
            self._texts.add(row.name)
        return number
