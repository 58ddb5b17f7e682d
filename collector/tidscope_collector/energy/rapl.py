"""RAPL energy counters in /sys/class/powercap: their zones, readings, and totals.

A zone is a folder with `name`, `energy_uj` and `max_energy_range_uj`
(Documentation/power/powercap/powercap.rst). The tree intel-rapl has packages at its first level and
their parts (core, uncore, dram) below; AMD processors use it too. A platform zone (psys) is a
sibling that includes the packages. intel-rapl-mmio shows the same package counters by another
interface.
"""

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from tidscope_wire.generated.models import EnergyDomain, EnergyKind, EnergySource
from tidscope_wire.rates import increases

SYS = Path("/sys")
_ZONE = re.compile(r"intel-rapl[a-z-]*(?::\d+)+")
_MAIN = "intel-rapl"
_PARTS: dict[str, EnergyKind] = {"core": "core", "uncore": "uncore", "dram": "dram"}

Obstacle = Literal["", "absent", "hidden", "denied", "unreadable", "no-package"]
"""Reason why package energy is unavailable.

absent: no zones. hidden: zones are masked, as container runtimes do. denied: not permitted.
unreadable: another error. no-package: no zone is a package.
"""
MAX_WATTS = 4_000
"""Upper bound of a zone's power, in watts; no package exceeds it.

A counter that fell has either wrapped or was reset by a driver reload or a suspend. An increase
above this bound means a reset.
"""


@dataclass(frozen=True, slots=True)
class Zone:
    """An energy domain and its counter.

    Attributes:
        domain: description on the wire.
        path: path of energy_uj.
        range_uj: value at which the counter wraps, in microjoules.
    """

    domain: EnergyDomain
    path: Path
    range_uj: int


@dataclass(frozen=True, slots=True)
class Powercap:
    """The energy zones of a machine.

    Attributes:
        zones: readable zones; without a readable package there may still be others.
        obstacle: why package energy is unavailable; "" if it is available.
        reason: human-readable description of the zones or the obstacle.
    """

    zones: tuple[Zone, ...]
    obstacle: Obstacle
    reason: str

    def describe(self) -> EnergySource:
        """Return the description on the wire."""
        return EnergySource(domains=[zone.domain for zone in self.zones], reason=self.reason)


NOT_LOOKED_FOR = Powercap((), "absent", "energy counters were not searched for")


def find_zones(sys: Path = SYS) -> Powercap:
    """Find the energy zones.

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
                continue  # a part; its package is usable without it
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
    """Sort the tree intel-rapl first; other trees repeat its packages."""
    tree, _, indexes = name.partition(":")
    return tree != _MAIN, tree, [int(index) for index in indexes.split(":")]


def _zone(folder: Path, entry: str, packages: set[str]) -> Zone:
    """Read the description of a zone, and check that its energy is readable.

    Raises:
        OSError: the zone is unreadable.
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


@dataclass(slots=True)
class Counter:
    """A total that only grows, from a counter that wraps.

    Attributes:
        range_uj: max_energy_range_uj of the zone.
        total_uj: known energy since the first reading, in microjoules.
        gaps: number of intervals with unknown energy.
    """

    range_uj: int
    total_uj: int = 0
    gaps: int = 0
    _last_uj: int | None = None
    _last_ns: int = 0

    def advance(self, value_uj: int, now_ns: int) -> None:
        """Add a reading taken at a time on a monotonic clock."""
        if self._last_uj is not None and now_ns > self._last_ns:
            # The counter is a scaled 32-bit register. It wraps one unit (about 61 µJ) above
            # `range_uj`; the error is accepted.
            gained = increases(
                np.array([self._last_ns, now_ns]),
                np.array([self._last_uj, value_uj], np.float64),
                wraps_at=self.range_uj,
                max_per_s=MAX_WATTS * 1e6,
            )[1]
            if np.isnan(gained):
                self.gaps += 1
            else:
                self.total_uj += int(gained)
        self._last_uj, self._last_ns = value_uj, now_ns


@dataclass(frozen=True, slots=True)
class EnergyReading:
    """Totals since the meter's first reading.

    Attributes:
        package_uj: sum over packages in microjoules; None if one is unreadable or there is none.
        domains_uj: energy of each domain in microjoules; None if unreadable.
        gaps: number of intervals with unknown energy, over all domains.
    """

    package_uj: int | None
    domains_uj: tuple[int | None, ...]
    gaps: int


class EnergyMeter:
    """Reads all counters, whose files it keeps open. A machine may have none.

    Args:
        powercap: zones to read.
    """

    def __init__(self, powercap: Powercap) -> None:
        self._domains: list[tuple[Zone, Counter, int | None]] = []
        for zone in powercap.zones:
            try:
                file = os.open(zone.path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                file = None
            self._domains.append((zone, Counter(zone.range_uj), file))

    def close(self) -> None:
        """Close the files."""
        for _, _, file in self._domains:
            if file is not None:
                os.close(file)
        self._domains.clear()

    def read(self, now_ns: int) -> EnergyReading:
        """Read all counters."""
        domains = tuple(_advanced(counter, file, now_ns) for _, counter, file in self._domains)
        packages = [
            value
            for (zone, _, _), value in zip(self._domains, domains, strict=True)
            if zone.domain.summed
        ]
        known = [value for value in packages if value is not None]
        return EnergyReading(
            package_uj=sum(known) if known and len(known) == len(packages) else None,
            domains_uj=domains,
            gaps=sum(counter.gaps for _, counter, _ in self._domains),
        )


def _advanced(counter: Counter, file: int | None, now_ns: int) -> int | None:
    if file is None:
        return None
    try:
        # A file of /sys is regenerated only when it is read from offset 0.
        value = int(os.pread(file, 64, 0))
    except (OSError, ValueError):
        return None
    counter.advance(value, now_ns)
    return counter.total_uj
