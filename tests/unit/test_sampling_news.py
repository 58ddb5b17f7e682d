"""When births, ends and names are taken in."""

from tidscope_collector.sampling.news import AT_ONCE, EVERY_NS, MANY, SELDOM_NS, SHARE, News
from tidscope_wire.generated.limits import LIFECYCLE_WAIT_SECONDS

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
