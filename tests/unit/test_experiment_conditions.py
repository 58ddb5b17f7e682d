"""What a machine did beside a repeat, and waiting until it is quiet."""

import time

import pytest
from tidscope_backend.experiments import conditions
from tidscope_backend.experiments.conditions import (
    Conditions,
    figures_between,
    parse_stat,
    wait_until_quiet,
    warnings_of,
)

STAT = "cpu  100 50 30 800 5 10 5 20 7 3\ncpu0 1 2 3\n"


def test_busy_and_stolen_time_of_all_cpus() -> None:
    ticks = conditions.TICKS
    # Guests are in user and nice already.
    assert parse_stat(STAT) == (195 / ticks, 20 / ticks, 1020 / ticks)
    with pytest.raises(ValueError, match="all CPUs"):
        parse_stat("cpu0 1 2 3 4 5 6 7 8\n")


def test_what_is_not_ours_is_of_others() -> None:
    before, after = Conditions(10.0, 1.0, 100.0, 5.0), Conditions(16.0, 1.5, 120.0, 9.0)
    figures = figures_between(before, after)
    assert figures == {"steal_share": 0.5 / 20, "other_share": 2.0 / 20}
    assert warnings_of(figures) == ["The hypervisor took 2% of the CPU time (steal)."]
    assert figures_between(Conditions(None, None, None, 0.0), after) == {}


def readings(monkeypatch: pytest.MonkeyPatch, busy: list[float]) -> list[float]:
    """Let each second of two CPUs be so busy; seconds that were looked at."""
    looked, total = [0.0], [0.0]

    def read(_: type[Conditions]) -> Conditions:
        return Conditions(total[0], 0.0, 2 * looked[0], 0.0)

    def sleep(seconds: float) -> None:
        total[0] += 2 * seconds * busy[min(int(looked[0]), len(busy) - 1)]
        looked[0] += seconds

    monkeypatch.setattr(Conditions, "now", classmethod(read))
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: looked[0])
    return looked


def test_a_repeat_waits_until_the_machine_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = readings(monkeypatch, [0.5, 0.5, 0.5, 0.02])
    wait_until_quiet(10.0)
    assert 3.0 < looked[0] < 4.0


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = readings(monkeypatch, [0.5])
    wait_until_quiet(2.0)
    assert looked[0] == pytest.approx(2.0)
    wait_until_quiet(0.0)
    assert looked[0] == pytest.approx(2.0)
