"""CPU time of exit records without ledgers: the larger of time on a CPU and time in ticks."""

import numpy as np
from tidscope_collector.sampling.exit_cpu import with_tick_time
from tidscope_collector.threads.reading import Reading

PLAIN = ("cpu_run_ns", "user_cpu_us", "system_cpu_us")
LEDGER = (*PLAIN, "state_on_cpu_ns")


def records(fields: tuple[str, ...], *rows: tuple[int, ...]) -> Reading:
    """Of threads, values in the order of the fields."""
    counters = np.array(rows, np.uint64).reshape(len(rows), len(fields))
    tids = np.arange(len(rows), dtype=np.uint32)
    starts = np.zeros(len(rows), np.int64)
    return Reading(tids, counters, None, starts, np.full(len(rows), b"t", "S16"))


def test_the_larger_of_both_is_given_and_marked() -> None:
    record = records(PLAIN, (0, 4000, 4000), (9_000_000, 4000, 4000), (50, 0, 0))
    made = with_tick_time(record, PLAIN)
    assert made.counters[:, 0].tolist() == [8_000_000, 9_000_000, 50]
    assert made.invalid is not None
    assert made.invalid.tolist() == [[True, False, False], [False] * 3, [False] * 3]
    assert record.counters[0, 0] == 0


def test_a_thread_with_a_ledger_keeps_what_it_has() -> None:
    record = records(LEDGER, (100, 4000, 0, 100), (100, 4000, 0, 0))
    assert with_tick_time(record, LEDGER) is record
    absent = np.zeros((2, 4), np.bool_)
    absent[1, 3] = True
    lacking = Reading(
        record.tid, record.counters, absent, record.start_ns, record.name, invalid=None
    )
    assert with_tick_time(lacking, LEDGER).counters[:, 0].tolist() == [100, 4_000_000]


def test_without_ticks_there_is_nothing_to_compare() -> None:
    record = records(("cpu_run_ns",), (5,))
    assert with_tick_time(record, ("cpu_run_ns",)) is record
