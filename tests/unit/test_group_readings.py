"""Readings of groups: rows that are brought up to date in place, and when others are made."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from tidscope_collector.ebpf.watched import Processes
from tidscope_collector.groups.counters import GroupTaskstats, WalkedCounters
from tidscope_collector.groups.walks import GroupWalks
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.netacct.reader import GroupNetworkReader, join_columns
from tidscope_collector.threads.reading import Reading, TargetReader
from tidscope_collector.walk.block import DELAYS, Columns
from tidscope_wire.generated.models import AbsentField

FIELDS = ("cpu_run_ns", "blkio_delay_ns")
PIDS = np.array([10, 20], np.uint32)


@dataclass(frozen=True)
class Thread:
    """One thread, as a walk finds it."""

    tid: int
    pid: int
    cpu_ns: int
    start_ns: int = 5
    comm: bytes = b"work"
    state: int = DELAYS


FIRST = [Thread(10, 10, 100), Thread(11, 10, 200), Thread(20, 20, 300)]


class Kernel:
    """What walks find, and what taskstats says: the same."""

    fields = FIELDS
    absent: tuple[AbsentField, ...] = ()

    def __init__(self) -> None:
        self.threads = list(FIRST)
        self.counters = WalkedCounters(cast(GroupWalks, Walks(self)), cast(GroupTaskstats, self))

    def counters_of(self, thread: Thread) -> tuple[int, int]:
        return thread.cpu_ns, 7

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        threads = [one for one in self.threads if one.tid in tids.tolist()]
        return Reading(
            np.array([one.tid for one in threads], np.uint32),
            np.array([self.counters_of(one) for one in threads], np.uint64).reshape(-1, 2),
            None,
            np.array([one.start_ns for one in threads], np.int64),
            np.array([one.comm for one in threads], "S16"),
        )

    def change(self, place: int, **to: int | bytes) -> None:
        """A thread is another than it was."""
        before = self.threads[place]
        self.threads[place] = Thread(**{**before.__dict__, **to})


class Walks:
    """Walks over these threads."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def read(
        self, _pids: npt.NDArray[np.uint32], columns: Columns
    ) -> tuple[Columns, int, npt.NDArray[np.uint32]]:
        threads = self._kernel.threads
        for row, one in enumerate(threads):
            columns.tid[row], columns.state[row] = one.tid, one.state
            columns.start_ns[row] = one.start_ns
            columns.comm[row] = np.frombuffer(one.comm.ljust(16, b"\0"), np.uint64)
            columns.counters[:, row] = self._kernel.counters_of(one)
        return columns, len(threads), np.array([one.pid for one in threads], np.uint32)


def take(reading: Reading) -> list[int]:
    """Ids of the threads whose rows changed, which are taken in."""
    assert reading.changed is not None
    changed: list[int] = reading.tid[reading.changed].tolist()
    reading.changed[:] = False
    return changed


def test_the_same_threads_are_brought_up_to_date_where_they_are() -> None:
    kernel = Kernel()
    first = kernel.counters.read(PIDS)
    assert take(first) == []
    kernel.change(1, cpu_ns=250)
    second = kernel.counters.read(PIDS)
    assert second.counters is first.counters
    assert take(second) == [11]
    assert second.counters[:, 0].tolist() == [100, 250, 300]
    assert second.process is first.process
    # What was not taken in stands marked, as after a sample that failed.
    kernel.change(0, cpu_ns=101)
    kernel.counters.read(PIDS)
    kernel.change(2, cpu_ns=301)
    assert take(kernel.counters.read(PIDS)) == [10, 20]


CHANGES: dict[str, Callable[[Kernel], object]] = {
    "one began": lambda kernel: kernel.threads.append(Thread(21, 20, 1)),
    "one ended": lambda kernel: kernel.threads.pop(1),
    "another name": lambda kernel: kernel.change(1, comm=b"play"),
    "another start": lambda kernel: kernel.change(1, start_ns=9),
    "another process": lambda kernel: kernel.change(1, pid=20),
    "a counter fell": lambda kernel: kernel.change(1, cpu_ns=1),
    "delays are counted no more": lambda kernel: kernel.change(1, state=0),
}


@pytest.mark.parametrize("change", list(CHANGES.values()), ids=list(CHANGES))
def test_others_have_rows_of_their_own(change: Callable[[Kernel], object]) -> None:
    kernel = Kernel()
    first = kernel.counters.read(PIDS)
    kept = first.counters.copy()
    # Otherwise taskstats would disagree with a walk that it cannot disagree with.
    for _ in range(3):
        kernel.counters.read(PIDS)
    change(kernel)
    second = kernel.counters.read(PIDS)
    assert second.counters is not first.counters
    assert np.array_equal(first.counters, kept)
    assert second.tid.tolist() == [one.tid for one in kernel.threads]
    assert second.process is not None
    assert second.process.tolist() == [one.pid for one in kernel.threads]
    assert second.counters[:, 0].tolist() == [one.cpu_ns for one in kernel.threads]
    absent = [[False, one.state == 0] for one in kernel.threads]
    assert (second.absent.tolist() if second.absent is not None else None) == (
        absent if any(one.state == 0 for one in kernel.threads) else None
    )


def test_after_an_exec_rows_are_others() -> None:
    kernel = Kernel()
    first = kernel.counters.read(PIDS)
    kernel.counters.executed = np.array([10], np.uint32)
    assert kernel.counters.read(PIDS).counters is not first.counters


class Counted:
    """The base of a reader of network columns, and the accounts beside it.

    Attributes:
        reading: the next one of the base.
        numbers: numbers of the threads, the next ones.
        known: whether all of them have a slot.
    """

    fields = ("cpu_run_ns",)
    absent: tuple[AbsentField, ...] = ()
    exits = None

    def __init__(self) -> None:
        self.reading = Reading(
            np.array([10, 11], np.uint32),
            np.array([[1], [2]], np.uint64),
            None,
            np.zeros(2, np.int64),
            np.array([b"work"] * 2, "S16"),
            seen_ns=np.zeros(2, np.int64),
            changed=np.zeros(2, np.bool_),
            process=np.array([10, 10], np.uint32),
        )
        self.numbers = np.zeros((2, 4), np.uint64)
        self.known = np.ones(2, np.bool_)
        self.uncounted_calls = 0
        whose = cast(Processes, self)
        self.reader = GroupNetworkReader(cast(TargetReader, self), cast(Accounts, self), whose)

    def read(self) -> Reading:
        return self.reading

    def watch(self, _: object) -> None: ...

    def follow(self, _: object) -> None: ...

    def live(self, *_: object) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
        return self.numbers.copy(), self.known


def test_network_columns_stand_beside_rows_that_stay() -> None:
    counted = Counted()
    assert counted.reading.changed is not None
    first = counted.reader.read()
    assert take(first) == []
    counted.reading.counters[1] = 5
    counted.reading.changed[1] = True
    second = counted.reader.read()
    assert second.counters is first.counters
    assert take(second) == [11]
    assert not counted.reading.changed.any()
    counted.numbers[0, 2] = 8
    third = counted.reader.read()
    assert take(third) == [10]
    assert third.counters.tolist() == [[1, 0, 0, 8, 0], [5, 0, 0, 0, 0]]


def test_network_columns_that_fall_or_are_not_known_make_other_rows() -> None:
    counted = Counted()
    counted.numbers[0] = 9
    first = counted.reader.read()
    counted.numbers[0] = 3
    second = counted.reader.read()
    assert second.counters is not first.counters
    assert second.counters[0, 1:].tolist() == [3, 3, 3, 3]
    counted.uncounted_calls, counted.known = 1, np.array([True, False])
    third = counted.reader.read()
    assert third.changed is None
    assert third.absent is not None
    assert third.absent.tolist() == [[False] * 5, [False, True, True, True, True]]
    counted.reading = replace(counted.reading, changed=None)
    assert counted.reader.read().changed is None


def test_network_columns_are_not_invalid() -> None:
    marked = replace(Counted().reading, invalid=np.array([[True], [False]]))
    joined = join_columns(marked, np.zeros((2, 4), np.uint64), None)
    assert joined.invalid is not None
    assert joined.invalid.tolist() == [[True, False, False, False, False], [False] * 5]
