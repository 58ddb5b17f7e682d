"""All counters in one walk: they are those of taskstats, on this kernel, whatever threads do."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from capabilities import delays_switched, missing, needs
from programs.busy_threads import busy_threads
from programs.known_work import KnownWork
from tidscope_collector.compiled.library import Compiled
from tidscope_collector.compiled.library import load as load_compiled
from tidscope_collector.discovery.task_iterator import OBJECT, TaskIterators, load
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.taskstats.link import probe
from tidscope_collector.taskstats.reader import BatchQuery, TaskstatsReader
from tidscope_collector.threads.reading import Reading, TargetExitedError
from tidscope_collector.walk.block import FIELDS, ROWS, Columns
from tidscope_collector.walk.reader import WalkReader
from tidscope_collector.walk.walks import Walks

ROUNDS = 150
MOVED = {
    *("cpu_run_ns", "cpu_delay_ns", "cpu_count", "system_cpu_us", "user_cpu_us"),
    *("voluntary_switches", "involuntary_switches", "minor_faults"),
    *("read_char_bytes", "write_char_bytes", "read_syscalls", "write_syscalls"),
    "disk_write_bytes",
}
"""Counters that busy_threads certainly moves within the test."""

pytestmark = [needs("root"), needs("btf")]


class WalksBy(Walks):
    """Walks, and what takes most of them; None: Python takes all."""

    compiled: Compiled | None = None

    def reader(self, pid: int, asked: TaskstatsReader) -> WalkReader:
        return WalkReader(self, pid, asked, self.compiled)


@pytest.fixture(scope="module", params=["direct", "iterator", "direct, by Python"])
def walks(request: pytest.FixtureRequest) -> Iterator[WalksBy]:
    iterators = load(ProcFs())
    assert isinstance(iterators, TaskIterators), iterators
    assert iterators.no_walk == ""
    if request.param == "iterator":
        iterators.walks_directly = False
    elif not iterators.walks_directly:
        iterators.close()
        raise missing("direct-walk")
    made = WalksBy(iterators)
    made.compiled = None if "Python" in request.param else load_compiled()
    yield made
    iterators.close()


@pytest.fixture(scope="module")
def query() -> Iterator[BatchQuery]:
    made = BatchQuery(probe())
    yield made
    made.close()


def taskstats(query: BatchQuery, pid: int, *, delays: bool = True) -> TaskstatsReader:
    return TaskstatsReader(query, pid, delay_accounting=delays, delays_from_ns=0)


def copied(reading: Reading) -> Reading:
    """A reading that later ones do not bring up to date."""
    absent = None if reading.absent is None else reading.absent.copy()
    return Reading(
        reading.tid.copy(),
        reading.counters.copy(),
        absent,
        reading.start_ns.copy(),
        reading.name.copy(),
        seen_ns=reading.seen_ns,
    )


def settled(walker: WalkReader) -> Reading:
    """The reading in place that finds all threads asleep, as they were at the one before."""
    deadline = time.monotonic() + 20
    while True:
        reading = walker.read()
        if reading.changed is not None:
            if not reading.changed.any():
                return reading
            reading.changed[:] = False
        assert time.monotonic() < deadline
        time.sleep(0.001)


def rows(reading: Reading, tids: npt.NDArray[np.uint32]) -> npt.NDArray[np.intp]:
    places = {tid: place for place, tid in enumerate(reading.tid.tolist())}
    return np.array([places[tid] for tid in tids.tolist()], np.intp)


def hold_against_taskstats(walks: WalksBy, query: BatchQuery, pid: int) -> None:
    """Walk, ask, walk: what taskstats says lies between, field by field, thread by thread."""
    asked = taskstats(query, pid)
    walker = walks.reader(pid, asked)
    assert walker.fields == FIELDS
    samples = 0
    shares = set()
    first: Reading | None = None
    moved: set[str] = set()
    turn, deadline = 0, time.monotonic() + 20
    while turn < ROUNDS or (not moved >= MOVED and time.monotonic() < deadline):
        turn += 1
        before = copied(walker.read())
        between = asked.read(before.tid)
        after = copied(walker.read())
        # Threads that lived through all three; an id belongs to the thread with its start.
        both = np.intersect1d(before.tid, np.intersect1d(between.tid, after.tid))
        at, now, then = rows(before, both), rows(between, both), rows(after, both)
        alive = before.start_ns[at] == after.start_ns[then]
        at, now, then = at[alive], now[alive], then[alive]
        low, middle, high = before.counters[at], between.counters[now], after.counters[then]
        wrong = np.argwhere((low > middle) | (middle > high))
        assert not len(wrong), [
            (FIELDS[field], int(low[row, field]), int(middle[row, field]), int(high[row, field]))
            for row, field in wrong.tolist()
        ]
        name = between.name[now]
        assert ((name == before.name[at]) | (name == after.name[then])).all()
        # An age is in microseconds, and was taken after the moment that it is subtracted from.
        assert (between.start_ns[now] <= before.start_ns[at] + 1000).all()
        assert before.absent is None or not before.counters[before.absent].any()
        samples += len(at)
        shares.add(len(before.tid))
        first = first or before
        lasting = np.intersect1d(first.tid, after.tid)
        grew = after.counters[rows(after, lasting)] > first.counters[rows(first, lasting)]
        moved |= {FIELDS[field] for field in np.flatnonzero(grew.any(axis=0)).tolist()}
    assert moved >= MOVED, MOVED - moved
    assert samples > 20 * ROUNDS
    assert len(shares) > 1, "no thread was born or died meanwhile"
    walker.close()


@pytest.mark.parametrize("on", [False, True])
def test_every_field_is_what_taskstats_says(
    walks: WalksBy, query: BatchQuery, tmp_path: Path, on: bool
) -> None:
    with delays_switched(on), busy_threads(tmp_path, copies=5) as pid:
        hold_against_taskstats(walks, query, pid)
        reading = walks.reader(pid, taskstats(query, pid)).read()
        if on:
            assert reading.absent is None
            column = FIELDS.index("wpcopy_count")
            assert reading.counters[:, column].any()
        else:
            # Threads that were started without accounting have no record of delays.
            assert reading.absent is not None
            assert reading.absent[:, FIELDS.index("blkio_delay_ns")].all()
            assert not reading.absent[:, FIELDS.index("cpu_run_ns")].any()


def test_readings_in_place_say_which_rows_changed(walks: WalksBy, query: BatchQuery) -> None:
    with KnownWork(burn_ms=5) as work:
        reader = taskstats(query, work.pid, delays=False)
        walker = walks.reader(work.pid, reader)
        first = settled(walker)
        before = first.counters.copy()
        work.command("b")
        second = walker.read()
        assert second.counters is first.counters
        assert second.changed is not None
        assert second.changed.tolist() == (second.counters != before).any(axis=1).tolist()
        burner = second.tid.tolist().index(work.tids["burner"])
        assert second.changed[burner]
        assert (second.counters <= reader.read(second.tid).counters).all()
        # Rows are added until somebody has taken them in.
        third = walker.read()
        assert third.changed is not None
        assert third.changed[burner]
        fourth = settled(walker)
        assert fourth.counters is first.counters
        work.command("r")
        renamed = walker.read()
        assert renamed.changed is not None
        assert not renamed.changed.any()
        assert renamed.counters is not first.counters
        assert b"renamed-1" in renamed.name.tolist()
        work.command("n")
        assert walker.read().counters is not renamed.counters
        assert len(walker.listed) == len(first.tid) + 1
        walker.close()


def test_executing_a_program_is_no_reading_in_place(walks: WalksBy, query: BatchQuery) -> None:
    """Another thread takes over id and start of the first one: its counters may be lower."""
    with KnownWork(burn_ms=50) as work:
        walker = walks.reader(work.pid, taskstats(query, work.pid, delays=False))
        first = walker.read()
        assert len(first.tid) > 1
        work.command("b")
        work.command("x")
        again = walker.read()
        assert again.counters is not first.counters
        assert again.tid[0] == work.pid
        walker.close()


def test_more_threads_than_a_block_has_rows(walks: WalksBy, query: BatchQuery) -> None:
    many = 2 * ROWS + 100
    program = (
        "import sys, threading; threading.stack_size(65536); hold = threading.Event()\n"
        f"for _ in range({many - 1}): threading.Thread(target=hold.wait, daemon=True).start()\n"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        walker = walks.reader(child.pid, taskstats(query, child.pid, delays=False))
        reading = walker.read()
        listed = sorted(int(name) for name in os.listdir(f"/proc/{child.pid}/task"))
        assert sorted(reading.tid.tolist()) == listed
        asked = taskstats(query, child.pid, delays=False).read(reading.tid)
        later = walker.read()
        assert later.changed is not None
        assert (asked.counters <= later.counters).all()
        walker.close()
        child.kill()


def test_both_ways_visit_the_same_threads_in_the_same_order(tmp_path: Path) -> None:
    iterators = load(ProcFs())
    assert isinstance(iterators, TaskIterators), iterators
    if not iterators.walks_directly:
        raise missing("direct-walk")
    walks = Walks(iterators)
    with busy_threads(tmp_path, copies=2) as pid:
        visited = []
        for _ in range(2):
            columns, count = walks.over(pid).read(Columns(len(FIELDS), ROWS))
            visited.append(columns.tid[:count].tolist())
            iterators.walks_directly = False
        # Threads come and go meanwhile.
        both = set(visited[0]) & set(visited[1])
        assert both
        first, second = ([tid for tid in tids if tid in both] for tids in visited)
        assert first == second
    iterators.close()


def test_a_kernel_without_the_functions_walks_by_the_iterator() -> None:
    image = OBJECT.read_bytes()
    function = b"bpf_iter_task_next"
    assert function in image
    iterators = TaskIterators(image.replace(function, b"bpf_iter_task_none"))
    assert (iterators.walks_directly, iterators.no_walk) == (False, "")
    columns, count = Walks(iterators).over(os.getpid()).read(Columns(len(FIELDS), ROWS))
    assert os.getpid() in columns.tid[:count].tolist()
    iterators.close()


def test_the_end_of_the_process_is_an_end(walks: WalksBy, query: BatchQuery) -> None:
    with KnownWork() as work:
        walker = walks.reader(work.pid, taskstats(query, work.pid, delays=False))
        assert len(walker.read().tid) > 1
        assert work.command("q").event == "ended"
    with pytest.raises(TargetExitedError):
        walker.read()
    walker.close()
