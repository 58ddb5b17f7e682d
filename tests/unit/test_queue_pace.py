"""When queues are read."""

import time

import pytest
from tidscope_collector.queues import pace
from tidscope_collector.queues.pace import Pace


class Clock:
    """Clocks that stand still until they are set, in nanoseconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 10**12
        self.used_ns = 0
        monkeypatch.setattr(time, "monotonic_ns", lambda: self.now_ns)
        monkeypatch.setattr(time, "thread_time_ns", lambda: self.used_ns)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_readings_cover_the_time_since_the_one_before(clock: Clock) -> None:
    covered: list[int] = []
    reading = Pace(0.5)
    for step_s in (0.0, 0.25, 0.25, 1.0, 9.0):
        clock.now_ns += int(step_s * 1e9)
        reading.read(covered.append)
    # The second is too early; before the last one too much time has passed.
    assert covered == [0, 500_000_000, 1_000_000_000, 0]


def test_costly_readings_are_seldom(clock: Clock) -> None:
    def costly(_: int) -> None:
        clock.used_ns += 20_000_000

    reading = Pace(0.5)
    reading.read(costly)
    assert reading.left_s() == pytest.approx(0.02 * pace.REST)
    clock.now_ns += 5 * 10**9
    reading.read(costly)
    assert clock.used_ns == 20_000_000
