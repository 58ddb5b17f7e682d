"""Instants of samples, and when lifecycle events are processed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.sampling.news import AT_ONCE, EVERY_NS, MANY, SELDOM_NS, SHARE, News
from tidscope_collector.sampling.schedule import Schedule
from tidscope_wire.generated.limits import LIFECYCLE_WAIT_SECONDS

# Deadlines: absolute, so that being late once is being late once.


MS = 1_000_000
RATES = st.floats(1, 100)


def test_lateness_does_not_add_up() -> None:
    schedule = Schedule(10, 0)
    for turn in range(1000):
        due = turn * 100 * MS
        assert schedule.due_ns == due
        # Each sample starts 7 ms late, and none is missed.
        assert schedule.advance(due + 7 * MS) == (7 * MS, 0)
    assert schedule.missed == 0


def test_a_sample_that_is_on_time_is_not_late() -> None:
    schedule = Schedule(10, 500)
    assert schedule.advance(500) == (0, 0)
    assert schedule.due_ns == 500 + 100 * MS
    # Before its time: nothing is taken back from the next one.
    assert schedule.advance(600) == (0, 0)
    assert schedule.due_ns == 500 + 200 * MS


@pytest.mark.parametrize(
    ("late_ms", "missed", "due_ms"),
    [(99, 0, 100), (100, 1, 200), (101, 1, 200), (199, 1, 200), (200, 2, 300), (1234, 12, 1300)],
)
def test_deadlines_that_are_over_are_counted_and_not_made_up_for(
    late_ms: int, missed: int, due_ms: int
) -> None:
    schedule = Schedule(10, 0)
    assert schedule.advance(late_ms * MS) == (late_ms * MS, missed)
    assert schedule.due_ns == due_ms * MS
    assert schedule.missed == missed
    schedule.advance(due_ms * MS + 100 * MS)
    assert schedule.missed == missed + 1


def test_another_rate_begins_with_a_whole_period() -> None:
    schedule = Schedule(10, 0)
    schedule.advance(350 * MS)
    schedule.change_rate(50, 360 * MS)
    assert (schedule.rate_hz, schedule.period_ns) == (50, 20 * MS)
    assert schedule.due_ns == 380 * MS
    # What was missed before stays counted.
    assert schedule.missed == 3
    assert schedule.advance(401 * MS) == (21 * MS, 1)
    assert schedule.missed == 4


@given(
    rate=RATES,
    start=st.integers(0, 10**15),
    delays=st.lists(st.integers(0, 3 * 10**9), min_size=1, max_size=50),
)
def test_every_deadline_is_met_or_missed(rate: float, start: int, delays: list[int]) -> None:
    """After any lateness the next deadline lies ahead, by a period at most, and on the raster."""
    schedule = Schedule(rate, start)
    period = schedule.period_ns
    assert abs(period - 1e9 / rate) <= 0.5
    for taken, delay in enumerate(delays, 1):
        now = schedule.due_ns + delay
        late, missed = schedule.advance(now)
        assert late == delay
        assert missed == delay // period
        assert now < schedule.due_ns <= now + period
        assert schedule.due_ns == start + (taken + schedule.missed) * period


@given(rates=st.lists(st.tuples(RATES, st.integers(0, 10**9)), min_size=1, max_size=20))
def test_any_change_of_rate_gives_one_whole_period(rates: list[tuple[float, int]]) -> None:
    schedule = Schedule(10, 0)
    now = missed = 0
    for rate, pause in rates:
        now += pause
        if now >= schedule.due_ns:
            missed += (now - schedule.due_ns) // schedule.period_ns + 1
        schedule.change_rate(rate, now)
        assert schedule.missed == missed
        assert schedule.due_ns == now + schedule.period_ns
        now = schedule.due_ns
        assert schedule.advance(now) == (0, 0)


def test_a_hole_that_a_change_of_rate_ends_is_counted_whole() -> None:
    """The budget lowers the rate right after a sample that took very long."""
    schedule = Schedule(10, 0)
    schedule.advance(0)
    schedule.change_rate(2, 18_000 * MS)
    assert schedule.missed == 180
    assert schedule.due_ns == 18_500 * MS


def test_a_deadline_at_which_no_frame_may_be_made_is_missed() -> None:
    schedule = Schedule(10, 0)
    schedule.skip(-1)
    assert (schedule.missed, schedule.due_ns) == (0, 0)
    schedule.skip(0)
    assert (schedule.missed, schedule.due_ns) == (1, 100 * MS)
    schedule.skip(350 * MS)
    assert (schedule.missed, schedule.due_ns) == (4, 400 * MS)


# When births, ends and names are taken in.


NOW = 1000 * EVERY_NS


def test_the_first_ones_are_taken_in_as_they_come_and_more_of_them_wait() -> None:
    news = News()
    for _ in range(AT_ONCE):
        assert not news.waits(NOW)
        news.taken_in(NOW, 1)
    assert news.waits(NOW)
    assert news.waits(NOW + EVERY_NS - 1)
    assert not news.waits(NOW + EVERY_NS)


def test_samples_without_news_cost_none_of_them() -> None:
    news = News()
    for _ in range(AT_ONCE):
        news.taken_in(NOW, 1)
    for _ in range(10):
        news.taken_in(NOW, 0)
    assert not news.waits(NOW + EVERY_NS)


def test_in_the_long_run_there_is_one_every_so_often() -> None:
    news, taken = News(), 0
    for tick in range(1000):
        now_ns = NOW + tick * EVERY_NS // 10
        if not news.waits(now_ns):
            news.taken_in(now_ns, 1)
            taken += 1
    assert 100 <= taken <= 100 + AT_ONCE


def test_samples_for_another_reason_put_what_waits_no_further_off() -> None:
    """A key frame, or a tick that reads tables, takes events in although they were to wait."""
    news = News()
    for sample in range(50):
        now_ns = NOW + sample * EVERY_NS // 5
        news.taken_in(now_ns, 1)
        assert news.due_ns <= now_ns + EVERY_NS


def test_nothing_waits_while_many_come() -> None:
    news = News()
    for _ in range(100):
        news.taken_in(NOW, MANY)
        assert not news.waits(NOW)
    news.taken_in(NOW, 1)
    assert news.waits(NOW)


def test_they_are_taken_in_more_seldom_where_that_takes_much() -> None:
    for share, least_ns in ((0.5, EVERY_NS), (2, 2 * EVERY_NS), (1000, SELDOM_NS)):
        news = News()
        news.note_cost(round(share * SHARE * EVERY_NS))
        for _ in range(AT_ONCE):
            news.taken_in(NOW, 1)
        assert news.due_ns == NOW + least_ns


def test_none_waits_longer_than_an_interrupted_run_says() -> None:
    news = News()
    news.note_cost(10**12)
    for _ in range(AT_ONCE):
        news.taken_in(NOW, 1)
    assert NOW + 10**9 < news.due_ns < NOW + LIFECYCLE_WAIT_SECONDS * 10**9
