"""Only threads that may have run are asked; of the others the last row stands."""

import numpy as np
import numpy.typing as npt
import pytest
from tidscope_collector.discovery.task_folder import Threads
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.threads.reading import Reading
from tidscope_wire.generated.models import AbsentField


class World:
    """Threads that the test makes run: both the list of them and the reader of their counters."""

    fields = ("cpu_run_ns",)
    absent: tuple[AbsentField, ...] = ()

    def __init__(self, *tids: int) -> None:
        self.counter = dict.fromkeys(tids, 10)
        self.masked: set[int] = set()
        self.silent: set[int] = set()
        self.asked: list[int] = []
        self.failing = False
        self._looked: dict[int, int] = {}

    def run(self, *tids: int) -> None:
        for tid in tids:
            self.counter[tid] = self.counter.get(tid, 0) + 1

    def list_threads(self) -> Threads:
        idle = [self._looked.get(tid) == count for tid, count in self.counter.items()]
        self._looked = dict(self.counter)
        return Threads(np.array(list(self.counter), np.uint32), np.array(idle, np.bool_))

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        self.asked = tids.tolist()
        if self.failing:
            raise OSError("nonsense")
        answers = [tid for tid in self.asked if tid not in self.silent]
        absent = np.array([[tid in self.masked] for tid in answers], np.bool_).reshape(-1, 1)
        return Reading(
            np.array(answers, np.uint32),
            np.array([[self.counter[tid]] for tid in answers], np.uint64).reshape(-1, 1),
            absent if absent.any() else None,
            np.array([1000 + tid for tid in answers], np.int64),
            np.array([b"t%d" % tid for tid in answers], "S16"),
            np.array([77 for _ in answers], np.uint64),
        )

    def close(self) -> None:
        pass


def rows(reading: Reading) -> dict[int, tuple[int, int, bytes]]:
    return {
        tid: (count, start, name)
        for tid, (count,), start, name in zip(
            reading.tid.tolist(),
            reading.counters.tolist(),
            reading.start_ns.tolist(),
            reading.name.tolist(),
            strict=True,
        )
    }


def test_at_first_every_thread_is_asked_then_those_that_ran() -> None:
    world = World(7, 5, 6)
    sparing = IdleSkippingReader(world, world)
    sparing.read()
    assert (world.asked, sparing.asked) == ([7, 5, 6], 3)
    world.run(5)
    reading = sparing.read()
    assert (world.asked, sparing.asked) == ([5], 1)
    assert reading.tid.tolist() == sparing.listed.tolist() == [7, 5, 6]
    assert rows(reading) == {
        7: (10, 1007, b"t7"),
        5: (11, 1005, b"t5"),
        6: (10, 1006, b"t6"),
    }


def test_when_nobody_ran_nobody_is_asked() -> None:
    world = World(1, 2)
    sparing = IdleSkippingReader(world, world)
    first = sparing.read()
    assert rows(sparing.read()) == rows(first)
    assert world.asked == []


def test_who_comes_and_goes() -> None:
    world = World(1, 2, 3)
    sparing = IdleSkippingReader(world, world)
    sparing.read()
    del world.counter[2]
    world.run(9)
    assert list(rows(sparing.read())) == [1, 3, 9]
    assert world.asked == [9]


def test_who_did_not_answer_is_asked_again_though_it_did_not_run() -> None:
    world = World(1, 2)
    sparing = IdleSkippingReader(world, world)
    world.silent.add(2)
    assert list(rows(sparing.read())) == [1]
    assert list(rows(sparing.read())) == [1]
    assert world.asked == [2]
    world.silent.clear()
    assert list(rows(sparing.read())) == [1, 2]
    sparing.read()
    assert world.asked == []


def test_after_a_reading_that_failed_every_thread_is_asked() -> None:
    world = World(1, 2)
    sparing = IdleSkippingReader(world, world)
    sparing.read()
    world.run(1)
    world.failing = True
    with pytest.raises(OSError, match="nonsense"):
        sparing.read()
    world.failing = False
    assert rows(sparing.read())[1][0] == 11
    assert world.asked == [1, 2]


def test_what_is_absent_of_a_thread_stays_absent_while_it_sleeps() -> None:
    world = World(1, 2)
    world.masked = {2}
    sparing = IdleSkippingReader(world, world)
    sparing.read()
    world.run(1)
    reading = sparing.read()
    assert world.asked == [1]
    assert reading.absent is not None
    assert reading.absent.tolist() == [[False], [True]]


def test_an_idle_thread_was_seen_when_it_was_listed_others_when_they_were_read() -> None:
    world = World(1, 2)
    sparing = IdleSkippingReader(world, world)
    first = sparing.read()
    world.run(2)
    second = sparing.read()
    assert first.seen_ns is not None
    assert second.seen_ns is not None
    assert first.seen_ns[0] <= second.seen_ns[0] <= second.seen_ns[1]


def test_a_list_that_does_not_know_who_ran_asks_everyone() -> None:
    world = World(1, 2)

    class Plain(World):
        def list_threads(self) -> Threads:
            return Threads(super().list_threads().tid)

    plain = Plain(1, 2)
    sparing = IdleSkippingReader(plain, world)
    sparing.read()
    sparing.read()
    assert world.asked == [1, 2]
