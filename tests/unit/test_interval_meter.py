"""Intervals are made from cumulative counts."""

import pytest
from tidscope_collector.steering.loop.interval_meter import IntervalMeter
from tidscope_collector.steering.signals.signal import Count
from tidscope_policies.contract import Bounds

BOUNDS = Bounds(1, 8)


def test_an_interval_is_what_was_counted_in_it_over_its_real_time() -> None:
    meter = IntervalMeter(Count(100.0, 5000), size=4)
    meter.add_part(Count(100.25, 5010))
    meter.add_part(Count(100.75, 5040))
    seen = meter.end(4, BOUNDS)
    assert (seen.ops, seen.elapsed_s, seen.size, seen.at_s) == (40, 0.75, 4, 100.75)
    assert [(part.seconds, part.ops) for part in seen.parts] == [(0.25, 10), (0.5, 30)]
    assert seen.progress == pytest.approx(40 / 0.75)
    assert not seen.moved_by_other
    assert not seen.paused
    assert seen.mean_wait_s is None


def test_another_hand_on_the_knob_is_seen() -> None:
    meter = IntervalMeter(Count(0, 0), size=4)
    meter.add_part(Count(1, 1))
    seen = meter.end(3, BOUNDS)
    assert (seen.moved_by_other, seen.size) == (True, 3)


def test_a_counter_that_starts_again_invalidates_the_interval() -> None:
    meter = IntervalMeter(Count(0, 1000), size=4)
    meter.add_part(Count(1, 10))
    meter.add_part(Count(2, 20))
    seen = meter.end(4, BOUNDS)
    assert seen.paused
    assert seen.ops == 0
    assert [part.ops for part in seen.parts] == [10]


def test_nothing_counted_is_an_interval_without_length() -> None:
    seen = IntervalMeter(Count(7, 3), size=2).end(2, BOUNDS, paused=True)
    assert (seen.elapsed_s, seen.ops, seen.parts, seen.paused) == (0, 0, (), True)


@pytest.mark.parametrize(
    ("last", "mean", "jobs"),
    [
        (Count(1, 9, wait_s=12.0, jobs=14), 0.5, 4),
        (Count(1, 9, wait_s=10.0, jobs=10), 0.0, 0),
        (Count(1, 9), None, 0),
    ],
)
def test_the_mean_time_that_jobs_waited(last: Count, mean: float | None, jobs: int) -> None:
    meter = IntervalMeter(Count(0, 0, wait_s=10.0, jobs=10), size=1)
    meter.add_part(last)
    seen = meter.end(1, BOUNDS)
    assert (seen.mean_wait_s, seen.jobs) == (mean, jobs)
