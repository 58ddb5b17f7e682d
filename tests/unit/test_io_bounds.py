"""Block-I/O delays against what ledgers allow."""

import numpy as np
from tidscope_collector.sampling.io_bounds import BLKIO, BLKIO_COUNT, IoBounds
from tidscope_collector.threads.reading import Reading
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

MS = 1_000_000
ATTACH = 1000 * MS
FIELDS = (BLKIO, BLKIO_COUNT, *STATE_FIELDS, STATE, SINCE)
PLAIN = (BLKIO_COUNT, STATE)
FILE_READ_DISK = STATE_FIELDS.index("state_file_read_disk_ns") + 1
FUTEX = STATE_FIELDS.index("state_futex_ns") + 1


def reading(*threads: dict[str, int], start: int = 0) -> Reading:
    """Threads 1, 2 and so on; times in milliseconds since attach."""
    counters = np.zeros((len(threads), len(FIELDS)), np.uint64)
    for row, thread in enumerate(threads):
        for name, value in thread.items():
            counters[row, FIELDS.index(name)] = value if name in PLAIN else value * MS
    count = len(threads)
    tids = np.arange(1, count + 1, dtype=np.uint32)
    starts = np.full(count, start * MS + ATTACH)
    return Reading(tids, counters, None, starts, np.full(count, b"t", "S16"))


def outside(bounds: IoBounds, one: Reading, at: int, *, ended: bool = False) -> list[int]:
    found = bounds.outside(one, ATTACH + at * MS, ended=ended)
    return [] if found is None else one.tid[found].tolist()


def test_a_wait_under_way_counts() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    reads = {STATE: FILE_READ_DISK, SINCE: 100}
    assert outside(bounds, reading({BLKIO: 0, **reads}), 200) == []
    # It was woken up after its ledger was read.
    assert outside(bounds, reading({BLKIO: 800, **reads}), 900) == []
    waits = {STATE: FUTEX, SINCE: 100}
    assert outside(bounds, reading({BLKIO: 800, **waits}), 900) == [1]


def test_a_wait_that_began_before_the_ledger_is_waited_for() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({BLKIO: 50, STATE: FILE_READ_DISK}, start=-900), 10) == []
    later = {BLKIO: 900, "state_file_read_disk_ns": 40, STATE: FUTEX, SINCE: 40}
    assert outside(bounds, reading(later, start=-900), 100) == []
    assert outside(bounds, reading(later | {BLKIO: 1000}, start=-900), 200) == [1]


def test_a_wait_that_the_kernel_did_not_count_is_missed() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({BLKIO: 90}, start=-900), 10) == []
    waited = {"state_file_read_disk_ns": 400, STATE: FUTEX, SINCE: 500}
    assert outside(bounds, reading({BLKIO: 490, **waited}, start=-900), 500) == []
    assert outside(bounds, reading({BLKIO: 300, **waited}, start=-900), 600) == [1]
    # What may have been no wait for a disk need not be in it.
    calls = {"state_other_call_ns": 400, STATE: FUTEX, SINCE: 700}
    assert outside(bounds, reading({BLKIO: 90, **calls}, start=-900), 700) == []


def test_each_wake_up_may_take_a_while() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({}, {}), 10) == []
    many = {BLKIO: 150, "state_page_fault_disk_ns": 80}
    found = outside(bounds, reading(many | {BLKIO_COUNT: 1000}, many | {BLKIO_COUNT: 100}), 400)
    assert found == [2]


def test_metadata_and_queues_of_the_kernel_are_no_excess() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({}, {}), 10) == []
    allowed = {BLKIO: 500, "state_other_call_ns": 300, "state_io_uring_ns": 200}
    assert outside(bounds, reading(allowed, {BLKIO: 500, "state_futex_ns": 500}), 900) == [2]


def test_an_exit_record_comes_after_the_thread_is_gone() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({}, {}), 10) == []
    assert outside(bounds, reading({}), 20) == []
    record = reading({}, {BLKIO: 400})
    assert outside(bounds, record, 30, ended=True) == [2]
    # One that nobody saw alive may have waited before.
    later = reading({}, {}, {BLKIO: 400}, start=25)
    assert outside(bounds, later, 40, ended=True) == []


def test_without_a_ledger_nothing_is_bounded() -> None:
    bounds = IoBounds((BLKIO, BLKIO_COUNT), ATTACH)
    one = reading({BLKIO: 9000})
    assert outside(bounds, one, 10) == outside(bounds, one, 20) == []


def test_of_a_thread_that_waited_for_no_disk_it_is_known_from_the_first_reading() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({BLKIO: 50, STATE: FUTEX}, start=-900), 10) == []
    read = {"state_file_read_disk_ns": 40, STATE: FUTEX, SINCE: 90}
    assert outside(bounds, reading({BLKIO: 400} | read, start=-900), 100) == [1]
