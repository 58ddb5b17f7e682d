"""What threads left that have ended, and wakers that are others'."""

import numpy as np
from tidscope_collector.ebpf.watched import are_of
from tidscope_collector.waits import ended
from tidscope_collector.waits.counts import Counts, Rows
from tidscope_collector.waits.ended import Living, bounded, without_dead, without_foreign

PID = np.uint64(32)
SLOTS = np.array([(10, 101), (10, 102), (11, 111)], [("tgid", "u4"), ("tid", "u4")])


def column(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    return np.array(values, np.uint64)


def waker(pid: int, tid: int = 0) -> int:
    return pid << 32 | tid


def edges(*rows: tuple[int, int, int, int, int]) -> Counts:
    """Rows of thread, waker, address, process and count."""
    *keys, count = (column(*values) for values in zip(*rows, strict=True))
    return Counts(edges=Rows(tuple(keys), (count, count, count)))


def listed(counts: Counts) -> list[tuple[int, ...]]:
    columns = (*counts.edges.keys, counts.edges.values[0])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_threads_that_have_ended_are_the_thread_0() -> None:
    living = Living(SLOTS)
    assert living.pids.tolist() == [10, 11]
    wakers = column(waker(10, 101), waker(10, 109), waker(10), 0)
    assert living.lack(wakers).tolist() == [False, True, False, False]
    left = edges(
        (101, waker(10, 109), 0xA0, 10, 1),
        (101, waker(10, 108), 0xA0, 10, 2),
        (109, waker(10, 101), 0xA0, 10, 4),
        # The same address in another process is another lock.
        (108, waker(10, 101), 0xA0, 11, 8),
    )
    assert listed(without_dead(left, living)) == [
        (0, waker(10, 101), 0xA0, 10, 4),
        (0, waker(10, 101), 0xA0, 11, 8),
        (101, waker(10), 0xA0, 10, 3),
    ]


def test_threads_of_others_are_their_processes() -> None:
    found = edges((101, waker(10, 102), 0, 0, 1), (101, waker(11, 111), 0, 0, 2))
    assert listed(without_foreign(found, 10)) == [
        (101, waker(10, 102), 0, 0, 1),
        (101, waker(11), 0, 0, 2),
    ]
    assert without_foreign(found, Group()) is found


class Group:
    pids = np.array([10, 11], np.uint32)

    def names(self) -> dict[int, str]:
        return {}


def test_whose_is_one_process_or_several() -> None:
    pids = np.array([11, 9, 10], np.uint32)
    assert are_of(pids, 10).tolist() == [False, False, True]
    assert are_of(pids, Group()).tolist() == [True, False, True]


def test_of_many_rows_the_rarest_are_added_up_by_process() -> None:
    many = edges(*((0, waker(10, tid), tid, 10, tid) for tid in range(1, 21)))
    assert bounded(many) is many
    kept, ended._KEPT_ROWS = ended._KEPT_ROWS, 16
    try:
        rows = listed(bounded(many))
    finally:
        ended._KEPT_ROWS = kept
    assert rows[0] == (0, waker(10), 0, 0, sum(range(1, 13)))
    assert len(rows) == 9
