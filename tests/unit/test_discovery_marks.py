"""Which threads have not run, from two readings of the task iterator."""

import numpy as np
import pytest
from tidscope_collector.discovery.task_iterator import RECORD, Records, idle
from tidscope_collector.threads.matching import rows_of_both

THREAD = {"tid": 5, "runnable": 0, "start_ns": 100, "run_ns": 7, "switches": 3, "comm": b"work"}


def records(*threads: dict[str, object]) -> Records:
    made = np.zeros(len(threads), RECORD)
    for at, thread in enumerate(threads):
        for name, value in (THREAD | thread).items():
            made[name][at] = value
    return made


def test_a_thread_with_the_same_marks_has_not_run() -> None:
    assert idle(records({}), records({})).tolist() == [True]


@pytest.mark.parametrize(
    "now",
    [
        {"run_ns": 8},
        {"switches": 4},
        {"start_ns": 101},  # the id is another thread's
        {"comm": b"renamed"},  # by another thread
        {"runnable": 1},
    ],
)
def test_whatever_moved_it_may_have_run(now: dict[str, object]) -> None:
    assert idle(records(now), records({})).tolist() == [False]


def test_one_that_stays_runnable_may_be_running_whatever_its_marks_say() -> None:
    assert idle(records({"runnable": 1}), records({"runnable": 1})).tolist() == [False]


def test_one_that_has_gone_to_sleep_since_is_asked_once_more() -> None:
    assert idle(records({}), records({"runnable": 1})).tolist() == [False]


def test_of_a_thread_that_is_new_nothing_is_known() -> None:
    assert idle(records({}), records()).tolist() == [False]
    now = records({"tid": 4}, {"tid": 5}, {"tid": 9}, {"tid": 7})
    before = records({"tid": 7}, {"tid": 5}, {"tid": 6})
    assert idle(now, before).tolist() == [False, True, False, True]


def test_no_threads() -> None:
    assert idle(records(), records({})).tolist() == []


def ids(*numbers: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint32]]":
    return np.array(numbers, np.uint32)


def test_rows_of_ids_in_both_tables_keep_the_order_of_the_first() -> None:
    here, there = rows_of_both(ids(9, 4, 7, 1), ids(1, 8, 9))
    assert (np.arange(4)[here].tolist(), np.arange(3)[there].tolist()) == ([0, 3], [2, 0])


def test_rows_of_equal_tables_are_all_of_them() -> None:
    assert rows_of_both(ids(3, 1), ids(3, 1)) == (slice(None), slice(None))


@pytest.mark.parametrize(("left", "right"), [((), (1,)), ((1,), ()), ((1, 2), (3, 4))])
def test_rows_of_tables_with_nothing_in_common(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    here, there = rows_of_both(ids(*left), ids(*right))
    assert np.arange(len(left))[here].tolist() == []
    assert np.arange(len(right))[there].tolist() == []
