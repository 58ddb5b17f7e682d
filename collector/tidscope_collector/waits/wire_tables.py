"""From the tables beside ledgers to those of frames: locks by number, names as text."""

import os
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt
from tidscope_sampler.native import Sampler
from tidscope_wire.frame_tables import Table, Tables, are_ascending, dtype_of, packed
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import TableName

from tidscope_collector.locks.locks import HELD, LockWaits
from tidscope_collector.locks.registry import Addresses, LockName, Numbers
from tidscope_collector.locks.runtime_locks import LockSource
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.parties import Parties, SeenProcess

CALL_ADDRESS = np.uint64(1 << 63)
"""In place of an address: the thread waited in the system call of the number that is added."""
INTERRUPT = "interrupt"
IDLE = "idle"
UNKNOWN = "unknown"
Columns = dict[str, npt.NDArray[np.uint64]]
"""Columns of a table by their names, uint64[n] or uint32[n] each."""
Named = tuple[tuple[npt.NDArray[np.uint64], ...], tuple[npt.NDArray[np.uint64], ...]]


class LockNumbering(Protocol):
    """Numbers and names of the locks of a target.

    Attributes:
        reason: why some locks are not known or have no names; empty if nothing is missing.
    """

    @property
    def reason(self) -> str: ...

    def numbers_in(self, processes: npt.NDArray[np.uint32], addresses: Addresses) -> Numbers:
        """Numbers of locks by process and address; 0: there is none yet.

        Args:
            processes: uint32[n].
            addresses: uint64[n].
        """

    def holders(self, addresses: Addresses, waiters: Numbers) -> Numbers:
        """Threads that hold locks, by the addresses of waits that last; 0: not known.

        Args:
            addresses: uint64[n].
            waiters: uint32[n], the threads that wait.

        Returns:
            uint32[n]; HELD if nobody knows who holds it.
        """

    def number_of_call(self, name: str) -> int:
        """The number of waits in a system call that is no state of its own; 0: it gets none."""

    def names(self) -> list[LockName]:
        """Rows of `lock_names`."""

    def waits(self) -> list[LockWaits]:
        """Rows of `locks` of which no futex tells."""

    def executed_in(self, pid: int, source: LockSource | None = None) -> None:
        """A process runs another program: its addresses mean other locks from now on.

        Args:
            pid: of it.
            source: the new program's own account of its locks.
        """

    def close(self) -> None:
        """Stop examining locks."""


class LedgerTables:
    """The tables of one target; a `TableSource`.

    Args:
        sampler: keeps the ledgers.
        target: id of the target.
        locks: theirs; closed with this.
        parties: numbers processes outside the target; closed with this.

    Attributes:
        locks: the same.
    """

    def __init__(
        self, sampler: Sampler, target: str, locks: LockNumbering, parties: Parties
    ) -> None:
        self._sampler = sampler
        self._target = target
        self._parties = parties
        self.locks = locks

    def read(self) -> Tables:
        """See `TableSource`."""
        read = self._sampler.wait_tables(self._target)
        if read is None:
            return {}
        raw, processes = read[0], [SeenProcess(*one) for one in read[1]]
        counted = {name: columns_of(table) for name, table in raw.items()}
        names = {one.key: one.name for one in processes}
        made = as_wire_tables(counted, names, self._parties.see(processes), self.locks)
        # After the numbers: whatever has one has a name as well.
        rows = [tuple(row) for row in self.locks.names()]
        lock_names = np.array(rows, dtype_of("lock_names"))
        return {**made, "lock_names": lock_names, "parties": self._parties.table()}

    @property
    def locks_reason(self) -> str:
        """See `TableSource`."""
        return self.locks.reason

    def close(self) -> None:
        """Examine locks and describe parties no more."""
        self.locks.close()
        self._parties.close()


_CALL_NAMES = names_of_calls(os.uname().machine)


def columns_of(table: Mapping[str, tuple[bool, bytes]]) -> Columns:
    """Arrays of a table as the sampler gives it: bytes, of 64 bits a value or of 32."""
    return {
        name: np.frombuffer(values, np.uint64 if is_wide else np.uint32)
        for name, (is_wide, values) in table.items()
    }


def as_wire_tables(
    counted: Mapping[str, Columns],
    names: Mapping[int, str],
    parties: Mapping[int, int],
    locks: LockNumbering,
) -> Tables:
    """Make tables of a frame.

    Args:
        counted: tables beside ledgers, by name.
        names: of processes, by key.
        parties: numbers of processes outside the target, by key.
        locks: of the same processes. Waits for a lock that has no number yet are left out.
    """
    more: dict[str, dict[str, list[str] | npt.NDArray[np.uint32]]] = {}
    if "wakes" in counted:
        wakers = keys_of(counted["wakes"], "waker_pid")
        named = [names.get(key, "") if key else INTERRUPT for key in wakers]
        numbers = _numbered(counted["wakes"]["party"], parties)
        more["wakes"] = {"waker_name": named, "party": numbers}
    if "takers" in counted:
        takers = counted["takers"]
        who = zip(keys_of(takers, "pid"), takers["kernel"].tolist(), strict=True)
        nobody = (UNKNOWN, IDLE)
        named = [names.get(key, "") if key else nobody[kernel] for key, kernel in who]
        more["takers"] = {"name": named, "party": _numbered(takers["party"], parties)}
    if "calls" in counted:
        calls = counted["calls"]["call"].tolist()
        more["calls"] = {"name": [_CALL_NAMES.get(call, f"call {call}") for call in calls]}
    made: dict[TableName, Table] = {}
    plain: tuple[TableName, ...] = ("stays", "wakes", "takers", "calls", "call_stays")
    for name in plain:
        if name in counted:
            made[name] = _plain(name, counted[name], more.get(name, {}))
    if "locks" in counted:
        made["locks"] = _locks(counted["locks"], locks)
    if "waiting" in counted:
        made["holders"] = _holders(counted["waiting"], locks)
    return made


def keys_of(table: Columns, pids: str) -> list[int]:
    """Keys of the processes of rows: a party's own, of a member the ID in the column `pids`."""
    keys: list[int] = np.where(table["party"], table["party"], table[pids]).tolist()
    return keys


def _numbered(
    keys: npt.NDArray[np.unsignedinteger], parties: Mapping[int, int]
) -> npt.NDArray[np.uint32]:
    distinct, which = np.unique(keys, return_inverse=True)
    numbers = np.array([parties.get(key, 0) for key in distinct.tolist()], np.uint32)
    return numbers[which]


def _plain(
    name: TableName, counted: Columns, more: Mapping[str, list[str] | npt.NDArray[np.uint32]]
) -> Table:
    made = np.empty(len(next(iter(counted.values()))), dtype_of(name))
    for column in COLUMNS[name]:
        made[column] = more[column] if column in more else counted[column]
    return made


def _locks(counted: Columns, locks: LockNumbering) -> Table:
    """Rows by number: several addresses may be one lock, and some locks are at no address."""
    places = np.empty(len(counted["tid"]), [("process", "u4"), ("address", "u8")])
    places["process"], places["address"] = counted["process"], counted["address"]
    places, which = np.unique(places, return_inverse=True)
    numbers = lock_numbers(places, locks)[which]
    known = numbers != 0
    others = locks.waits()
    lock = np.concatenate([numbers[known], _words([one.lock for one in others])])
    tid = np.concatenate([counted["tid"][known], _words([one.tid for one in others])])
    wait_ns = np.concatenate([counted["wait_ns"][known], _words([one.wait_ns for one in others])])
    waits = np.concatenate([counted["waits"][known], _words([one.waits for one in others])])
    wakes = np.concatenate([counted["wakes"][known], _words([0] * len(others))])
    keys, values = sum_by((lock, tid.astype(np.uint64)), (wait_ns, waits, wakes))
    made = np.empty(len(keys[0]), dtype_of("locks"))
    for column, numbers in zip(COLUMNS["locks"], (*keys, *values), strict=True):
        made[column] = numbers
    return made


def _holders(waiting: Columns, locks: LockNumbering) -> Table:
    """Waits that last for locks that somebody holds."""
    futexes = waiting["address"] < CALL_ADDRESS
    processes, addresses = waiting["process"][futexes], waiting["address"][futexes]
    holders = locks.holders(addresses, waiting["tid"][futexes].astype(np.uint32))
    held = holders != 0
    made = np.zeros(int(held.sum()), dtype_of("holders"))
    if not held.any():
        return made
    made["lock"] = locks.numbers_in(processes[held].astype(np.uint32), addresses[held])
    made["holder"] = np.where(holders[held] == HELD, 0, holders[held])
    made["tid"] = waiting["tid"][futexes][held]
    made["since_ns"] = waiting["since_ns"][futexes][held]
    known: Table = made[made["lock"] != 0]
    order = np.lexsort((known["lock"], known["tid"]))
    return known[order]


def lock_numbers(places: Table, locks: LockNumbering) -> npt.NDArray[np.uint64]:
    """Numbers of what is waited for, by process and address: locks, and some system calls."""
    in_call = places["address"] >= CALL_ADDRESS
    numbers = np.zeros(len(places), np.uint64)
    futexes = places[~in_call]
    numbers[~in_call] = locks.numbers_in(futexes["process"], futexes["address"])
    calls = (places["address"][in_call] - CALL_ADDRESS).tolist()
    names = [_CALL_NAMES.get(call, f"call {call}") for call in calls]
    numbers[in_call] = [locks.number_of_call(name) for name in names]
    return numbers


def _words(values: list[int]) -> npt.NDArray[np.uint64]:
    return np.array(values, np.uint64)


def sum_by(
    keys: tuple[npt.NDArray[np.uint64], ...], values: tuple[npt.NDArray[np.uint64], ...]
) -> Named:
    """Sums of the rows of each key, ascending.

    Args:
        keys: columns, uint64[n] each; together they are a row's key.
        values: columns, uint64[n] each.

    Returns:
        The columns again, a row a key.
    """
    if not len(keys[0]):
        return keys, values
    first = np.zeros(len(keys[0]), np.bool_)
    first[0] = True
    numbers = packed(keys)
    if numbers is None:
        order = np.lexsort(keys[::-1])
        for column in keys:
            ordered = column[order]
            first[1:] |= ordered[1:] != ordered[:-1]
    elif are_ascending(numbers):
        return keys, values
    else:
        order = np.argsort(numbers)
        ordered = numbers[order]
        first[1:] = ordered[1:] != ordered[:-1]
    begins = np.flatnonzero(first)
    return (
        tuple(column[order[begins]] for column in keys),
        tuple(np.add.reduceat(column[order], begins) for column in values),
    )
