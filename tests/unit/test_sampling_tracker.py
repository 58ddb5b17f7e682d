"""The tracker: births, names, ends and counters of threads, in each order that a kernel allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from receiver import Receiver
from tidscope_collector.sampling.presence import Presence
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.threads.reading import Reading
from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import TargetEvent, ThreadBorn, ThreadExited, ThreadRenamed

FIELDS = ("cpu_run_ns", "blkio_delay_ns")
ATTACH = 1_000_000
MAIN = 10


@dataclass(frozen=True)
class Row:
    """A thread as a source shows it; start in nanoseconds since attach."""

    cpu: int | None
    blkio: int | None = 0
    start: int = -5000
    name: bytes = b"work"


def reading(rows: Mapping[int, Row] | Sequence[tuple[int, Row]], rubbish: int = 99) -> Reading:
    """A reading of threads; None is a value that is absent, with rubbish in its place."""
    pairs = list(rows.items()) if isinstance(rows, Mapping) else list(rows)
    values = [(row.cpu, row.blkio) for _, row in pairs]
    absent = np.array([[value is None for value in both] for both in values]).reshape(-1, 2)
    return Reading(
        np.array([tid for tid, _ in pairs], np.uint32),
        np.array(
            [[rubbish if value is None else value for value in both] for both in values],
            np.uint64,
        ).reshape(-1, 2),
        absent if absent.any() else None,
        np.array([row.start + ATTACH for _, row in pairs], np.int64),
        np.array([row.name for _, row in pairs], "S16"),
    )


class Story:
    """A tracker and a receiver of what it says; samples are 1,000 ns apart.

    Args:
        foreign_exits: as for the tracker.
        rubbish: what stands in the place of absent values.
    """

    def __init__(self, *, foreign_exits: bool = False, rubbish: int = 99) -> None:
        self.rubbish = rubbish
        self.tracker = Tracker(FIELDS, ATTACH, MAIN, foreign_exits=foreign_exits)
        self.receiver = Receiver()
        self.rows: Rows
        self.now = 0
        self.asked: list[int] = []
        self.roles: dict[str | None, dict[str, int]] = {}

    def sample(
        self,
        rows: Mapping[int, Row],
        exits: Sequence[tuple[int, Row]] = (),
        *,
        listed: Sequence[int] | None = None,
        **presence: Presence,
    ) -> list[TargetEvent]:
        """Take a sample in; the events it gave.

        Args:
            rows: what was read.
            exits: what was drained.
            listed: ids that were listed; those that were read if not given.
            presence: what /proc says of an id, such as t20=Presence.GONE; without it nobody may
                ask.
        """
        self.now += 1000
        self.asked = []

        def look(tid: int) -> Presence:
            self.asked.append(tid)
            return presence[f"t{tid}"]

        events, self.rows = self.tracker.update(
            reading(rows, self.rubbish),
            ATTACH + self.now,
            reading(exits) if exits else None,
            listed=np.array(list(rows) if listed is None else listed, np.uint32),
            look=look,
        )
        self.receiver.take(events, self.rows, self.tracker.exited())
        # A reader that starts here sees the same.
        late = Receiver()
        late.take([], self.tracker.all_rows(), self.tracker.exited())
        assert (late.live, late.names) == (self.receiver.live, self.receiver.names)
        assert late.starts == self.receiver.starts
        self._compare_roles()
        return events

    def _compare_roles(self) -> None:
        """Roles add up to the process, and none falls."""
        roles = {reported.role: reported.totals for reported in self.tracker.roles(0)}
        for name in FIELDS:
            assert sum(totals.get(name, 0) for totals in roles.values()) == (
                self.receiver.total(name)
            )
        for role, totals in self.roles.items():
            assert all(roles[role][name] >= value for name, value in totals.items())
        self.roles = roles

    def sent(self) -> dict[int, list[int | None]]:
        """The rows of the last sample."""
        return {
            tid: [
                None if field in self.rows.absent and self.rows.absent[field][row] else int(c[row])
                for field, c in self.rows.columns.items()
            ]
            for row, tid in enumerate(self.rows.tid.tolist())
        }

    def cpu(self) -> int:
        """CPU of the process as a receiver adds it up."""
        return self.receiver.total("cpu_run_ns")


def exits(events: Sequence[TargetEvent]) -> list[ThreadExited]:
    return [event for event in events if isinstance(event, ThreadExited)]


def test_the_first_sample_gives_birth_to_all_and_has_all_rows() -> None:
    story = Story()
    events = story.sample({MAIN: Row(5, 1, start=-70, name=b"main"), 20: Row(0, 0, start=30)})
    assert events == [
        ThreadBorn(tid=MAIN, start_ns=-70, name="main"),
        ThreadBorn(tid=20, start_ns=30, name="work"),
    ]
    assert story.sent() == {MAIN: [5, 1], 20: [0, 0]}


def test_then_only_rows_that_changed() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6), 30: Row(7)})
    assert story.sample({MAIN: Row(5), 20: Row(6, 1), 30: Row(8)}) == []
    assert story.sent() == {20: [6, 1], 30: [8, 0]}
    assert story.sample({MAIN: Row(5), 20: Row(6, 1), 30: Row(8)}) == []
    assert story.sent() == {}
    # The order of a listing means nothing.
    assert story.sample({30: Row(8), MAIN: Row(5), 20: Row(9, 1)}) == []
    assert story.sent() == {20: [9, 1]}


def test_a_birth_among_others() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 30: Row(7)})
    events = story.sample({MAIN: Row(5), 20: Row(1, start=1500), 30: Row(8)})
    assert events == [ThreadBorn(tid=20, start_ns=1500, name="work")]
    assert story.sent() == {20: [1, 0], 30: [8, 0]}


def test_a_start_that_jitters_is_no_birth() -> None:
    story = Story()
    story.sample({MAIN: Row(5, start=500)})
    for start in (400, 700, 650):
        assert story.sample({MAIN: Row(5, start=start)}) == []
    assert story.receiver.starts == {MAIN: 500}


def test_a_new_name_is_reported_once() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6, name=b"a")})
    renamed = ThreadRenamed(tid=20, name="b", previous="a")
    assert story.sample({MAIN: Row(5), 20: Row(6, name=b"b")}) == [renamed]
    assert story.sample({MAIN: Row(5), 20: Row(6, name=b"b")}) == []
    # Also where another thread is new in the same sample, and with bytes that are no UTF-8.
    both = story.sample({MAIN: Row(5), 20: Row(6, name=b"\xff"), 30: Row(0, start=2500)})
    assert ThreadRenamed(tid=20, name="\ufffd", previous="b") in both
    assert len(both) == 2
    assert story.sample({MAIN: Row(5), 20: Row(6, name=b"\xfe"), 30: Row(0, start=2500)}) == []


def test_an_exit_record_has_the_last_word() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6, start=-50)})
    # The record's start is somewhat late, as it is taken from the time of the drain.
    events = story.sample({MAIN: Row(5)}, [(20, Row(9, 2, start=40, name=b"last"))])
    totals = {"cpu_run_ns": 9, "blkio_delay_ns": 2}
    assert events == [
        ThreadExited(tid=20, start_ns=-50, name="last", totals=totals, exact=True, seen_alive=True)
    ]
    reported = story.tracker.exited()
    assert (reported.threads, reported.inexact, reported.totals) == (1, 0, totals)


def test_a_thread_that_lived_between_two_samples() -> None:
    story = Story()
    story.sample({MAIN: Row(5)})
    (event,) = exits(story.sample({MAIN: Row(5)}, [(20, Row(9, start=1200))]))
    assert (event.seen_alive, event.exact, event.start_ns) == (False, True, 1200)
    assert story.cpu() == 5 + 9


def test_two_lives_of_one_id_in_one_drain() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    events = story.sample({MAIN: Row(5)}, [(20, Row(7)), (20, Row(11, start=1500))])
    assert [event.seen_alive for event in exits(events)] == [True, False]
    assert story.cpu() == 5 + 7 + 11


def test_without_a_record_the_last_sample_counts_and_is_called_inexact() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6, 3, name=b"old")})
    (event,) = exits(story.sample({MAIN: Row(5)}, t20=Presence.GONE))
    assert event == ThreadExited(
        tid=20,
        start_ns=-5000,
        name="old",
        totals={"cpu_run_ns": 6, "blkio_delay_ns": 3},
        exact=False,
        seen_alive=True,
    )
    assert story.tracker.exited().inexact == 1


def test_a_record_that_comes_after_the_end_was_reported_puts_the_sums_right() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    story.sample({MAIN: Row(5)}, t20=Presence.GONE)
    # Once only: another record is of another thread.
    records = [(20, Row(8, start=-4000)), (20, Row(9, start=-4000))]
    (event,) = exits(story.sample({MAIN: Row(5)}, records))
    assert (event.seen_alive, event.totals["cpu_run_ns"]) == (False, 9)
    reported = story.tracker.exited()
    assert (reported.threads, reported.inexact, reported.totals["cpu_run_ns"]) == (2, 0, 8 + 9)


def test_a_record_of_the_next_life_is_not_taken_for_a_late_one() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    story.sample({MAIN: Row(5)}, t20=Presence.GONE)
    (event,) = exits(story.sample({MAIN: Row(5)}, [(20, Row(8, start=1001))]))
    assert not event.seen_alive
    reported = story.tracker.exited()
    assert (reported.threads, reported.inexact, reported.totals["cpu_run_ns"]) == (2, 1, 14)


def test_a_main_thread_that_lingers_has_ended_once() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    # Read before it ended, drained after.
    assert len(exits(story.sample({MAIN: Row(6), 20: Row(6)}, [(MAIN, Row(7))]))) == 1
    for _ in range(3):
        # A zombie answers, and is skipped by no listing.
        assert story.sample({MAIN: Row(8), 20: Row(6)}, t10=Presence.EXITING) == []
        assert story.sent() == {}
    assert story.sample({20: Row(6)}, listed=[MAIN, 20]) == []
    assert story.sample({MAIN: Row(8), 20: Row(6)}, t10=Presence.EXITING) == []
    assert story.receiver.live.keys() == {20}
    assert story.cpu() == 7 + 6


def test_a_thread_that_still_ends_after_its_record_is_no_new_one() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    story.sample({MAIN: Row(5), 20: Row(6)}, [(20, Row(7))])
    assert story.sample({MAIN: Row(5), 20: Row(7)}, t20=Presence.EXITING) == []
    assert story.sample({MAIN: Row(5)}) == []
    assert story.cpu() == 5 + 7


@pytest.mark.parametrize("skipped", [False, True])
def test_a_thread_that_began_after_the_listing_and_lingers_has_exited_once(skipped: bool) -> None:
    """Its record is drained with a sample that did not list it; the next ones list it."""
    story = Story()
    story.sample({MAIN: Row(5)})
    story.sample({MAIN: Row(5)}, [(20, Row(1, start=1500))])
    if skipped:  # as a listing may do while threads end
        story.sample({MAIN: Row(5)})
    for _ in range(2):
        assert story.sample({MAIN: Row(5), 20: Row(1, start=1490)}, t20=Presence.EXITING) == []
    assert story.sample({MAIN: Row(5)}) == []
    assert story.cpu() == 5 + 1
    assert (story.tracker.exited().threads, story.tracker.exited().inexact) == (1, 0)
    # Two listings without it: it is gone, and nobody is asked about the next thread of that id.
    story.sample({MAIN: Row(5)})
    assert len(story.sample({MAIN: Row(5), 20: Row(1, start=8000)})) == 1


def test_an_id_that_is_given_to_a_new_thread_at_once() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6, start=500)})
    # The new thread may have been read already: it is reported in the next sample.
    assert len(story.sample({MAIN: Row(5), 20: Row(1, start=1100)}, [(20, Row(7))])) == 1
    events = story.sample({MAIN: Row(5), 20: Row(2, start=1100)}, t20=Presence.ALIVE)
    assert events == [ThreadBorn(tid=20, start_ns=1100, name="work")]
    assert story.cpu() == 5 + 7 + 2


def test_an_id_reused_with_equal_counters_has_a_row() -> None:
    story = Story()
    story.sample({MAIN: Row(1), 20: Row(0)})
    events = story.sample({MAIN: Row(1), 20: Row(0, start=1500)})
    assert [event.type for event in events] == ["thread_exited", "thread_born"]
    assert story.rows.tid.tolist() == [20]


def test_an_id_reused_without_a_record_is_known_by_its_start() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    old, new = story.sample({MAIN: Row(5), 20: Row(60, start=1001)})
    assert isinstance(old, ThreadExited) and (old.exact, old.totals["cpu_run_ns"]) == (False, 6)
    assert new == ThreadBorn(tid=20, start_ns=1001, name="work")
    assert story.cpu() == 5 + 6 + 60


@pytest.mark.parametrize("another", [False, True])
def test_an_id_reused_without_a_record_is_known_by_its_cpu(another: bool) -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    more = {30: Row(0, start=1500)} if another else {}
    # As in /proc, where the start is that of the clock tick.
    events = story.sample({MAIN: Row(5), 20: Row(2, 9, start=900)} | more)
    assert [type(event) for event in events][:2] == [ThreadExited, ThreadBorn]
    assert story.cpu() == 5 + 6 + 2


def test_an_id_reused_while_a_listing_skipped_it() -> None:
    """What counts is when the other thread was seen last, not when anything was."""
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    assert story.sample({MAIN: Row(5)}, t20=Presence.ALIVE) == []
    events = story.sample({MAIN: Row(5), 20: Row(60, start=1500)})
    assert [type(event) for event in events] == [ThreadExited, ThreadBorn]
    assert story.cpu() == 5 + 6 + 60


def test_another_counter_that_falls_is_no_new_thread_and_does_not_fall() -> None:
    story = Story()
    story.sample({MAIN: Row(5, 4)})
    assert story.sample({MAIN: Row(7, 3)}) == []
    assert story.sent() == {MAIN: [7, 4]}
    assert story.sample({MAIN: Row(7, 3)}) == []
    assert story.sent() == {}
    assert story.sample({MAIN: Row(7, 5)}) == []
    assert story.sent() == {MAIN: [7, 5]}
    # Nor does it at the end.
    story.sample({}, [(MAIN, Row(8, 2))])
    assert story.receiver.total("blkio_delay_ns") == 5


def test_a_thread_that_was_listed_and_not_read_stays_with_its_counters() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    assert story.sample({MAIN: Row(6)}, listed=[MAIN, 20]) == []
    assert story.receiver.live.keys() == {MAIN, 20}
    assert story.asked == []
    # Only then it is missed in the listing: it ended after the one before.
    (event,) = exits(story.sample({MAIN: Row(6)}, t20=Presence.GONE))
    assert event.totals["cpu_run_ns"] == 6
    assert story.cpu() == 6 + 6


@pytest.mark.parametrize("there", [Presence.ALIVE, Presence.EXITING])
def test_a_listing_that_skips_a_thread_ends_nothing(there: Presence) -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6), 30: Row(7)})
    assert story.sample({MAIN: Row(5), 30: Row(8)}, t20=there) == []
    assert story.sent() == {30: [8, 0]}
    assert story.sample({MAIN: Row(5), 20: Row(9), 30: Row(8)}) == []
    assert story.sent() == {20: [9, 0]}


def test_exec_by_another_thread_than_the_main_one() -> None:
    """The main thread and the others end, and the one that executed goes on under its id."""
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(60), 30: Row(7)})
    story.sample({MAIN: Row(61)}, [(30, Row(8)), (MAIN, Row(6))], t20=Presence.GONE)
    assert story.cpu() == 6 + 60 + 8
    events = story.sample({MAIN: Row(62, name=b"sh")}, t10=Presence.ALIVE)
    # Another thread than the main one before: the id is its own since it was seen as 20.
    assert events == [ThreadBorn(tid=MAIN, start_ns=1000, name="sh")]
    assert story.sent() == {MAIN: [62 - 60, 0]}
    assert story.cpu() == 6 + 8 + 62
    assert story.tracker.exited().inexact == 0
    story.sample({MAIN: Row(65, name=b"sh")}, t10=Presence.ALIVE)
    assert story.sent() == {MAIN: [65 - 60, 0]}
    # In each thread's row is what it used under that id: together that is what all used.
    (event,) = exits(story.sample({}, [(MAIN, Row(66))]))
    assert event.totals["cpu_run_ns"] == 66 - 60
    assert story.cpu() == 6 + 8 + 66
    assert sum(one.totals["cpu_run_ns"] for one in story.receiver.exits) == 6 + 8 + 66


def test_exec_and_the_end_between_two_samples() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(60)})
    records = reading([(MAIN, Row(6)), (MAIN, Row(64, name=b"sh"))])
    events = exits(story.tracker.finish(records, exited=True))
    assert story.tracker.exited().totals["cpu_run_ns"] == 6 + 64
    assert [(one.tid, one.totals["cpu_run_ns"]) for one in events] == [
        (MAIN, 6),
        (MAIN, 64 - 60),
        (20, 60),
    ]


def test_exec_without_exit_records() -> None:
    story = Story()
    story.sample({MAIN: Row(50), 20: Row(30)})
    events = story.sample({MAIN: Row(31, name=b"sh")}, t20=Presence.GONE)
    assert [event.tid for event in exits(events)] == [20, MAIN]
    assert story.sent() == {MAIN: [31 - 30, 0]}
    assert story.cpu() == 50 + 31


def test_an_id_that_is_used_again_inherits_nothing() -> None:
    story = Story()
    story.sample({MAIN: Row(50), 20: Row(30)})
    story.sample({MAIN: Row(31, name=b"sh")}, t20=Presence.GONE)
    story.sample({}, [(MAIN, Row(33))])
    story.sample({MAIN: Row(40, start=3500)}, t10=Presence.ALIVE)
    assert story.sent() == {MAIN: [40, 0]}


@pytest.mark.parametrize("rubbish", [0, 99])
def test_absent_is_null_and_not_zero(rubbish: int) -> None:
    story = Story(rubbish=rubbish)
    story.sample({MAIN: Row(5, None), 20: Row(6, 0)})
    assert story.sent() == {MAIN: [5, None], 20: [6, 0]}
    assert story.sample({MAIN: Row(5, None), 20: Row(6, 0)}) == []
    assert story.sent() == {}
    story.sample({MAIN: Row(6, None), 20: Row(6, 0)})
    assert story.sent() == {MAIN: [6, None]}
    # A value may come, even if it is 0.
    story.sample({MAIN: Row(6, 0), 20: Row(6, 0)})
    assert story.sent() == {MAIN: [6, 0]}
    assert story.rows.absent == {}


def test_a_value_once_given_is_not_taken_back() -> None:
    story = Story()
    story.sample({MAIN: Row(5, 3), 20: Row(6, 1)})
    story.sample({MAIN: Row(7, None), 20: Row(6, None)})
    assert story.sent() == {MAIN: [7, 3]}
    (event,) = exits(story.sample({MAIN: Row(7, None)}, t20=Presence.GONE))
    assert event.totals == {"cpu_run_ns": 6, "blkio_delay_ns": 1}


def test_an_absent_cpu_counter_is_no_rebirth() -> None:
    story = Story()
    story.sample({MAIN: Row(500, 3)})
    assert story.sample({MAIN: Row(None, 4)}) == []
    assert story.sent() == {MAIN: [500, 4]}


def test_absent_values_are_in_no_sum() -> None:
    story = Story()
    story.sample({MAIN: Row(5, None), 20: Row(6, None)})
    story.sample({MAIN: Row(5, None)}, [(20, Row(7, None))])
    assert story.tracker.exited().totals == {"cpu_run_ns": 7}
    story.sample({MAIN: Row(5, None)}, [(30, Row(7, 0))])
    assert story.tracker.exited().totals == {"cpu_run_ns": 14, "blkio_delay_ns": 0}


def test_a_readers_buffer_may_be_used_again() -> None:
    """A query of one thread gives its id where the next query's will stand."""
    story = Story()
    tracker = story.tracker
    one = reading({MAIN: Row(5)})
    tracker.update(one, ATTACH, None, listed=one.tid, look=lambda _: Presence.ALIVE)
    one.tid[:] = 999
    assert tracker.all_rows().tid.tolist() == [MAIN]
    (event,) = exits(tracker.finish(None, exited=True))
    assert event.totals["cpu_run_ns"] == 5


def test_an_old_kernel_does_not_say_whose_thread_has_ended() -> None:
    story = Story(foreign_exits=True)
    story.sample({MAIN: Row(5), 20: Row(6)})
    events = story.sample({MAIN: Row(5)}, [(20, Row(7)), (999, Row(1000))])
    assert [event.tid for event in exits(events)] == [20]
    assert story.cpu() == 5 + 7


def test_the_end_of_the_process_ends_every_thread() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6), 30: Row(7)})
    events = story.tracker.finish(reading({20: Row(8)}), exited=True)
    assert {event.tid: event.exact for event in exits(events)} == {20: True, MAIN: False, 30: False}
    reported = story.tracker.exited()
    assert (reported.threads, reported.inexact, reported.totals["cpu_run_ns"]) == (3, 2, 5 + 8 + 7)
    assert len(story.tracker.all_rows().tid) == 0


def test_the_end_of_sampling_ends_no_thread_but_those_that_said_so() -> None:
    story = Story()
    story.sample({MAIN: Row(5), 20: Row(6)})
    assert len(exits(story.tracker.finish(reading({20: Row(8)}), exited=False))) == 1
    assert story.tracker.threads.keys() == {MAIN}
    assert story.tracker.all_rows().tid.tolist() == [MAIN]


@pytest.mark.parametrize(("unchanged", "asked"), [(0, [21]), (1, [21]), (2, [])])
def test_samples_of_the_same_threads_say_that_who_ended_has_left(
    unchanged: int, asked: list[int]
) -> None:
    tracker = Tracker(FIELDS, ATTACH, MAIN)
    questions: list[int] = []

    def look(tid: int) -> Presence:
        questions.append(tid)
        return Presence.GONE

    def take(*listed: int, ended: int | None = None) -> None:
        rows = reading({tid: Row(5) for tid in listed})
        rows = replace(rows, changed=np.zeros(len(listed), np.bool_))
        exits = None if ended is None else reading({ended: Row(9)})
        ids = np.array(listed, np.uint32)
        tracker.update(rows, ATTACH + 50, exits, listed=ids, look=look)

    take(MAIN, 20)
    assert tracker.is_settled
    take(MAIN, 20, ended=20)
    assert not tracker.is_settled  # the next listing will be another one
    take(MAIN, 21)
    take(MAIN, ended=21)
    assert tracker.is_settled
    for _ in range(unchanged):
        tracker.note_unchanged()
        assert tracker.is_settled
    take(MAIN, 21)
    # Once it is known to have left nobody is asked: the id is another thread's.
    assert questions == asked


WHOLE = "http-nio-127.0.0.1-18085-exec-3"
SHORT = WHOLE[:15].encode()


def test_a_name_of_the_program_stands_until_the_kernel_s_changes() -> None:
    story = Story()
    story.sample({1: Row(10, name=SHORT), 2: Row(5)})
    events = story.tracker.rename({1: WHOLE, 77: "nobody"})
    assert events == [ThreadRenamed(tid=1, name=WHOLE, previous=WHOLE[:15])]
    assert story.tracker.rename({1: WHOLE}) == []
    story.receiver.take(events, story.rows, story.tracker.exited())
    assert story.sample({1: Row(12, name=SHORT), 2: Row(5)}) == []
    assert story.tracker.threads[1].kernel_name == WHOLE[:15]
    (renamed,) = story.sample({1: Row(12, name=b"otherwise"), 2: Row(5)})
    assert renamed == ThreadRenamed(tid=1, name="otherwise", previous=WHOLE)
    assert story.tracker.threads[1].kernel_name == "otherwise"


def test_what_a_thread_did_before_it_was_named_stays_with_the_role_of_its_first_name() -> None:
    story = Story()
    story.sample({1: Row(10, name=SHORT)})
    events = story.tracker.rename({1: WHOLE})
    story.receiver.take(events, story.rows, story.tracker.exited())
    story.sample({1: Row(17, name=SHORT)})
    roles = {one.role: one.totals["cpu_run_ns"] for one in story.tracker.roles(0)}
    assert sorted(roles.values()) == [7, 10]
    assert sum(roles.values()) == 17


def test_a_thread_ends_under_the_name_of_its_program() -> None:
    story = Story()
    story.sample({1: Row(10, name=SHORT), 2: Row(5), 3: Row(1, name=SHORT)})
    events = story.tracker.rename({1: WHOLE, 3: "three"})
    story.receiver.take(events, story.rows, story.tracker.exited())
    events = story.sample({2: Row(5)}, [(1, Row(20, name=SHORT))], t3=Presence.GONE)
    assert [(one.tid, one.name) for one in events if isinstance(one, ThreadExited)] == [
        (1, WHOLE),
        (3, "three"),
    ]
    # One that changed its name at its very end has that one.
    story.sample({2: Row(5), 4: Row(1, name=SHORT)})
    events = story.tracker.rename({4: WHOLE})
    story.receiver.take(events, story.rows, story.tracker.exited())
    (ended,) = story.sample({2: Row(5)}, [(4, Row(2, name=b"last"))])
    assert isinstance(ended, ThreadExited)
    assert ended.name == "last"
