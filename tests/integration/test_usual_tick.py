"""Usual ticks while threads come and go: counters go on, and what happened waits for Python."""

import os
import socket
import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest
from builders import collector_health, frame_header
from capabilities import needs
from programs.obedient_threads import ObedientThreads
from tidscope_collector.compiled.library import load
from tidscope_collector.compiled.rows import SteadySource
from tidscope_collector.discovery.task_iterator import TaskIterator, TaskIterators
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.process_meter import Question
from tidscope_collector.sampling.usual_tick import UsualTick
from tidscope_collector.targets.sources import Sources
from tidscope_collector.threads.reading import ProcessReader, Reading, ThreadReader
from tidscope_collector.walk.reader import WalkReader
from tidscope_collector.walk.walks import Walks
from tidscope_wire.frame import FrameDecoder
from tidscope_wire.header_writer import HeaderWriter

pytestmark = [needs("root"), needs("btf")]
TARGET = "t-100-deadbeef"
FOREVER_NS = 10**18


class Ticked:
    """A program whose usual ticks a test takes, one by one."""

    def __init__(
        self, pid: int, reader: ProcessReader, plain: ThreadReader, iterator: TaskIterator
    ) -> None:
        compiled = load()
        assert compiled is not None
        assert isinstance(reader, SteadySource)
        self.reader, self._plain, self._iterator = reader, plain, iterator
        width = len(self.reader.fields)
        self._pidfd = os.pidfd_open(pid)
        self._tick = UsualTick(compiled, reader, width, self._pidfd, 0, None)
        self._decoder = FrameDecoder(self.reader.fields)
        self.reading: Reading
        self.python()

    def settle(self) -> None:
        """Wait until all threads sleep."""
        deadline = time.monotonic() + 20
        while (idle := self._iterator.list_threads().idle) is None or not idle.all():
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def python(self, question: Question | None = None) -> None:
        """Let Python take a sample, and arm the next ticks."""
        self.settle()
        self.reading = self.reader.read()
        if self.reading.changed is not None:
            self.reading.changed[:] = False
        header = frame_header(target=TARGET)
        prepared = HeaderWriter(TARGET).prepare(
            columns=len(self.reader.fields),
            live_threads=3,
            threads_born=4,
            process=header.process,
            machine=header.machine,
            health=collector_health(),
            exited=header.exited,
            counters_from="walk",
        )
        self._tick.arm(prepared, FOREVER_NS, 0, None, question)

    def tick(self, *, waits: bool = True) -> set[int] | None:
        """Take a usual tick; ids of the rows of its frame. None: Python has to take it."""
        self.settle()
        made = self._tick.take(1, time.monotonic_ns(), 0, None, waits=waits)
        if made is None:
            return None
        return set(self._decoder.decode(made.data)[1].tid.tolist())

    @property
    def waits_for_answer(self) -> bool:
        """Whether the question that ticks ask has no answer yet."""
        return self._tick.waits_for_answer

    def has_news(self) -> bool:
        """Whether something waits for Python."""
        return not self._tick.is_armed(0, waits=False)

    def rows(self) -> dict[int, list[int]]:
        """The rows by thread id."""
        return dict(zip(self.reading.tid.tolist(), self.reading.counters.tolist(), strict=True))

    def plain(self) -> dict[int, list[int]]:
        """What asking each thread says."""
        listed = self._iterator.list_threads().tid
        found = self._plain.read(listed)
        return dict(zip(found.tid.tolist(), found.counters.tolist(), strict=True))

    def close(self) -> None:
        self.reader.close()
        self._iterator.close()
        os.close(self._pidfd)


@pytest.fixture(scope="module")
def sources() -> Iterator[Sources]:
    made = Sources(ProcFs())
    yield made
    made.close()


@pytest.fixture
def program() -> Iterator[ObedientThreads]:
    with ObedientThreads() as started:
        for name in ("one", "two", "three"):
            started.order(f"born {name}")
        yield started


@pytest.fixture(params=["asking", "walking"])
def ticked(
    request: pytest.FixtureRequest, sources: Sources, program: ObedientThreads
) -> Iterator[Ticked]:
    iterators, pid = sources.iterators, program.pid
    assert isinstance(iterators, TaskIterators)
    plain = sources.reader(pid)
    if request.param == "asking":
        made = Ticked(pid, sources.process_reader(pid), plain, iterators.over(pid))
        yield made
        made.close()
        return
    walks = Walks(iterators)
    made = Ticked(pid, WalkReader(walks, pid, plain, load()), plain, iterators.over(pid))
    yield made
    made.close()


def test_counters_go_on_while_threads_come_and_go(program: ObedientThreads, ticked: Ticked) -> None:
    assert ticked.tick() == set()
    assert not ticked.has_news()
    program.order("born four")
    first = ticked.rows()
    assert ticked.tick() == {program.pid}
    assert ticked.has_news()
    program.order("work four 10")
    program.order("work three 10")
    changed = ticked.tick()
    assert changed is not None
    assert len(changed) == 2
    assert changed < first.keys()
    program.order("ends two")
    program.order("named one other")
    ticked.tick()
    rows, plain = ticked.rows(), ticked.plain()
    (gone,) = rows.keys() - plain.keys()
    (born,) = plain.keys() - rows.keys()
    assert rows[gone] == first[gone]
    assert {tid: rows[tid] for tid in rows.keys() - {gone}} == {
        tid: plain[tid] for tid in plain.keys() - {born}
    }
    # What does not wait is Python's.
    assert ticked.tick(waits=False) is None
    ticked.python()
    assert ticked.rows() == plain
    assert b"other" in ticked.reading.name.tolist()
    assert ticked.tick(waits=False) == set()


@pytest.mark.parametrize("change", ["born four", "ends two", "named one other"])
def test_news_that_do_not_wait_are_taken_in_by_python(
    program: ObedientThreads, ticked: Ticked, change: str
) -> None:
    program.order(change)
    assert ticked.tick(waits=False) is None
    program.order("work three 10")
    before = ticked.reading
    ticked.python()
    assert ticked.reading is not before
    assert ticked.rows() == ticked.plain()
    assert not ticked.has_news()


def test_whatever_happens_rows_are_those_of_asking_everyone(
    program: ObedientThreads, ticked: Ticked
) -> None:
    choose = np.random.default_rng(2026)
    names = ["one", "two", "three"]
    for turn in range(60):
        kind = choose.choice(["born", "work", "work", "ends", "named"])
        name = choose.choice(names) if names else ""
        if kind == "born" or not name:
            names.append(f"n{turn}")
            program.order(f"born n{turn}")
        elif kind == "work":
            program.order(f"work {name} {choose.integers(1, 2000)}")
        elif kind == "ends":
            names.remove(name)
            program.order(f"ends {name}")
        else:
            names[names.index(name)] = f"m{turn}"
            program.order(f"named {name} m{turn}")
        before = ticked.rows()
        changed = ticked.tick()
        assert changed is not None
        rows, plain = ticked.rows(), ticked.plain()
        for tid, row in rows.items():
            assert row == plain.get(tid, before[tid])
        differing = {tid for tid, row in rows.items() if row != before[tid]}
        assert changed == differing
        assert ticked.has_news() or rows.keys() == plain.keys()
        if turn % 7 == 0:
            ticked.python()
            assert ticked.rows() == plain


def test_more_births_than_there_is_room_for_are_pythons(
    program: ObedientThreads, ticked: Ticked
) -> None:
    for number in range(70):
        program.order(f"born b{number}")
    # A walk has room for all.
    assert (ticked.tick() is not None) == isinstance(ticked.reader, WalkReader)
    assert ticked.tick(waits=False) is None
    ticked.python()
    assert np.array_equal(sorted(ticked.rows()), sorted(ticked.plain()))
    assert ticked.tick() == set()


def test_ticks_ask_and_another_answer_is_pythons(ticked: Ticked) -> None:
    mine, childs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine, childs:
        ticked.python(Question(mine.fileno(), 4))
        for _ in range(2):
            childs.send(struct.pack("<i", 4))  # the answer is there before it is waited for
            assert ticked.tick() is not None
            assert (childs.recv(9), ticked.waits_for_answer) == (b"?", False)
        childs.send(struct.pack("<i", 5))
        assert ticked.tick() is None
        assert (childs.recv(9), ticked.waits_for_answer) == (b"?", False)
        ticked.python(Question(mine.fileno(), 5))
        assert ticked.tick() is None
        assert (childs.recv(9), ticked.waits_for_answer) == (b"?", True)
