"""CPU time of threads that live for a moment: in ledgers, and as frames give it."""

import time
from collections.abc import Iterator

import numpy as np
import pytest
from capabilities import needs
from followed_target import FollowedTarget
from programs.short_threads import ShortThreads
from tidscope_collector.waits.ledger import LedgerKeeper
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.waits.states import State
from tidscope_wire.generated.models import FrameHeader

MS = 1_000_000
LAST_SLICE_NS = 100_000


@pytest.fixture(scope="module")
def keeper() -> Iterator[LedgerKeeper]:
    made = LedgerKeeper()
    yield made
    made.close()


class Sums:
    """On-CPU time of a process by its ledgers, with those of threads that have ended."""

    def __init__(self, keeper: LedgerKeeper, pid: int) -> None:
        self._keeper, self._pid = keeper, pid
        self.ended = 0
        self._ended_ns = 0

    def claim(self) -> None:
        """Claim the ledgers of threads that have ended, as exit records do."""
        ledgers = self._keeper.read(self._pid)
        rows = np.flatnonzero(ledgers.state == State.ENDED)
        ages = ledgers.since_ns[rows] - ledgers.start_ns[rows]
        ns, has, _ = self._keeper.exited(self._pid, ledgers.tid[rows], ages)
        assert has.all()
        self.ended += len(rows)
        self._ended_ns += int(ns[:, State.ON_CPU].sum())

    def cpu_ns(self) -> int:
        """Of all threads so far."""
        self.claim()
        ledgers = self._keeper.read(self._pid)
        return self._ended_ns + int(ledgers.at(time.monotonic_ns())[:, State.ON_CPU].sum())


@needs("root")
@needs("btf")
@pytest.mark.parametrize(
    ("language", "count", "work_ns"),
    [
        ("c", 3000, MS // 10),
        ("c", 1000, 2 * MS),
        pytest.param("go", 600, MS // 2, marks=needs("go")),
        ("java", 600, MS // 2),
    ],
)
def test_all_cpu_time_is_in_the_ledgers(
    language: str, count: int, work_ns: int, keeper: LedgerKeeper
) -> None:
    with ShortThreads(language) as program:
        keeper.watch(program.pid)
        sums = Sums(keeper, program.pid)
        before, clock = sums.cpu_ns(), program.cpu_ns()
        program.run(count, work_ns, sums.claim)
        while sums.ended < 0.9 * count:  # Go says that it is done while its threads are ending
            sums.claim()
            time.sleep(0.005)
        grown = sums.cpu_ns() - before
        # Read after the ledgers: what runs meanwhile makes the ledgers look worse, not better.
        spent = program.cpu_ns() - clock
        keeper.forget(program.pid)
    assert grown >= 0.995 * spent
    # The kernel adds a thread to the process clock before it switches away for the last time: what
    # it runs from there on, and since the last tick, is in its ledger only.
    assert grown <= 1.005 * spent + count * LAST_SLICE_NS
    assert keeper.threads_without_slot == 0
    assert keeper.unfinished_exits == 0


def cpu_ns(followed: FollowedTarget, header: FrameHeader) -> int:
    """Of all threads, those that ended included."""
    living = sum(row["cpu_run_ns"] for row in followed.seen.rows.values())
    return living + header.exited.totals.get("cpu_run_ns", 0)


@needs("root")
@pytest.mark.parametrize(
    ("language", "count", "work_ns"),
    [("c", 3000, MS // 10), ("c", 300, 2 * MS), pytest.param("go", 300, MS, marks=needs("go"))],
)
@needs("btf")
def test_frames_have_all_cpu_time_of_short_threads(language: str, count: int, work_ns: int) -> None:
    with ShortThreads(language) as program, FollowedTarget(program.pid) as followed:
        before, clock = cpu_ns(followed, followed.catch_up()), program.cpu_ns()
        ended = followed.seen.header.exited.threads if followed.seen.header else 0
        program.run(count, work_ns, lambda: None)
        header = followed.catch_up()
        while header.exited.threads - ended < 0.9 * count:
            header = followed.catch_up()
        grown, spent = cpu_ns(followed, header) - before, program.cpu_ns() - clock
        names = {name for event in followed.seen.ended for name in event.inexact}
    assert grown >= 0.99 * spent
    assert grown <= 1.01 * spent + count * LAST_SLICE_NS
    assert names == set()


@needs("root")
def test_without_ledgers_it_is_an_estimate() -> None:
    with (
        ShortThreads("c") as program,
        FollowedTarget(program.pid, ledger=LedgerOptions(choice="off")) as followed,
    ):
        assert followed.target.source.ledger is False
        program.run(300, 2 * MS, lambda: None)
        while followed.catch_up().exited.threads < 300:
            pass
        estimated = [event for event in followed.seen.ended if event.inexact]
    # Of 300 threads of 2 ms some were hit by a tick, of 1 to 10 ms.
    assert estimated
    for event in estimated:
        assert event.inexact == ["cpu_run_ns"]
        ticks = 1000 * (event.totals["user_cpu_us"] + event.totals["system_cpu_us"])
        assert event.totals["cpu_run_ns"] == ticks
