"""Energy between two instants."""

import pytest
from tidscope_wire.generated.models import MachineCounters
from tidscope_wire.rates import energy_between

SECOND = 1_000_000_000


def reading(second: float, package_uj: int | None, gaps: int = 0) -> MachineCounters:
    return MachineCounters(
        time_ns=round(second * SECOND),
        cpu_busy_us=None,
        package_uj=package_uj,
        domains_uj=[],
        gaps=gaps,
    )


# 10 W, then 30 W; frames in between repeat a reading.
READINGS = [
    reading(0, 0),
    reading(1, 10_000_000),
    reading(1, 10_000_000),
    reading(2, 40_000_000),
]


@pytest.mark.parametrize(
    ("start", "end", "joules"),
    [(0, 2, 40), (0, 0, 0), (1, 2, 30), (1, 1, 0), (0.5, 1, 5), (0.5, 1.5, 20), (1.25, 1.5, 7.5)],
)
def test_power_is_constant_between_readings(start: float, end: float, joules: float) -> None:
    found = energy_between(READINGS, round(start * SECOND), round(end * SECOND))
    assert found == pytest.approx(joules * 1e6)


@pytest.mark.parametrize(
    ("readings", "start", "end"),
    [
        ([], 0, 1),
        (READINGS, 1, 3),
        (READINGS[1:], 0, 1),
        ([reading(0, None), reading(1, None)], 0, 1),
        ([reading(0, 0), reading(1, None)], 0, 0.5),
        ([reading(0, 0), reading(1, 5, gaps=1), reading(2, 6, gaps=1)], 0.5, 2),
    ],
)
def test_what_is_not_known_is_none(
    readings: list[MachineCounters], start: float, end: float
) -> None:
    assert energy_between(readings, round(start * SECOND), round(end * SECOND)) is None


def test_a_hole_before_the_first_instant_does_not_matter() -> None:
    readings = [reading(0, 0), reading(1, 5, gaps=1), reading(2, 6, gaps=1)]
    assert energy_between(readings, SECOND, 2 * SECOND) == 1


def test_an_end_before_the_start_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="before"):
        energy_between(READINGS, 2, 1)
