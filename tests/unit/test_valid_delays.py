"""Implausible delays and waits for disks are withheld."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from receiver import Receiver
from tidscope_collector.compiled.rows import SteadyRows
from tidscope_collector.sampling.io_bounds import BLKIO as BLKIO_NAME
from tidscope_collector.sampling.io_bounds import BLKIO_COUNT, DISK_STATES, IoBounds
from tidscope_collector.sampling.presence import Presence
from tidscope_collector.sampling.readings import empty
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.sampling.valid_delays import FORGET_NS, SLACK_NS, ValidDelays
from tidscope_collector.threads.reading import Reading, TargetReader
from tidscope_wire.generated.models import ThreadExited
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

# Delays that are longer than the thread's life: replaced by the ledger's, or absent.


SECOND = 1_000_000_000
LEDGER = (*STATE_FIELDS, STATE, SINCE)
PLAIN = ("cpu_run_ns", "blkio_delay_ns", "swapin_delay_ns")
BLKIO = 1
TID = 7


@dataclass
class Row:
    """One thread; times in seconds, of which `now` is how long it has lived."""

    blkio: float
    disk: float = 0
    swapin: float = 0
    start: float = 0
    tid: int = TID


class Base:
    """Gives one thread, in arrays that stay as long as it does."""

    exits = None

    def __init__(self, *, ledger: bool) -> None:
        self.fields = (*PLAIN, *LEDGER) if ledger else PLAIN
        self.now = 0
        self.reading = self.of(Row(0))

    def of(self, row: Row) -> Reading:
        counters = np.zeros((1, len(self.fields)), np.uint64)
        counters[0, :3] = [5, round(row.blkio * SECOND), round(row.swapin * SECOND)]
        if len(self.fields) > len(PLAIN):
            counters[0, self.fields.index(DISK_STATES[1])] = round(row.disk * SECOND)
        return Reading(
            np.array([row.tid], np.uint32),
            counters,
            None,
            np.array([round(row.start * SECOND)]),
            np.array([b"reader"], "S16"),
            changed=np.ones(1, np.bool_),
        )

    def read(self) -> Reading:
        return self.reading


class SteadyBase(Base):
    """The same, with rows that compiled code brings up to date."""

    at_once = 1
    is_complete = True

    def __init__(self, *, ledger: bool) -> None:
        super().__init__(ledger=ledger)
        self.rows = cast(SteadyRows, object())

    def begin(self, samples: int = 1) -> SteadyRows:
        return self.rows

    def sampled(self, result: int, cpu_ns: int = 0) -> bool:
        return True

    def complete(self) -> bool:
        return True


class Story:
    """A thread that is read once a second of its life."""

    def __init__(self, *, ledger: bool, base: Base | None = None) -> None:
        self.base = base or Base(ledger=ledger)
        self.valid = ValidDelays(cast(TargetReader, self.base), clock=lambda: self.base.now)

    def at(self, second: float, row: Row) -> Reading:
        self.base.now = round(second * SECOND)
        self.base.reading = self.base.of(row)
        return self.valid.read()

    def exit(self, lived: float, row: Row) -> Reading:
        """Its exit record."""
        record = replace(
            self.base.of(row),
            changed=None,
            age_us=np.array([round(lived * 1_000_000)], np.uint64),
        )
        return self.valid.exited(record, self.base.now)


def value(reading: Reading, column: int = BLKIO) -> float | None:
    if reading.absent is not None and reading.absent[0, column]:
        return None
    return int(reading.counters[0, column]) / SECOND


def labels(story: Story) -> list[tuple[int, str, str]]:
    return [(int(row["tid"]), str(row["name"]), str(row["label"])) for row in story.valid.table()]


def test_what_can_be_is_given_as_it_is() -> None:
    story = Story(ledger=True)
    for second in (1, 2, 3):
        waited = second + SLACK_NS / SECOND
        reading = story.at(second, Row(blkio=waited, disk=waited))
        assert reading is story.base.reading
    assert labels(story) == []


def test_more_than_its_ledger_says_is_wrong_in_a_long_life_too() -> None:
    story = Story(ledger=True)
    assert value(story.at(10, Row(blkio=3, disk=2))) == 3
    # One second was before its ledger began.
    assert value(story.at(11, Row(blkio=3.5, disk=2.5))) == 3.5
    assert value(story.at(12, Row(blkio=5, disk=2.75))) == 3.75
    assert labels(story) == [(TID, "blkio_delay_ns", "ledger")]
    assert value(story.exit(13, Row(blkio=5.5, disk=3.25))) == 4.25


def test_compiled_code_samples_no_more_when_a_delay_is_beyond_its_ledger() -> None:
    base = SteadyBase(ledger=True)
    story = Story(ledger=True, base=base)
    story.at(1, Row(blkio=0))
    base.now = 3 * SECOND
    assert story.valid.begin() is base.rows
    base.reading.counters[0, BLKIO] = SECOND
    assert story.valid.begin() is base.rows  # one comparison a second
    base.now = 5 * SECOND
    assert story.valid.begin() is None
    # It brought the rows up to date in place; who reads now gets what the ledger says.
    assert value(story.valid.read()) == 0
    assert labels(story) == [(TID, "blkio_delay_ns", "ledger")]


def test_what_cannot_be_is_the_ledgers() -> None:
    story = Story(ledger=True)
    assert value(story.at(1, Row(blkio=0.3, disk=0.25))) == 0.3
    reading = story.at(2, Row(blkio=5450, disk=0.75))
    # What it had waited before the ledger began is not in the ledger.
    assert value(reading) == pytest.approx(0.8)
    assert reading.invalid is not None
    assert reading.invalid.sum() == 1
    assert story.base.reading.counters[0, BLKIO] == 5450 * SECOND
    assert labels(story) == [(TID, "blkio_delay_ns", "ledger")]
    (row,) = story.valid.table()
    assert (row["kernel"], row["life_ns"]) == (5450 * SECOND, 2 * SECOND)


def test_it_stays_wrong_when_the_thread_is_old_enough() -> None:
    story = Story(ledger=True)
    story.at(1, Row(blkio=0))
    story.at(2, Row(blkio=4, disk=0.5))
    assert value(story.at(10, Row(blkio=4.5, disk=1))) == 1


def test_a_value_that_was_wrong_at_first_counts_from_the_ledgers_beginning() -> None:
    story = Story(ledger=True)
    assert value(story.at(1, Row(blkio=100, disk=0))) == 0
    assert value(story.at(2, Row(blkio=100.5, disk=0.5))) == 0.5


def test_without_a_ledger_there_is_none() -> None:
    story = Story(ledger=False)
    assert value(story.at(1, Row(blkio=0.5))) == 0.5
    assert value(story.at(2, Row(blkio=5450))) is None
    assert labels(story) == [(TID, "blkio_delay_ns", "invalid")]


def test_what_no_ledger_knows_is_absent_with_one() -> None:
    story = Story(ledger=True)
    reading = story.at(1, Row(blkio=0.5, swapin=9))
    assert value(reading) == 0.5
    assert value(reading, 2) is None


def test_another_thread_under_the_id_is_judged_by_itself() -> None:
    story = Story(ledger=True)
    story.at(1, Row(blkio=50))
    assert value(story.at(3, Row(blkio=0.5, start=2))) == 0.5
    assert labels(story) == []


def test_it_is_forgotten_some_time_after_it_was_seen_last() -> None:
    story = Story(ledger=True)
    story.at(1, Row(blkio=50))
    story.at(2, Row(blkio=0, tid=8, start=1))
    assert labels(story) != []
    story.at(2 + FORGET_NS / SECOND, Row(blkio=0, tid=8, start=1))
    assert labels(story) == []


@pytest.mark.parametrize(("ledger", "expected"), [(True, 0.25), (False, None)])
def test_exit_records_follow_the_same_rule(ledger: bool, expected: float | None) -> None:
    story = Story(ledger=ledger)
    assert value(story.exit(1, Row(blkio=1, disk=0.25))) == 1
    assert value(story.exit(1, Row(blkio=1.1, disk=0.25))) == expected


def test_an_exit_record_of_a_thread_whose_value_was_wrong() -> None:
    story = Story(ledger=True)
    story.at(1, Row(blkio=4, disk=0.1))
    assert value(story.exit(9, Row(blkio=4.5, disk=0.5))) == 0.5
    assert labels(story) == []
    # The id is free again.
    assert value(story.exit(9, Row(blkio=4.5, disk=0.5))) == 4.5


def test_rows_that_changed_meanwhile_are_not_lost() -> None:
    """While values are corrected the base goes on to mark rows in arrays that nobody takes in."""
    story = Story(ledger=False)
    story.at(1, Row(blkio=50))
    assert story.base.reading.changed is not None
    assert not story.base.reading.changed.any()
    assert story.valid.begin() is None


class Followed:
    """The same with a tracker behind it."""

    def __init__(self, *, ledger: bool) -> None:
        self.story = Story(ledger=ledger)
        self.tracker = Tracker(self.story.base.fields, 0, TID)
        self.receiver = Receiver()

    def at(self, second: float, row: Row) -> dict[str, int | None]:
        """What a row of a frame says then, of a thread that has one."""
        self._update(self.story.at(second, row), None)
        rows = self.tracker.all_rows()
        return {
            name: None if name in rows.absent and rows.absent[name][0] else int(column[0])
            for name, column in rows.columns.items()
        }

    def end(self, lived: float, row: Row) -> ThreadExited:
        nobody = empty(len(self.story.base.fields))
        (event,) = self._update(nobody, self.story.exit(lived, row))
        assert isinstance(event, ThreadExited)
        return event

    def _update(self, reading: Reading, exits: Reading | None) -> list[object]:
        listed: npt.NDArray[np.uint32] = reading.tid
        events, _ = self.tracker.update(
            reading, self.story.base.now, exits, listed=listed, look=lambda _: Presence.GONE
        )
        return list(events)

    def blkio_of_role(self) -> int | None:
        (role,) = self.tracker.roles(self.story.base.now)
        return role.totals.get("blkio_delay_ns")


def test_rows_lack_it_and_sums_keep_what_was_certain() -> None:
    followed = Followed(ledger=False)
    assert followed.at(1, Row(blkio=0.5))["blkio_delay_ns"] == SECOND // 2
    assert followed.at(2, Row(blkio=5450))["blkio_delay_ns"] is None
    assert followed.blkio_of_role() == SECOND // 2
    assert followed.at(3, Row(blkio=5451))["blkio_delay_ns"] is None
    event = followed.end(3, Row(blkio=5451))
    assert "blkio_delay_ns" not in event.totals
    assert event.inexact == ["blkio_delay_ns"]
    assert followed.tracker.exited().totals["blkio_delay_ns"] == SECOND // 2
    assert followed.blkio_of_role() == SECOND // 2


def test_rows_and_sums_have_the_ledgers() -> None:
    followed = Followed(ledger=True)
    assert followed.at(1, Row(blkio=0.5, disk=0.4))["blkio_delay_ns"] == SECOND // 2
    assert followed.at(2, Row(blkio=5450, disk=0.8))["blkio_delay_ns"] == 900_000_000
    assert followed.blkio_of_role() == 900_000_000
    event = followed.end(2.5, Row(blkio=5450, disk=1.4))
    assert event.totals["blkio_delay_ns"] == 1_500_000_000
    assert event.inexact == ["blkio_delay_ns"]
    assert followed.tracker.exited().totals["blkio_delay_ns"] == 1_500_000_000


def test_a_wrong_value_of_a_thread_that_nobody_saw_is_in_no_sum() -> None:
    followed = Followed(ledger=False)
    event = followed.end(1, Row(blkio=900))
    assert "blkio_delay_ns" not in event.totals
    assert "blkio_delay_ns" not in followed.tracker.exited().totals


def test_rows_that_are_brought_up_to_date_are_looked_at_when_they_change() -> None:
    story = Story(ledger=False)
    reading = story.at(2, Row(1))
    assert reading.changed is not None
    assert value(reading) == 1
    reading.changed[:] = False
    reading.counters[0, BLKIO] = 9 * SECOND
    reading.changed[0] = True
    story.base.now = 2 * SECOND + SECOND // 10
    assert value(story.valid.read()) is None


def test_ledgers_of_rows_that_are_brought_up_to_date_are_compared_once_a_second() -> None:
    story = Story(ledger=True)
    reading = story.at(20, Row(1, disk=1))
    assert value(reading) == 1
    reading.counters[0, BLKIO] = 9 * SECOND
    story.base.now += SECOND // 2
    assert value(story.valid.read()) == 9
    story.base.now += SECOND // 2
    assert value(story.valid.read()) == 1


# Block-I/O delays against what ledgers allow.


MS = 1_000_000
ATTACH = 1000 * MS
FIELDS = (BLKIO_NAME, BLKIO_COUNT, *STATE_FIELDS, STATE, SINCE)
PLAIN_FIELDS = (BLKIO_COUNT, STATE)
FILE_READ_DISK = STATE_FIELDS.index("state_file_read_disk_ns") + 1
FUTEX = STATE_FIELDS.index("state_futex_ns") + 1


def reading(*threads: dict[str, int], start: int = 0) -> Reading:
    """Threads 1, 2 and so on; times in milliseconds since attach."""
    counters = np.zeros((len(threads), len(FIELDS)), np.uint64)
    for row, thread in enumerate(threads):
        for name, value in thread.items():
            counters[row, FIELDS.index(name)] = value if name in PLAIN_FIELDS else value * MS
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
    assert outside(bounds, reading({BLKIO_NAME: 0, **reads}), 200) == []
    # It was woken up after its ledger was read.
    assert outside(bounds, reading({BLKIO_NAME: 800, **reads}), 900) == []
    waits = {STATE: FUTEX, SINCE: 100}
    assert outside(bounds, reading({BLKIO_NAME: 800, **waits}), 900) == [1]


def test_a_wait_that_began_before_the_ledger_is_waited_for() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({BLKIO_NAME: 50, STATE: FILE_READ_DISK}, start=-900), 10) == []
    later = {BLKIO_NAME: 900, "state_file_read_disk_ns": 40, STATE: FUTEX, SINCE: 40}
    assert outside(bounds, reading(later, start=-900), 100) == []
    assert outside(bounds, reading(later | {BLKIO_NAME: 1000}, start=-900), 200) == [1]


def test_a_wait_that_the_kernel_did_not_count_is_missed() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({BLKIO_NAME: 90}, start=-900), 10) == []
    waited = {"state_file_read_disk_ns": 400, STATE: FUTEX, SINCE: 500}
    assert outside(bounds, reading({BLKIO_NAME: 490, **waited}, start=-900), 500) == []
    assert outside(bounds, reading({BLKIO_NAME: 300, **waited}, start=-900), 600) == [1]
    # What may have been no wait for a disk need not be in it.
    calls = {"state_other_call_ns": 400, STATE: FUTEX, SINCE: 700}
    assert outside(bounds, reading({BLKIO_NAME: 90, **calls}, start=-900), 700) == []


def test_each_wake_up_may_take_a_while() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({}, {}), 10) == []
    many = {BLKIO_NAME: 150, "state_page_fault_disk_ns": 80}
    found = outside(bounds, reading(many | {BLKIO_COUNT: 1000}, many | {BLKIO_COUNT: 100}), 400)
    assert found == [2]


def test_metadata_and_queues_of_the_kernel_are_no_excess() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({}, {}), 10) == []
    allowed = {BLKIO_NAME: 500, "state_other_call_ns": 300, "state_io_uring_ns": 200}
    assert outside(bounds, reading(allowed, {BLKIO_NAME: 500, "state_futex_ns": 500}), 900) == [2]


def test_an_exit_record_comes_after_the_thread_is_gone() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({}, {}), 10) == []
    assert outside(bounds, reading({}), 20) == []
    record = reading({}, {BLKIO_NAME: 400})
    assert outside(bounds, record, 30, ended=True) == [2]
    # One that nobody saw alive may have waited before.
    later = reading({}, {}, {BLKIO_NAME: 400}, start=25)
    assert outside(bounds, later, 40, ended=True) == []


def test_without_a_ledger_nothing_is_bounded() -> None:
    bounds = IoBounds((BLKIO_NAME, BLKIO_COUNT), ATTACH)
    one = reading({BLKIO_NAME: 9000})
    assert outside(bounds, one, 10) == outside(bounds, one, 20) == []


def test_of_a_thread_that_waited_for_no_disk_it_is_known_from_the_first_reading() -> None:
    bounds = IoBounds(FIELDS, ATTACH)
    assert outside(bounds, reading({BLKIO_NAME: 50, STATE: FUTEX}, start=-900), 10) == []
    read = {"state_file_read_disk_ns": 40, STATE: FUTEX, SINCE: 90}
    assert outside(bounds, reading({BLKIO_NAME: 400} | read, start=-900), 100) == [1]
