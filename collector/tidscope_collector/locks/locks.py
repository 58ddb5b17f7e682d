"""The locks of one target, as whoever makes its frames asks for them.

    locks = open_locks(process, ask_program=True)
    numbers = locks.numbers(addresses)   # each second, from the sampling thread; never waits
    rows = locks.names(after=revision)   # rows of `lock_names` that are new
    more = locks.waits()                 # rows of `locks` that no futex tells of

What lies at new addresses is found out by a thread of its own, with the help of limited children.
"""

import logging
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

READ_EVERY_S = 10.0
"""A program's own account of its locks."""

log = logging.getLogger("tidscope.locks")


class LockWaits(NamedTuple):
    """A row of the table `locks`: values are cumulative since attach.

    Attributes:
        lock: its number.
        tid: of the thread; 0: it is not known which one.
        wait_ns: time waited.
        waits: how many waits.
    """

    lock: int
    tid: int
    wait_ns: int
    waits: int


class Locks:
    """Numbers and names of the locks of one target; any thread may call its methods.

    Args:
        pid: of the process.
        start_ticks: its start.
        source: the program's own account of its locks, read every READ_EVERY_S.
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
        """Numbers of locks, by the addresses that threads wait at; returns at once.

        Several addresses may be one lock: rows of the same lock and thread are to be added up.

        Args:
            addresses: uint64[n].
            final: there is no later time: those that are not examined yet get numbers without
                names.

        Returns:
            uint32[n]; 0 for those that are being examined, usually for less than a second, and
            for those beyond the most that a target may have: their rows are left out for now.
            Counters are cumulative, so nothing of them is lost.
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
        """The same of addresses that are all in the one process."""
        return self.numbers(addresses)

    def number_of_call(self, name: str) -> int:
        """The number of waits in a system call; 0: there are too many locks."""
        with self._changed:
            return self._registry.number_of("system-call", name, "call")

    def names(self, after: int = 0) -> list[LockName]:
        """Rows of `lock_names`; a row never changes.

        Args:
            after: rows that were seen before: the first so many are left out.
        """
        with self._changed:
            return self._registry.names(after)

    def waits(self) -> list[LockWaits]:
        """Rows of `locks` of which no futex tells, all of them; of each lock and thread one."""
        with self._changed:
            return list(self._waits)

    @property
    def reason(self) -> str:
        """Why locks have no names, or those that are no futexes are not known; empty if none is
        missing."""
        account = self._source.reason if self._source else ""
        return "; ".join(filter(None, (self._unexamined, account)))

    @property
    def without_number(self) -> int:
        """Locks that have no number, because the target has too many."""
        with self._changed:
            return self._registry.without_number

    def executed(self, source: LockSource | None = None) -> None:
        """The target runs another program: its addresses mean other locks from now on.

        Args:
            source: the new program's own account of its locks.
        """
        with self._changed:
            self._forget()
            self._program = ""
            self._source = source
            self._read_at_s = 0.0
            self._changed.notify_all()

    def executed_in(self, _pid: int, source: LockSource | None = None) -> None:
        """The same, where it is known of which process."""
        self.executed(source)

    def close(self) -> None:
        """Stop examining; returns at once, names stay."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        """Wait until every address is examined; whether that is so in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._pending, timeout_s)

    def _forget(self) -> None:
        self._execution += 1
        self._pending.clear()
        self._registry.forget_addresses()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work, self._until_reading_s())
                if self._closed:
                    return
                asked = sorted(self._pending)[:MAX_ADDRESSES]
                execution, join_place = self._execution, self._join_place
                source = self._source if self._until_reading_s() == 0 else None
            if asked:
                answer = self._ask(asked, join_place)
                with self._changed:
                    # Addresses of another program may be other locks.
                    if execution == self._execution:
                        self._enter(asked, answer)
                    self._changed.notify_all()
            if source is not None:
                before, found = source.reason, source.read()
                if source.reason not in ("", before):
                    log.info("locks of process %d: %s", self._pid, source.reason)
                with self._changed:
                    self._read_at_s = time.monotonic() + READ_EVERY_S
                    if execution == self._execution:
                        self._waits = self._rows(found)

    def _has_work(self) -> bool:
        return self._closed or bool(self._pending) or self._until_reading_s() == 0

    def _until_reading_s(self) -> float | None:
        """Seconds until the source is to be read; None if there is none."""
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

    def _ask(self, asked: list[int], join_place: int) -> LockAnswer | None:
        try:
            answer = ask_lock_addresses(self._pid, self._start_ticks, asked, join_place)
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
                # It is another program already; whoever asks next asks about that one.
                self._forget()
                self._program = answer.program
                return
            self._program = answer.program
            self._join_place = answer.join_place
            found |= {
                address: answer.found[address] for address in asked if address in answer.found
            }
        self._pending.difference_update(asked)
        self._registry.enter(found)


def _unexamined(address: int) -> Found:
    return Found("unknown", "", address, "gone", "")


def open_locks(process: Process, *, ask_program: bool) -> Locks:
    """Make what names the locks of a process.

    Args:
        process: the process.
        ask_program: whether it may be asked for its own account, where it has one.
    """
    source = own_account(process) if ask_program else None
    return Locks(process.pid, process.start_ticks, source)
