"""Reads the energy counters of a machine."""

import os
from dataclasses import dataclass

from tidscope_collector.energy.counter import Counter
from tidscope_collector.energy.zones import Powercap, Zone


@dataclass(frozen=True, slots=True)
class EnergyReading:
    """Totals since the meter's first reading.

    Attributes:
        package_uj: sum over packages; None if one of them could not be read, or there is none.
        domains_uj: each domain, None if it could not be read.
        gaps: times that energy of a domain is not known.
    """

    package_uj: int | None
    domains_uj: tuple[int | None, ...]
    gaps: int


class EnergyMeter:
    """Holds the counters' files open; a machine without any is read as absent.

    Args:
        powercap: what there is to read.
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
        # A file of /sys is rebuilt when it is read from its start.
        value = int(os.pread(file, 64, 0))
    except (OSError, ValueError):
        return None
    counter.advance(value, now_ns)
    return counter.total_uj
