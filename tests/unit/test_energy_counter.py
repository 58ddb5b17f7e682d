"""Wrap-around, counters that start again, and sums over packages."""

from pathlib import Path

import pytest
from fake_proc import RANGE_UJ, FakePowercap
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.energy.rapl import MAX_WATTS, Counter, EnergyMeter, find_zones

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("before", "now", "gained"),
    [
        (100, 100, 0),
        (100, 1_000_100, 1_000_000),
        (RANGE_UJ - 30_000_000, 20_000_000, 50_000_000),  # wrapped around
        (RANGE_UJ, 0, 0),
        (RANGE_UJ // 2, 0, None),  # started again: half a range in a second is 131 kW
        (0, MAX_WATTS * 1_000_000 + 1, None),
    ],
)
def test_gain_over_a_second(before: int, now: int, gained: int | None) -> None:
    assert gained_in(before, now, 1) == gained


def test_what_could_have_wrapped_twice_is_unknown() -> None:
    assert gained_in(0, 10, 65) == 10
    assert gained_in(0, 10, 66) is None


def gained_in(before: int, now: int, seconds: int) -> int | None:
    """What a counter adds between two readings; None: a gap."""
    counter = Counter(RANGE_UJ)
    counter.advance(before, 0)
    counter.advance(now, seconds * SECOND)
    return None if counter.gaps else counter.total_uj


@given(
    start=st.integers(0, RANGE_UJ),
    watts=st.lists(st.integers(0, 2_000), min_size=1, max_size=200),
    range_uj=st.integers(10_000_000_000, RANGE_UJ),
)
def test_a_total_is_what_went_in_however_often_it_wraps(
    start: int, watts: list[int], range_uj: int
) -> None:
    counter = Counter(range_uj)
    hardware = start % range_uj
    counter.advance(hardware, 0)
    for second, power in enumerate(watts, 1):
        hardware = (hardware + power * 1_000_000) % range_uj
        counter.advance(hardware, second * SECOND)
    assert (counter.total_uj, counter.gaps) == (sum(watts) * 1_000_000, 0)


def test_a_counter_that_starts_again_leaves_a_gap_and_goes_on() -> None:
    counter = Counter(RANGE_UJ)
    for second, value in enumerate([50_000_000_000, 50_100_000_000, 0, 7_000_000]):
        counter.advance(value, second * SECOND)
    assert (counter.total_uj, counter.gaps) == (107_000_000, 1)


@pytest.fixture
def tree(tmp_path: Path) -> FakePowercap:
    made = FakePowercap(tmp_path / "sys")
    for package in (0, 1):
        made.zone(f"intel-rapl:{package}", f"package-{package}", RANGE_UJ - 1_000_000)
        made.zone(f"intel-rapl:{package}:0", "core")
        made.zone(f"intel-rapl:{package}:1", "dram")
    return made.zone("intel-rapl:2", "psys")


def test_the_sum_is_that_of_packages(tree: FakePowercap) -> None:
    meter = EnergyMeter(find_zones(tree.sys))
    assert meter.read(SECOND).package_uj == 0
    tree.set("intel-rapl:0", 4_000_000)  # wrapped around: 5 J
    tree.set("intel-rapl:1", RANGE_UJ)  # 1 J
    for entry in ("intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:2"):
        tree.set(entry, 3_000_000)
    reading = meter.read(2 * SECOND)
    assert reading.package_uj == 6_000_000
    assert reading.domains_uj == (5_000_000, 3_000_000, 3_000_000, 1_000_000, 0, 0, 3_000_000)
    assert reading.gaps == 0
    meter.close()


def test_a_package_that_fails_for_once_leaves_no_half_sum(tree: FakePowercap) -> None:
    meter = EnergyMeter(find_zones(tree.sys))
    meter.read(SECOND)
    (tree.folder("intel-rapl:1") / "energy_uj").write_text("")
    failed = meter.read(2 * SECOND)
    assert failed.package_uj is None
    assert failed.domains_uj[0] == 0
    assert failed.domains_uj[3] is None
    tree.set("intel-rapl:1", 1_000_000)
    assert meter.read(3 * SECOND).package_uj == 2_000_000
    meter.close()


def test_a_machine_without_energy_is_read_as_absent(tmp_path: Path) -> None:
    reading = EnergyMeter(find_zones(tmp_path)).read(SECOND)
    assert (reading.package_uj, reading.domains_uj, reading.gaps) == (None, (), 0)
