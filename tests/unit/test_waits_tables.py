"""Tables from counts: rows of the same key are added up, and what is not known has a name."""

import numpy as np
from builders import joined
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.counts import Counts, Rows, counts_of_details
from tidscope_collector.waits.slots import DETAIL, STATES
from tidscope_collector.waits.states import State
from tidscope_collector.waits.sums import sum_by
from tidscope_collector.waits.tables import tables_of

PID = 100


def column(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    return np.array(values, np.uint64)


def taker_name(pid: int) -> str:
    return name_of(pid)[0]


def name_of(pid: int) -> tuple[str, bool]:
    return {PID: ("own", False), 7: ("kworker", True)}.get(pid, ("", False))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2**40)), max_size=30)
)
def test_rows_of_a_key_are_added_up(rows: list[tuple[int, int, int]]) -> None:
    expected: dict[tuple[int, int], int] = {}
    for one, other, value in rows:
        expected[one, other] = expected.get((one, other), 0) + value
    (ones, others), (sums,) = sum_by(
        (column(*(row[0] for row in rows)), column(*(row[1] for row in rows))),
        (column(*(row[2] for row in rows)),),
    )
    found = zip(zip(ones.tolist(), others.tolist(), strict=True), sums.tolist(), strict=True)
    assert list(found) == sorted(expected.items())


def test_wake_ups_and_waits_for_locks_come_from_the_same_rows() -> None:
    own = PID << 32
    edges = Rows(
        # Thread 5 waits for two locks and a timer, thread 6 for one lock; a kernel thread wakes 6.
        (
            column(5, 5, 5, 6, 6),
            column(own | 6, own | 6, 0, own | 5, 7 << 32),
            column(0xA0, 0xB0, 0, 0xA0, 0),
            column(PID, PID, 0, PID, 0),
        ),
        (column(3, 1, 2, 4, 1), column(30, 10, 20, 40, 9), column(1, 2, 3, 4, 5)),
    )
    tables = joined(tables_of(Counts(edges=edges), PID, name_of, taker_name, {}))
    assert tables["wakes"].tolist() == [
        (0, 0, 5, 0, 2, 20, 3, b"interrupt"),
        (0, 7, 6, 1, 1, 9, 5, b"kworker"),
        (5, PID, 6, 0, 4, 40, 4, b"own"),
        (6, PID, 5, 0, 4, 40, 3, b"own"),
    ]
    assert tables["locks"].tolist() == [
        (0xA0, PID, 5, 30, 3, 4),
        (0xA0, PID, 6, 40, 4, 3),
        (0xB0, PID, 5, 10, 1, 0),
        (0xB0, PID, 6, 0, 0, 1),
    ]


def test_takers_add_up_to_the_time_in_run_queues() -> None:
    takers = Rows(
        (column(5, 5, 6, 6), column(PID << 1, 7 << 1 | 1, 1, 8 << 1)), (column(10, 20, 5, 9),)
    )
    queued = Rows((column(5, 6, 7),), (column(37, 12, 4),))
    made = joined(tables_of(Counts(takers=takers, queued=queued), PID, name_of, taker_name, {}))[
        "takers"
    ]
    assert made.tolist() == [
        (5, PID, 0, 10, b"own"),
        (5, 7, 1, 20, b"kworker"),
        (6, 0, 1, 5, b"idle"),
        (6, 8, 0, 7, b""),  # two ns too many: clocks differ
        (5, 0, 0, 7, b"unknown"),
        (7, 0, 0, 4, b"unknown"),
    ]
    none = joined(tables_of(Counts(queued=queued), PID, name_of, taker_name, {}))["takers"]
    assert none["ns"].tolist() == [37, 12, 4]


def test_calls_have_names() -> None:
    calls = Rows((column(5, 5), column(0, 999)), (column(2, 1), column(20, 10)))
    made = joined(
        tables_of(Counts(calls=calls), PID, name_of, taker_name, names_of_calls("x86_64"))
    )["calls"]
    assert made.tolist() == [(5, 0, 2, 20, b"read"), (5, 999, 1, 10, b"call 999")]
    assert names_of_calls("aarch64")[63] == "read"
    assert names_of_calls("x86_64")[449] == names_of_calls("aarch64")[449] == "futex_waitv"
    assert names_of_calls("another") == {}


def test_details_become_rows_of_what_is_not_zero() -> None:
    details = np.zeros(3, DETAIL)
    details["histogram"][1, State.POLL, 4] = 6
    details["histogram"][2, State.POLL, 4] = 9  # of another process
    details["edges"][1, 2] = (PID << 32, 0xC0, 2, 11, 1)
    details["takers"][1, 0] = (1, 13)
    ns = np.zeros((2, STATES), np.uint64)
    ns[1, State.POLL] = 70
    rows = np.array([0, 1], np.intp)
    counts = counts_of_details(
        details[rows], column(5, 6), column(PID, PID), details["edges"][rows], ns
    )
    tables = joined(tables_of(counts, PID, name_of, taker_name, {}))
    assert tables["stays"].tolist() == [(6, State.POLL, 4, 6)]
    assert tables["wakes"].tolist() == [(0, PID, 6, 0, 2, 11, 1, b"own")]
    assert counts.takers.values[0].tolist() == [13]
    both = counts.with_all(counts)
    assert joined(tables_of(both, PID, name_of, taker_name, {}))["stays"].tolist() == [
        (6, State.POLL, 4, 12)
    ]
