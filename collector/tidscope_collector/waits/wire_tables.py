"""From the tables of a keeper to those of frames: locks by number, names as text."""

import os
from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table, Tables, dtype_of
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import TableName

from tidscope_collector.ebpf.watched import Pids, Whose
from tidscope_collector.locks.locks import LockWaits
from tidscope_collector.locks.registry import Addresses, LockName, Numbers
from tidscope_collector.locks.runtime_locks import LockSource
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.ledger import LedgerKeeper
from tidscope_collector.waits.slots import CALL_ADDRESS
from tidscope_collector.waits.sums import sum_by


class LockNumbering(Protocol):
    """Numbers and names of the locks of a target.

    Attributes:
        reason: why some locks are not known or have no names; empty if nothing is missing.
    """

    @property
    def reason(self) -> str: ...

    def numbers_in(self, processes: Pids, addresses: Addresses) -> Numbers:
        """Numbers of locks by process and address; 0: there is none yet.

        Args:
            processes: uint32[n].
            addresses: uint64[n].
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
        keeper: watches the processes.
        whose: which.
        locks: theirs; closed with this.

    Attributes:
        locks: the same.
    """

    def __init__(self, keeper: LedgerKeeper, whose: Whose, locks: LockNumbering) -> None:
        self._keeper = keeper
        self._whose = whose
        self.locks = locks

    def read(self) -> Iterator[Tables]:
        """See `TableSource`."""
        for counted in self._keeper.tables(self._whose):
            yield {}
            if counted:
                yield as_wire_tables(counted, self.locks)
        # After the numbers: whatever has one has a name as well.
        names = [tuple(row) for row in self.locks.names()]
        yield {"lock_names": np.array(names, dtype_of("lock_names"))}

    @property
    def locks_reason(self) -> str:
        """See `TableSource`."""
        return self.locks.reason

    def close(self) -> None:
        """Examine locks no more."""
        self.locks.close()


_CALL_NAMES = names_of_calls(os.uname().machine)
_PLAIN: tuple[TableName, ...] = ("stays", "wakes", "takers", "calls", "call_stays")


def as_wire_tables(counted: Mapping[str, Table], locks: LockNumbering) -> dict[TableName, Table]:
    """Make tables of a frame.

    Args:
        counted: some of those that `LedgerKeeper.tables` gives.
        locks: of the same processes. Waits for a lock that has no number yet are left out.
    """
    made = {name: _plain(name, counted[name]) for name in _PLAIN if name in counted}
    if "locks" in counted:
        made["locks"] = _locks(counted["locks"], locks)
    return made


def _plain(name: TableName, counted: Table) -> Table:
    made = np.empty(len(counted), dtype_of(name))
    for column, kind in COLUMNS[name].items():
        values = counted[column]
        made[column] = _texts(values) if kind == "utf8" else values
    return made


def _texts(values: npt.NDArray[np.bytes_]) -> list[str]:
    known = {value: value.decode("utf-8", "replace") for value in set(values.tolist())}
    return [known[value] for value in values.tolist()]


def _locks(counted: Table, locks: LockNumbering) -> Table:
    """Rows by number: several addresses may be one lock, and some locks are at no address."""
    places, which = np.unique(counted[["process", "address"]], return_inverse=True)
    numbers = _numbers(places, locks)[which]
    futex = counted[numbers != 0]
    others = locks.waits()
    lock = np.concatenate([numbers[numbers != 0], _words([one.lock for one in others])])
    tid = np.concatenate([futex["tid"].astype(np.uint64), _words([one.tid for one in others])])
    wait_ns = np.concatenate([futex["wait_ns"], _words([one.wait_ns for one in others])])
    waits = np.concatenate([futex["waits"], _words([one.waits for one in others])])
    wakes = np.concatenate([futex["wakes"], _words([0] * len(others))])
    keys, values = sum_by((lock, tid), (wait_ns, waits, wakes))
    made = np.empty(len(keys[0]), dtype_of("locks"))
    for column, numbers in zip(COLUMNS["locks"], (*keys, *values), strict=True):
        made[column] = numbers
    return made


def _numbers(places: Table, locks: LockNumbering) -> npt.NDArray[np.uint64]:
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
