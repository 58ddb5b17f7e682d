"""Which zones of /sys/class/powercap count energy here, and if none does, why.

A zone is a folder with `name`, `energy_uj` and `max_energy_range_uj`
(Documentation/power/powercap/powercap.rst). The tree of intel-rapl has packages at its first level
and their parts (core, uncore, dram) below; it serves AMD's processors too. A platform (psys) stands
beside the packages and contains them. intel-rapl-mmio shows a package a second time, by another
way to the same counter.
"""

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tidscope_wire.generated.models import EnergyDomain, EnergyKind, EnergySource

SYS = Path("/sys")
_ZONE = re.compile(r"intel-rapl[a-z-]*(?::\d+)+")
_MAIN = "intel-rapl"
_PARTS: dict[str, EnergyKind] = {"core": "core", "uncore": "uncore", "dram": "dram"}

Obstacle = Literal["", "absent", "hidden", "denied", "unreadable", "no-package"]
"""Why there is no energy of packages.

absent: no zones. hidden: there are links to zones, and the zones are masked, as container runtimes
do. denied: not permitted. unreadable: another error. no-package: zones, but none of a package.
"""


@dataclass(frozen=True, slots=True)
class Zone:
    """A domain, and how to read it.

    Attributes:
        domain: as the wire tells it.
        path: its energy_uj.
        range_uj: where the counter starts again, microjoules.
    """

    domain: EnergyDomain
    path: Path
    range_uj: int


@dataclass(frozen=True, slots=True)
class Powercap:
    """What a machine has.

    Attributes:
        zones: those that can be read; without readable packages there may be others.
        obstacle: why there is no energy of packages; "" if there is.
        reason: the same in words.
    """

    zones: tuple[Zone, ...]
    obstacle: Obstacle
    reason: str

    def describe(self) -> EnergySource:
        """As the wire tells it."""
        return EnergySource(domains=[zone.domain for zone in self.zones], reason=self.reason)


NOT_LOOKED_FOR = Powercap((), "absent", "energy counters were not searched for")


def find_zones(sys: Path = SYS) -> Powercap:
    """Look for zones.

    Args:
        sys: root of /sys.
    """
    folder = sys / "class/powercap"
    try:
        names = sorted(filter(_ZONE.fullmatch, os.listdir(folder)), key=_order)
    except OSError:
        names = []
    if not names:
        reason = "there is no RAPL in /sys/class/powercap (most virtual machines have none)"
        return Powercap((), "absent", reason)
    zones: list[Zone] = []
    packages: set[str] = set()
    for name in names:
        try:
            zone = _zone(folder, name, packages)
        except FileNotFoundError:
            continue
        except OSError as error:
            if ":" in name.partition(":")[2]:
                continue  # a part: the package is known without it
            return _unreadable(name, error)
        zones.append(zone)
        if zone.domain.summed:
            packages.add(zone.domain.name)
    if packages:
        return Powercap(tuple(zones), "", f"RAPL, sum of {', '.join(sorted(packages))}")
    if zones:
        reported = ", ".join(zone.domain.name for zone in zones)
        return Powercap(tuple(zones), "no-package", f"RAPL counts no package here, only {reported}")
    return Powercap(
        (), "hidden", "the zones in /sys/class/powercap are masked, as container runtimes do"
    )


def _unreadable(name: str, error: OSError) -> Powercap:
    if error.errno in (errno.EACCES, errno.EPERM):
        reason = f"reading energy_uj of {name} is not permitted: the kernel lets only root read it"
        return Powercap((), "denied", reason)
    return Powercap((), "unreadable", f"{name} cannot be read: {error.strerror}")


def _order(name: str) -> tuple[bool, str, list[int]]:
    """The tree intel-rapl first: others show its packages a second time."""
    tree, _, indexes = name.partition(":")
    return tree != _MAIN, tree, [int(index) for index in indexes.split(":")]


def _zone(folder: Path, entry: str, packages: set[str]) -> Zone:
    """Read what a zone is, and see that its energy can be read.

    Raises:
        OSError: it cannot.
    """
    own = _text(folder / entry / "name")
    range_uj = _number(folder / entry / "max_energy_range_uj")
    energy = folder / entry / "energy_uj"
    _number(energy)
    above, _, _ = entry.rpartition(":")
    if ":" in above:
        kind: EnergyKind = _PARTS.get(own, "other")
        name = f"{_text(folder / above / 'name')}/{own}"
    else:
        kind = "package" if own.startswith("package") else "psys" if own == "psys" else "other"
        name = own
    summed = kind == "package" and name not in packages
    return Zone(EnergyDomain(zone=entry, name=name, kind=kind, summed=summed), energy, range_uj)


def _text(path: Path) -> str:
    return path.read_text(errors="replace").strip()


def _number(path: Path) -> int:
    try:
        return int(_text(path))
    except ValueError as error:
        raise OSError(errno.EINVAL, f"{path.name} is not a number") from error
