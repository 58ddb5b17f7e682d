"""Numbers and names of a target's locks: addresses in, rows of the wire out.

Not thread-safe; `locks.Locks` serializes access.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tidscope_collector.inspection.lock_kinds import Found, Kind

Addresses = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]
Source = Literal["futex", "go-mutex-profile", "go-metrics", "java-monitor", "system-call"]

MAX_LOCKS = 65_536
"""Maximum locks per target; further ones get no number."""
MAX_CHARACTERS = 4 << 20
"""Maximum length of all names and paths of a target, in characters; further locks get no number."""

OF_THREADS = ("park", "join")
"""Kinds with one address per thread; all addresses with the same name are one lock."""


class LockName(NamedTuple):
    """A row of the table `lock_names`.

    Attributes:
        lock: lock number, from 1.
        address: start address, or the first one seen of several; 0 if it has none.
        name: name, or empty if unknown.
        kind: kind of lock.
        source: source of the name.
        symbol_file: path of the file that defines the variable, as the target sees it; or empty.
    """

    lock: int
    address: int
    name: str
    kind: Kind
    source: Source
    symbol_file: str


class LockRows:
    """Bounded rows of the table `lock_names`.

    Attributes:
        rows: all of them; a row never changes.
        without_number: number of locks without a number, because there are too many.
    """

    def __init__(self) -> None:
        self.rows: list[LockName] = []
        self.without_number = 0
        self._characters = 0

    @property
    def full(self) -> bool:
        """True if no further lock gets a number."""
        return len(self.rows) >= MAX_LOCKS or self._characters >= MAX_CHARACTERS

    def add(self, row: LockName) -> int:
        """Return the number of a new row, or 0 if there are too many."""
        if self.full:
            self.without_number += 1
            return 0
        self._characters += len(row.name) + len(row.symbol_file)
        number = len(self.rows) + 1
        self.rows.append(row._replace(lock=number))
        return number


class LockRegistry:
    """Assigns lock numbers, which stay valid until the target ends.

    Memory that is freed and reused for another lock keeps its number.

    Attributes:
        revision: number of rows; grows with each new name.
    """

    def __init__(self) -> None:
        self._addresses: Addresses = np.zeros(0, np.uint64)
        self._numbers: Numbers = np.zeros(0, np.uint32)
        self._locks: dict[Hashable, int] = {}
        self._names = LockRows()
        self._places: Counter[str] = Counter()

    @property
    def revision(self) -> int:
        return len(self._names.rows)

    @property
    def without_number(self) -> int:
        """Number of locks without a number, because there are too many."""
        return self._names.without_number

    def names(self, after: int = 0) -> list[LockName]:
        """Return rows added after a revision; rows never change."""
        return self._names.rows[after:]

    def numbers(self, addresses: Addresses) -> Numbers:
        """Return numbers of addresses, uint32[n]; 0 if unknown."""
        if not len(self._addresses):
            return np.zeros(len(addresses), np.uint32)
        at = np.minimum(np.searchsorted(self._addresses, addresses), len(self._addresses) - 1)
        known = self._addresses[at] == addresses
        return np.where(known, self._numbers[at], 0).astype(np.uint32)

    def unknown(self, addresses: Addresses) -> Addresses:
        """Return addresses without an entry, unique and ascending."""
        return np.setdiff1d(addresses, self._addresses)

    def enter(self, found: Mapping[int, Found]) -> None:
        """Number examined addresses."""
        new = {address: self._number(address, one) for address, one in found.items()}
        addresses = np.array(sorted(new), np.uint64)
        numbers = np.array([new[int(address)] for address in addresses], np.uint32)
        at = np.searchsorted(self._addresses, addresses)
        self._addresses = np.insert(self._addresses, at, addresses)
        self._numbers = np.insert(self._numbers, at, numbers)

    def number_of(self, source: Source, name: str, kind: Kind, symbol_file: str = "") -> int:
        """Return the number of a lock without an address, new at first; 0 beyond the maximum."""
        row = LockName(0, 0, name, kind, source, symbol_file)
        return self._add((source, name), row)

    def forget_addresses(self) -> None:
        """Forget all addresses: the target runs another program."""
        self._addresses = np.zeros(0, np.uint64)
        self._numbers = np.zeros(0, np.uint32)
        self._locks = {key: lock for key, lock in self._locks.items() if not isinstance(key, int)}

    def _number(self, address: int, found: Found) -> int:
        shared = found.kind in OF_THREADS and found.name
        key: Hashable = ("futex", found.name) if shared else found.base
        if key in self._locks:
            return self._locks[key]
        name = found.name
        if not name and found.place != "gone" and not self._names.full:
            # Kind of memory, numbered in order of appearance.
            self._places[found.place] += 1
            name = f"{found.place} #{self._places[found.place]}"
        begin = address if shared else found.base
        return self._add(key, LockName(0, begin, name, found.kind, "futex", found.file))

    def _add(self, key: Hashable, row: LockName) -> int:
        if key in self._locks:
            return self._locks[key]
        number = self._names.add(row)
        if number:
            self._locks[key] = number
        return number
