"""Wakers and takers of a run as text."""

from tidscope_backend.cli.run_report import RunFacts, Taker, Waker, fact_lines


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
