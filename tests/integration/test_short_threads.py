"""CPU time of threads that live for a moment, as frames give it."""

import pytest
from capabilities import needs
from followed_target import FollowedTarget
from programs.short_threads import ShortThreads
from tidscope_collector.waits.source import LedgerOptions
from tidscope_wire.generated.models import FrameHeader

MS = 1_000_000
LAST_SLICE_NS = 100_000
LATE_NS = 60_000_000_000
"""How long a thread's exit may come after the answer of its program, on a busy machine."""


def cpu_ns(followed: FollowedTarget, header: FrameHeader) -> int:
    """CPU time of all threads, ended threads included, nanoseconds."""
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
        spent, late_ns = program.cpu_ns() - clock, header.time_ns + LATE_NS
        while header.exited.threads - ended < 0.9 * count:
            header = followed.catch_up()
        # The program's answer does not wait for the exits of the last threads.
        while cpu_ns(followed, header) - before < 0.99 * spent and header.time_ns < late_ns:
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
    # A tick hits some of 300 threads of 2 ms; a tick lasts 1 to 10 ms.
    assert estimated
    for event in estimated:
        assert event.inexact == ["cpu_run_ns"]
        ticks = 1000 * (event.totals["user_cpu_us"] + event.totals["system_cpu_us"])
        assert event.totals["cpu_run_ns"] == ticks
