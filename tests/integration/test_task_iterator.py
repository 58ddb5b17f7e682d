"""The task iterator on the real kernel: its list is /proc's, and who it calls idle has not run."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from capabilities import needs
from programs.known_work import Command, KnownWork
from tidscope_collector.discovery.task_iterator import TaskIterator, TaskIterators, load
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.taskstats.link import probe
from tidscope_collector.taskstats.reader import BatchQuery, TaskstatsReader
from tidscope_collector.threads.reading import TargetExitedError

TICKS = os.sysconf("SC_CLK_TCK")
pytestmark = [needs("root"), needs("btf")]


@pytest.fixture(scope="module")
def iterators() -> Iterator[TaskIterators]:
    found = load(ProcFs())
    assert isinstance(found, TaskIterators), found
    yield found
    found.close()


def settled(iterators: TaskIterators, pid: int) -> TaskIterator:
    """An iterator over a program of which all threads sleep, and are known to."""
    iterator = iterators.over(pid)
    deadline = time.monotonic() + 20
    while True:
        threads = iterator.list_threads()
        if threads.idle is not None and threads.idle.all():
            return iterator
        assert time.monotonic() < deadline
        time.sleep(0.001)


def listed(pid: int) -> list[int]:
    return sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))


def test_the_list_is_that_of_proc_and_of_no_other_process(iterators: TaskIterators) -> None:
    with KnownWork() as work, KnownWork() as other:
        iterator = iterators.over(work.pid)
        found = iterator.list_threads().tid.tolist()
        iterator.close()
        assert sorted(found) == listed(work.pid)
        assert not set(found) & set(listed(other.pid))


def test_a_thousand_threads_do_not_fit_into_the_first_buffer(iterators: TaskIterators) -> None:
    program = (
        "import sys, threading; threading.stack_size(65536); hold = threading.Event()\n"
        "for _ in range(2999): threading.Thread(target=hold.wait, daemon=True).start()\n"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        # All of them wait for what never comes.
        iterator = settled(iterators, child.pid)
        again = iterator.list_threads()
        iterator.close()
        assert sorted(again.tid.tolist()) == listed(child.pid)
        assert again.idle is not None
        assert int(again.idle.sum()) == 3000
        child.kill()


def test_who_works_is_not_idle_and_who_sleeps_is(iterators: TaskIterators) -> None:
    with KnownWork(burn_ms=20) as work:
        iterator = settled(iterators, work.pid)
        for _ in range(20):
            # It burns, and sleeps again before it is looked at.
            tid = work.command("b").thread.tid
            threads = iterator.list_threads()
            assert threads.idle is not None
            idle = dict(zip(threads.tid.tolist(), threads.idle.tolist(), strict=True))
            assert not idle[tid]
            assert not idle[work.pid]  # took the command
            assert sum(idle.values()) == len(idle) - 2
            iterator.close()
            iterator = settled(iterators, work.pid)
        iterator.close()


def test_a_name_given_by_another_thread_is_noticed(iterators: TaskIterators) -> None:
    hold = threading.Event()
    sleeper = threading.Thread(target=hold.wait)
    sleeper.start()
    iterator = iterators.over(os.getpid())

    def is_idle() -> bool:
        threads = iterator.list_threads()
        assert threads.idle is not None
        return bool(threads.idle[threads.tid == sleeper.native_id][0])

    try:
        deadline = time.monotonic() + 20
        while not is_idle():
            assert time.monotonic() < deadline
        Path(f"/proc/self/task/{sleeper.native_id}/comm").write_text("another")
        assert not is_idle()
        assert is_idle()
    finally:
        hold.set()
        sleeper.join()
        iterator.close()


def test_marks_are_what_proc_says(iterators: TaskIterators) -> None:
    with KnownWork() as work:
        iterator = settled(iterators, work.pid)
        records = iterator.records
        for record in records:
            task = Path(f"/proc/{work.pid}/task/{record['tid']}")
            assert record["comm"].decode() == (task / "comm").read_text().strip()
            run_ns, _, _ = (int(part) for part in (task / "schedstat").read_text().split())
            assert int(record["run_ns"]) == run_ns
            status = (task / "status").read_text()
            switches = sum(
                int(line.split()[1]) for line in status.splitlines() if "_ctxt_switches" in line
            )
            assert int(record["switches"]) == switches
            assert record["runnable"] == 0
        iterator.close()
        # proc_pid_stat tells the start on CLOCK_BOOTTIME, in ticks; this machine may have slept.
        suspended = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
        ticks = int(Path(f"/proc/{work.pid}/stat").read_text().rpartition(") ")[2].split()[19])
        started = int(records["start_ns"][records["tid"] == work.pid][0]) + suspended
        assert started == pytest.approx(ticks * 1_000_000_000 // TICKS, abs=2_000_000_000 // TICKS)


def test_the_end_of_the_process_is_an_end(iterators: TaskIterators) -> None:
    with KnownWork() as work:
        iterator = iterators.over(work.pid)
        assert len(iterator.list_threads().tid) > 1
        assert work.command("q").event == "ended"
    with pytest.raises(TargetExitedError):
        iterator.list_threads()
    iterator.close()


def test_sparing_readings_are_those_of_asking_everyone(iterators: TaskIterators) -> None:
    with KnownWork(burn_ms=5) as work:
        query = BatchQuery(probe())
        reader = TaskstatsReader(query, work.pid, delay_accounting=False, delays_from_ns=0)
        iterator = iterators.over(work.pid)
        sparing = IdleSkippingReader(iterator, reader)
        everyone = len(listed(work.pid))
        commands: list[Command] = ["b", "w", "b", "r", "b", "p", "b"]
        for turn, command in enumerate(commands * 4):
            work.command(command)
            spared = sparing.read()
            asked = sparing.asked
            full = reader.read(sparing.listed)
            assert (asked == everyone) if turn == 0 else (asked < everyone)
            # The main thread and the one that worked may be on their way to sleep still.
            slept = np.isin(spared.tid, iterator.records["tid"][iterator.records["runnable"] == 0])
            assert spared.tid.tolist() == full.tid.tolist()
            assert (spared.counters[slept] == full.counters[slept]).all()
            assert spared.name[slept].tolist() == full.name[slept].tolist()
        iterator.close()
        query.close()
