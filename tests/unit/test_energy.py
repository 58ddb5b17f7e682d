"""Energy zones and counters, and energy between two samples."""

from pathlib import Path

import pytest
from fake_proc import RANGE_UJ, FakePowercap
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.energy.rapl import MAX_WATTS, Counter, EnergyMeter, Powercap, find_zones
from tidscope_wire.generated.models import MachineCounters
from tidscope_wire.rates import energy_between


@pytest.fixture
def tree(tmp_path: Path) -> FakePowercap:
    return FakePowercap(tmp_path / "sys")


def reported(powercap: Powercap) -> list[tuple[str, str, bool]]:
    return [(zone.domain.name, zone.domain.kind, zone.domain.summed) for zone in powercap.zones]


def test_packages_are_summed_and_their_parts_are_not(tree: FakePowercap) -> None:
    for package in (0, 1):
        tree.zone(f"intel-rapl:{package}", f"package-{package}")
        tree.zone(f"intel-rapl:{package}:0", "core")
        tree.zone(f"intel-rapl:{package}:1", "uncore")
        tree.zone(f"intel-rapl:{package}:2", "dram")
    tree.zone("intel-rapl:2", "psys")
    found = find_zones(tree.sys)
    assert found.obstacle == ""
    assert found.reason == "RAPL, sum of package-0, package-1"
    assert reported(found) == [
        ("package-0", "package", True),
        ("package-0/core", "core", False),
        ("package-0/uncore", "uncore", False),
        ("package-0/dram", "dram", False),
        ("package-1", "package", True),
        ("package-1/core", "core", False),
        ("package-1/uncore", "uncore", False),
        ("package-1/dram", "dram", False),
        ("psys", "psys", False),
    ]


def test_a_package_that_is_shown_twice_counts_once(tree: FakePowercap) -> None:
    """intel-rapl-mmio gives the counter of a package by another way."""
    tree.zone("intel-rapl-mmio:0", "package-0").zone("intel-rapl:0", "package-0")
    found = find_zones(tree.sys)
    assert [(zone.domain.zone, zone.domain.summed) for zone in found.zones] == [
        ("intel-rapl:0", True),
        ("intel-rapl-mmio:0", False),
    ]


def test_a_package_that_only_mmio_shows_counts(tree: FakePowercap) -> None:
    found = find_zones(tree.zone("intel-rapl-mmio:0", "package-0").sys)
    assert reported(found) == [("package-0", "package", True)]


def test_dies_of_one_package_are_summed(tree: FakePowercap) -> None:
    tree.zone("intel-rapl:0", "package-0-die-0").zone("intel-rapl:1", "package-0-die-1")
    assert [summed for _, _, summed in reported(find_zones(tree.sys))] == [True, True]


def test_the_tree_itself_and_other_trees_are_no_zones(tree: FakePowercap) -> None:
    tree.zone("intel-rapl", "").zone("dtpm:0", "package-7")
    assert find_zones(tree.sys).obstacle == "absent"


def test_no_powercap(tmp_path: Path) -> None:
    found = find_zones(tmp_path)
    assert (found.zones, found.obstacle) == ((), "absent")
    assert "no RAPL in /sys/class/powercap" in found.reason
    assert found.describe().domains == []


def test_masked_zones_are_called_so(tree: FakePowercap) -> None:
    """A container runtime puts an empty folder over the devices; the links dangle."""
    tree.zone("intel-rapl:0", "package-0")
    tree.folder("intel-rapl:0").rename(tree.sys / "elsewhere")
    found = find_zones(tree.sys)
    assert (found.zones, found.obstacle) == ((), "hidden")
    assert "masked" in found.reason


def test_a_platform_alone_gives_no_packages(tree: FakePowercap) -> None:
    found = find_zones(tree.zone("intel-rapl:1", "psys").sys)
    assert found.obstacle == "no-package"
    assert found.reason == "RAPL counts no package here, only psys"


def test_nonsense_is_named(tree: FakePowercap) -> None:
    tree.zone("intel-rapl:0", "package-0")
    (tree.folder("intel-rapl:0") / "energy_uj").unlink()
    (tree.folder("intel-rapl:0") / "energy_uj").mkdir()
    found = find_zones(tree.sys)
    assert (found.zones, found.obstacle) == ((), "unreadable")
    assert "intel-rapl:0 cannot be read" in found.reason


def test_a_counter_that_is_no_number_is_named(tree: FakePowercap) -> None:
    tree.zone("intel-rapl:0", "package-0")
    (tree.folder("intel-rapl:0") / "energy_uj").write_text("much\n")
    assert find_zones(tree.sys).obstacle == "unreadable"


def test_a_part_that_cannot_be_read_is_left_out(tree: FakePowercap) -> None:
    tree.zone("intel-rapl:0", "package-0").zone("intel-rapl:0:0", "core")
    (tree.folder("intel-rapl:0:0") / "energy_uj").write_text("much\n")
    assert reported(find_zones(tree.sys)) == [("package-0", "package", True)]


SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("before", "now", "gained"),
    [
        (100, 100, 0),
        (100, 1_000_100, 1_000_000),
        (RANGE_UJ - 30_000_000, 20_000_000, 50_000_000),  # Wrapped around.
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
    """Growth of a counter between two readings; None for a gap."""
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
def zone_tree(tmp_path: Path) -> FakePowercap:
    made = FakePowercap(tmp_path / "sys")
    for package in (0, 1):
        made.zone(f"intel-rapl:{package}", f"package-{package}", RANGE_UJ - 1_000_000)
        made.zone(f"intel-rapl:{package}:0", "core")
        made.zone(f"intel-rapl:{package}:1", "dram")
    return made.zone("intel-rapl:2", "psys")


def test_the_sum_is_that_of_packages(zone_tree: FakePowercap) -> None:
    meter = EnergyMeter(find_zones(zone_tree.sys))
    assert meter.read(SECOND).package_uj == 0
    zone_tree.set("intel-rapl:0", 4_000_000)  # Wrapped around.: 5 J
    zone_tree.set("intel-rapl:1", RANGE_UJ)  # 1 J
    for entry in ("intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:2"):
        zone_tree.set(entry, 3_000_000)
    reading = meter.read(2 * SECOND)
    assert reading.package_uj == 6_000_000
    assert reading.domains_uj == (5_000_000, 3_000_000, 3_000_000, 1_000_000, 0, 0, 3_000_000)
    assert reading.gaps == 0
    meter.close()


def test_a_package_that_fails_for_once_leaves_no_half_sum(zone_tree: FakePowercap) -> None:
    meter = EnergyMeter(find_zones(zone_tree.sys))
    meter.read(SECOND)
    (zone_tree.folder("intel-rapl:1") / "energy_uj").write_text("")
    failed = meter.read(2 * SECOND)
    assert failed.package_uj is None
    assert failed.domains_uj[0] == 0
    assert failed.domains_uj[3] is None
    zone_tree.set("intel-rapl:1", 1_000_000)
    assert meter.read(3 * SECOND).package_uj == 2_000_000
    meter.close()


def test_a_machine_without_energy_is_read_as_absent(tmp_path: Path) -> None:
    reading = EnergyMeter(find_zones(tmp_path)).read(SECOND)
    assert (reading.package_uj, reading.domains_uj, reading.gaps) == (None, (), 0)


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
