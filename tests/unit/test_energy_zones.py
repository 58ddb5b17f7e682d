"""Which zones are found, which are summed, and what is said if there are none."""

from pathlib import Path

import pytest
from fake_proc import FakePowercap
from tidscope_collector.energy.rapl import Powercap, find_zones


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
