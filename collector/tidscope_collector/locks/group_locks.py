"""Numbers and names of the locks of a group.

A lock is identified by process and address, or by its place in memory that processes share.
"""

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
from tidscope_collector.locks.registry import OF_THREADS, Addresses, LockName, LockRows, Numbers
from tidscope_collector.locks.runtime_locks import LockSource

_MAX_REFUSED = 64
"""Maximum processes whose examination error is kept; older ones are evicted."""
SPARE_PLACES = 4096
"""Remembered places beyond twice the requested ones before stale places are evicted."""
_BETWEEN_S = 0.2
"""Pause between two examinations, in seconds. Each takes about 10 ms of CPU time; most processes of
a build end before their turn."""

log = logging.getLogger("tidscope.locks")


class LockOwner(NamedTuple):
    """A process with locks.

    Attributes:
        pid: process ID.
        start_ticks: start time in clock ticks since boot.
        name: name of the process (comm).
        lives: True if the process can be asked.
    """

    pid: int
    start_ticks: int
    name: str
    lives: bool


class GroupLocks:
    """A `LockNumbering` of several processes. Thread-safe.

    Locks of processes that end before they are examined share one lock per process name.

    Args:
        find: returns the process with an ID, living or recently ended, or None if unknown. The
            caller of `numbers_in` calls it.
        name_now: returns the name that a process has now: it may have executed another program
            since `find` learned of it. Called by the thread that examines.
    """

    def __init__(
        self, find: Callable[[int], LockOwner | None], name_now: Callable[[LockOwner], str]
    ) -> None:
        self._find = find
        self._name_now = name_now
        self._numbers: dict[tuple[int, int], int] = {}
        """Lock numbers by process and address."""
        self._locks: dict[Hashable, int] = {}
        self._names = LockRows()
        self._texts: set[str] = set()
        self._places: Counter[tuple[int, str]] = Counter()
        self._join_places: dict[str, int] = {}
        self._pending: dict[LockOwner, set[int]] = {}
        self._examined: dict[int, str] = {}
        """Name of each process when it was examined."""
        self._refused: dict[int, str] = {}
        """Error of each process that could not be examined."""
        self._changed = threading.Condition()
        self._closed = False
        self._worker = threading.Thread(target=self._work, name="group-locks", daemon=True)
        self._worker.start()

    def numbers_in(self, processes: npt.NDArray[np.uint32], addresses: Addresses) -> Numbers:
        """Return numbers of locks by process and address, without waiting.

        Args:
            processes: uint32[n], process IDs of all places at which threads have waited.
            addresses: uint64[n].

        Returns:
            uint32[n]; 0 while a place is being examined, and beyond the maximum of locks.
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

    def holders(self, addresses: Addresses, _waiters: Numbers) -> Numbers:
        """Return zeros: holders are not looked for in groups."""
        return np.zeros(len(addresses), np.uint32)

    def number_of_call(self, name: str) -> int:
        """Return the number of waits in a system call, for all processes; 0 beyond the maximum."""
        row = LockName(0, 0, name, "call", "system-call", "")
        with self._changed:
            return self._add(("call", name), row)

    def names(self) -> list[LockName]:
        """Return rows of `lock_names`; a row never changes."""
        with self._changed:
            return list(self._names.rows)

    def waits(self) -> list[LockWaits]:
        """Return no rows: programs of a group are not asked for their own account."""
        return []

    def executed_in(self, pid: int, _source: LockSource | None = None) -> None:
        """Forget the addresses of a process that runs another program."""
        with self._changed:
            for place in [place for place in self._numbers if place[0] == pid]:
                del self._numbers[place]
            for key in [key for key in self._locks if isinstance(key, tuple) and key[0] == pid]:
                del self._locks[key]
            for owner in [owner for owner in self._pending if owner.pid == pid]:
                del self._pending[owner]

    @property
    def places(self) -> int:
        """Number of remembered places."""
        with self._changed:
            return len(self._numbers)

    @property
    def without_number(self) -> int:
        """Number of locks without a number, because there are too many."""
        with self._changed:
            return self._names.without_number

    @property
    def reason(self) -> str:
        """Why locks of a living process have no names, for the last such one; empty if all have."""
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
        """Stop examining without waiting; names stay."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        """Wait until every address is examined. Return False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending, timeout_s)

    def _request(self, pid: int, address: int) -> int:
        """Return a number for an unknown place, or 0 if it has to be examined."""
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
        """Evict places that are no longer requested; most belong to ended processes."""
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
            answer, name = self._ask(owner, asked), self._name_now(owner)
            with self._changed:
                # After an exec, addresses may mean other locks.
                if owner in self._pending:
                    self._enter(owner, name, asked, answer)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed, _BETWEEN_S)

    def _ask(self, owner: LockOwner, asked: list[int]) -> LockAnswer | None:
        join_place = self._join_places.get(owner.name, 0)
        try:
            answer = ask_lock_addresses(owner.pid, owner.start_ticks, asked, join_place, {})
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

    def _enter(
        self, owner: LockOwner, name: str, asked: list[int], answer: LockAnswer | None
    ) -> None:
        left = self._pending.pop(owner) - set(asked)
        if left:
            self._pending[owner] = left
        owner = owner._replace(name=name)
        if answer is not None:
            self._join_places[owner.name] = answer.join_place
        known = {} if answer is None else answer.found
        for address in asked:
            found = known.get(address) or Found("unknown", "", address, "gone", "")
            self._numbers[owner.pid, address] = self._number(owner, address, found)

    def _number(self, owner: LockOwner, address: int, found: Found) -> int:
        of_threads = found.kind in OF_THREADS and found.name
        key: Hashable = owner.pid, found.name if of_threads else found.base
        if found.shared:
            key = "shared", found.shared
        if key in self._locks:
            return self._locks[key]
        name = found.name
        if not name and found.place != "gone":
            # Kind of memory, numbered in order of appearance.
            memory = 0 if found.shared else owner.pid, found.place
            self._places[memory] += 1
            name = f"{found.place} #{self._places[memory]}"
        text = f"{name or 'lock'} in {owner.name}"
        if text in self._texts:
            text = f"{text} {owner.pid}"
        begin = address if of_threads else found.base
        return self._add(key, LockName(0, begin, text, found.kind, "futex", found.file))

    def _add(self, key: Hashable, row: LockName) -> int:
        if key in self._locks:
            return self._locks[key]
        number = self._names.add(row)
        if number:
            self._locks[key] = number
            self._texts.add(row.name)
        return number
