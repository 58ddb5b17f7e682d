"""Wakers and takers of a run as text."""

from tidscope_backend.cli.run_report import (
    RoleReport,
    RunFacts,
    Taker,
    Waker,
    fact_lines,
    state_lines,
)


def test_each_is_a_line() -> None:
    facts = RunFacts(
        [Waker("own threads", 7, 20, 3_000_000, 40_000)],
        [Taker("make", 9, 2_000_000)],
    )
    assert list(fact_lines(facts)) == [
        "",
        "WOKEN BY",
        "         20  own threads (7), after 3.0 ms; ran 40 µs later",
        "",
        "RAN DURING RUN-QUEUE DELAY",
        "     2.0 ms  make (9)",
    ]


def test_nothing_is_said_of_nothing() -> None:
    assert list(fact_lines(RunFacts([], []))) == []


SECOND = 1_000_000_000


def test_shares_are_of_the_time_of_all_threads_of_a_role() -> None:
    pool = RoleReport(
        "pool-#", 3, {"state_futex_ns": 2 * SECOND, "state_on_cpu_ns": SECOND, "cpu_run_ns": SECOND}
    )
    main = RoleReport("main", 1, {"state_sleep_ns": 5 * SECOND, "state_on_cpu_ns": 1000})
    silent = RoleReport("old", 1, {"cpu_run_ns": SECOND})
    totals = {
        "state_futex_ns": 2 * SECOND,
        "state_on_cpu_ns": SECOND,
        "state_sleep_ns": 5 * SECOND,
    }
    assert list(state_lines(totals, [pool, silent, main])) == [
        "",
        "WHERE THE TIME WENT, of all threads together and by role",
        "  all: 8.00 s: 62.5% Sleeping, 25.0% Waiting for locks, 12.5% Running",
        "  main (1 thread): 5.00 s: 100.0% Sleeping",
        "  pool-# (3 threads): 3.00 s: 66.7% Waiting for locks, 33.3% Running",
    ]


def test_without_a_ledger_nothing_is_said() -> None:
    assert list(state_lines({"cpu_run_ns": SECOND}, [])) == []
