"""The locks of one target, for the thread that makes its frames.

    locks = open_locks(process, ask_program=True)
    numbers = locks.numbers(addresses)   # each second, from the thread of targets; never waits
    rows = locks.names(after=revision)   # rows of `lock_names` that are new
    more = locks.waits()                 # rows of `locks` that no futex tells of

A worker thread examines new addresses with the help of limited children.
"""

import logging
import math
import threading
import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import Process

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_addresses import MAX_ADDRESSES
from tidscope_collector.inspection.lock_answers import LockAnswer, ask_lock_addresses
from tidscope_collector.inspection.lock_kinds import Found
from tidscope_collector.locks.registry import Addresses, LockName, LockRegistry, Numbers
from tidscope_collector.locks.runtime_locks import LockSource, Waited, own_account

READ_EVERY_S, MAX_REST_S = 4.0, 10.0
"""Limits of the interval between two readings of a program's own account of its locks, in seconds:
waits are known between two readings, and on a busy machine each takes long."""
REST = 100
"""Pause after such a reading, as a multiple of its duration: it may stop the program meanwhile."""
HOLDERS_EVERY_S = 5.0
"""Minimum interval between two questions who holds locks, in seconds; each takes some milliseconds
of CPU time."""

log = logging.getLogger("tidscope.locks")


class LockWaits(NamedTuple):
    """A row of the table `locks`; values are cumulative since attach.

    Attributes:
        lock: lock number.
        tid: thread ID, or 0 if unknown.
        wait_ns: time waited.
        waits: number of waits.
    """

    lock: int
    tid: int
    wait_ns: int
    waits: int


class _Holder(NamedTuple):
    """The thread that holds a lock, HELD or 0, and when to ask again."""

    tid: int
    due_s: float


HELD = (1 << 32) - 1
"""Holder of a lock that somebody holds, nobody knows who."""
_NOT_ASKED = _Holder(0, 0.0)


class Locks:
    """Numbers and names of the locks of one target. Thread-safe.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        source: the program's own account of its locks, or None; read every READ_EVERY_S, or
            every MAX_REST_S at most if that takes long.
    """

    def __init__(
        self,
        pid: int,
        start_ticks: int,
        source: LockSource | None = None,
    ) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._registry = LockRegistry()
        self._pending: set[int] = set()
        self._waited_at: dict[int, int] = {}
        """Addresses of waits that last, whose holder is to be asked for, and who waits there."""
        self._holders: dict[int, _Holder] = {}
        self._next_holders_s = 0.0
        self._program = ""
        self._execution = 0
        self._join_place = 0
        self._source = source
        self._read_at_s = 0.0
        self._waits: list[LockWaits] = []
        self._unexamined = ""
        self._changed = threading.Condition()
        self._closed = False
        self._worker = threading.Thread(target=self._work, name=f"locks-{pid}", daemon=True)
        self._worker.start()

    def numbers(self, addresses: Addresses, *, final: bool = False) -> Numbers:
        """Return numbers of locks by the addresses that threads wait at, without waiting.

        Several addresses may be one lock: add up rows of the same lock and thread.

        Args:
            addresses: uint64[n].
            final: True if there is no later call: unexamined addresses then get numbers without
                names.

        Returns:
            uint32[n]; 0 while an address is being examined, mostly for less than a second, and
            beyond the maximum of locks. Such rows are withheld; counters are cumulative, so nothing
            is lost.
        """
        with self._changed:
            found = self._registry.numbers(addresses)
            if found.all():
                return found
            left = self._registry.unknown(addresses).tolist()
            if final or self._closed:
                self._registry.enter({address: _unexamined(address) for address in left})
                return self._registry.numbers(addresses)
            self._pending.update(left)
            self._changed.notify_all()
            return found

    def numbers_in(self, _processes: npt.NDArray[np.uint32], addresses: Addresses) -> Numbers:
        """Return `numbers`; all addresses are in the one process."""
        return self.numbers(addresses)

    def holders(self, addresses: Addresses, waiters: Numbers) -> Numbers:
        """Return IDs of the threads that hold locks, without waiting.

        Args:
            addresses: uint64[n], of all waits that last.
            waiters: uint32[n], the threads that wait.

        Returns:
            uint32[n]; HELD if only that is known, 0 if nothing is.
        """
        now_s = time.monotonic()
        with self._changed:
            known = [self._holders.get(one, _NOT_ASKED) for one in addresses.tolist()]
            self._holders = dict(zip(addresses.tolist(), known, strict=True))
            if now_s >= self._next_holders_s:
                due = {one for one, held in self._holders.items() if held.due_s <= now_s}
                waits = zip(addresses.tolist(), waiters.tolist(), strict=True)
                self._waited_at = {address: tid for address, tid in waits if address in due}
                if due:
                    self._next_holders_s = now_s + HOLDERS_EVERY_S
                    self._changed.notify_all()
        return np.array([one.tid for one in known], np.uint32)

    def number_of_call(self, name: str) -> int:
        """Return the number of waits in a system call; 0 beyond the maximum."""
        with self._changed:
            return self._registry.number_of("system-call", name, "call")

    def names(self, after: int = 0) -> list[LockName]:
        """Return rows of `lock_names`; a row never changes.

        Args:
            after: number of rows to skip, because they were seen before.
        """
        with self._changed:
            return self._registry.names(after)

    def waits(self) -> list[LockWaits]:
        """Return all rows of `locks` not from futexes, one per lock and thread."""
        with self._changed:
            return list(self._waits)

    @property
    def reason(self) -> str:
        """Why locks have no names, or why other locks are unknown; empty if complete."""
        account = self._source.reason if self._source else ""
        return "; ".join(filter(None, (self._unexamined, account)))

    @property
    def without_number(self) -> int:
        """Number of locks without a number, because the target has too many."""
        with self._changed:
            return self._registry.without_number

    def executed(self, source: LockSource | None = None) -> None:
        """Forget all addresses: the target runs another program.

        Args:
            source: the new program's own account of its locks, or None.
        """
        with self._changed:
            self._forget()
            self._program = ""
            self._source = source
            self._read_at_s = 0.0
            self._changed.notify_all()

    def executed_in(self, _pid: int, source: LockSource | None = None) -> None:
        """Call `executed`; all locks are in the one process."""
        self.executed(source)

    def close(self) -> None:
        """Stop examining without waiting; names stay."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        """Wait until every address is examined. Return False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending, timeout_s)

    def _forget(self) -> None:
        self._execution += 1
        self._pending.clear()
        self._waited_at.clear()
        self._holders.clear()
        self._registry.forget_addresses()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work, self._until_reading_s())
                if self._closed:
                    return
                waited_at = dict(self._waited_at)
                asked = sorted(self._pending | waited_at.keys())[:MAX_ADDRESSES]
                execution, join_place = self._execution, self._join_place
                source = self._source if self._until_reading_s() == 0 else None
            if asked:
                answer = self._ask(asked, join_place, waited_at)
                with self._changed:
                    # After an exec, addresses may mean other locks.
                    if execution == self._execution:
                        self._enter(asked, answer)
                    self._changed.notify_all()
            if source is not None:
                began_s = time.monotonic()
                before, found = source.reason, source.read()
                took_s = time.monotonic() - began_s
                rest_s = min(max(READ_EVERY_S, REST * took_s), MAX_REST_S)
                if source.reason not in ("", before):
                    log.info("locks of process %d: %s", self._pid, source.reason)
                with self._changed:
                    self._read_at_s = time.monotonic() + rest_s
                    if execution == self._execution:
                        self._waits = self._rows(found)

    def _has_work(self) -> bool:
        work = self._pending or self._waited_at
        return self._closed or bool(work) or self._until_reading_s() == 0

    def _until_reading_s(self) -> float | None:
        """Return seconds until the source is due, or None without a source."""
        return None if self._source is None else max(0.0, self._read_at_s - time.monotonic())

    def _rows(self, found: list[Waited]) -> list[LockWaits]:
        rows: dict[tuple[int, int], LockWaits] = {}
        for one in found:
            lock = self._registry.number_of(one.source, one.name, one.kind)
            if lock:
                before = rows.get((lock, one.tid), LockWaits(lock, one.tid, 0, 0))
                rows[lock, one.tid] = before._replace(
                    wait_ns=before.wait_ns + one.wait_ns, waits=before.waits + one.waits
                )
        return list(rows.values())

    def _ask(self, asked: list[int], join_place: int, waiters: dict[int, int]) -> LockAnswer | None:
        try:
            answer = ask_lock_addresses(self._pid, self._start_ticks, asked, join_place, waiters)
        except NoAnswerError as error:
            log.info("locks of process %d: %s", self._pid, error)
            self._unexamined = f"locks have no names: {error}"
            return None
        self._unexamined = ""
        return answer

    def _enter(self, asked: list[int], answer: LockAnswer | None) -> None:
        found: dict[int, Found] = {address: _unexamined(address) for address in asked}
        if answer is not None:
            if self._program and self._program != answer.program:
                # The answer already comes from another program; the next request asks about that
                # one.
                self._forget()
                self._program = answer.program
                return
            self._program = answer.program
            self._join_place = answer.join_place
            found |= {
                address: answer.found[address] for address in asked if address in answer.found
            }
        self._registry.enter({one: found[one] for one in asked if one in self._pending})
        self._pending.difference_update(asked)
        waited_at = self._waited_at.keys() & set(asked)
        for address in waited_at:
            del self._waited_at[address]
        again_s = time.monotonic() + HOLDERS_EVERY_S
        for address in self._holders.keys() & waited_at:
            holder = found[address].holder or (HELD if found[address].held else 0)
            self._holders[address] = _Holder(holder, again_s if holder else math.inf)


def _unexamined(address: int) -> Found:
    return Found("unknown", "", address, "gone", "")


def open_locks(process: Process, *, ask_program: bool) -> Locks:
    """Return the locks of a process.

    Args:
        process: process to examine.
        ask_program: True if the program may be asked for its own account.
    """
    source = own_account(process) if ask_program else None
    return Locks(process.pid, process.start_ticks, source)
