"""Disks and network interfaces of the machine: how busy they are. Not thread-safe.

Sources: Documentation/admin-guide/iostats.rst (/proc/diskstats: milliseconds in which requests were
under way, and these weighted by their number), Documentation/ABI/testing/sysfs-class-net
(statistics, and `speed` in Mbit/s, of the collector's own network namespace).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.procfs.files import ProcFs

MAX_DEVICES = 64
"""Maximum disks and interfaces with rows; further ones have none."""
NO_DISKS = ("loop", "ram", "zram", "fd", "sr")
"""Names of block devices whose queues say nothing of a disk begin so."""
MEGABIT = 125_000
"""Bytes of a megabit."""

Counters = tuple[int, int, int, int]
"""Busy time and queue time in nanoseconds, bytes received and bytes sent."""


def parse_disks(text: str) -> dict[str, Counters]:
    """Return the counters of disks in /proc/diskstats, by name."""
    found: dict[str, Counters] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 14 and not words[2].startswith(NO_DISKS):
            found[words[2]] = int(words[12]) * 1_000_000, int(words[13]) * 1_000_000, 0, 0
    return found


class Devices:
    """Reads counters of disks and network interfaces, since the first reading.

    Args:
        procfs: root of /proc.
        sysfs: root of /sys.
    """

    def __init__(self, procfs: ProcFs, sysfs: Path = Path("/sys")) -> None:
        self._procfs, self._sysfs = procfs, sysfs
        self._numbers: dict[tuple[str, str], int] = {}
        self._first: dict[int, Counters] = {}
        self._rows: dict[int, tuple[int, int, *Counters, str, str]] = {}

    def read(self) -> None:
        """Read all counters."""
        for name, counters in self._disks().items():
            self._note("disk", name, 0, counters)
        for name, speed, counters in self._interfaces():
            self._note("network", name, speed, counters)

    def _note(self, kind: str, name: str, speed: int, now: Counters) -> None:
        if len(self._numbers) >= MAX_DEVICES and (kind, name) not in self._numbers:
            return
        number = self._numbers.setdefault((kind, name), len(self._numbers) + 1)
        first = self._first.setdefault(number, now)
        # Counters of a device that was removed and came back begin at zero.
        busy, queue, received, sent = (max(0, a - b) for a, b in zip(now, first, strict=True))
        self._rows[number] = number, speed, busy, queue, received, sent, kind, name

    def _disks(self) -> dict[str, Counters]:
        """Return whole disks: partitions share their queue."""
        try:
            found = parse_disks(self._procfs.read("diskstats").decode(errors="replace"))
        except (OSError, ValueError):
            return {}
        return {name: each for name, each in found.items() if self._is_whole(name)}

    def _is_whole(self, name: str) -> bool:
        return (self._sysfs / "block" / name.replace("/", "!")).exists()

    def _interfaces(self) -> Iterator[tuple[str, int, Counters]]:
        """Yield interfaces of known speed: name, bytes a second, and counters."""
        try:
            folders = sorted((self._sysfs / "class" / "net").iterdir())
        except OSError:
            return
        for folder in folders[:MAX_DEVICES]:
            try:
                speed = int((folder / "speed").read_text())
                if speed <= 0:
                    continue
                of = folder / "statistics"
                received, sent = (int((of / f"{way}_bytes").read_text()) for way in ("rx", "tx"))
            except (OSError, ValueError):
                continue  # it is down, has no speed, or was removed
            yield folder.name, speed * MEGABIT, (0, 0, received, sent)

    def table(self) -> Table:
        """Return all rows of `devices`."""
        return np.array(list(self._rows.values()), dtype_of("devices"))
