"""Memory and disk limits of a process' control groups, and how often they are reached.

Sources: the kernel's admin-guide/cgroup-v2.rst (memory.max, memory.high, memory.events, io.max,
io.stat) and, for version 1, admin-guide/cgroup-v1/memory.rst (memory.limit_in_bytes,
memory.failcnt) and blkio-controller.rst (blkio.throttle.*).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tidscope_collector.procfs.control_groups import ControlGroup, Memberships

NO_LIMIT = 1 << 60
"""Version 1 has a number for no limit: the greatest multiple of the page size."""
USED_UP = 0.9
"""Share of a disk limit from which it counts as used up: its I/O rarely fills a second exactly."""


class Limits(NamedTuple):
    """Current limits; None without one. Counts are since the first reading.

    Attributes:
        memory_bytes: smallest memory limit.
        memory_hits: how often memory had to be reclaimed, or a process to wait, at a limit.
        disk_bytes: bytes a second of the disk limit that is nearest to being used up.
        disk_ios: operations a second of this limit, if it is one of operations.
        reads_limited_us, writes_limited_us: time in which a limit of reads, or of writes, was used
            up, in microseconds.
    """

    memory_bytes: int | None = None
    memory_hits: int | None = None
    disk_bytes: int | None = None
    disk_ios: int | None = None
    reads_limited_us: int | None = None
    writes_limited_us: int | None = None


NO_LIMITS = Limits()


class LimitsMeter:
    """Reads the limits of one process."""

    def __init__(self) -> None:
        self._hits: dict[Path, int] = {}
        self._done: dict[_Key, int] = {}
        self._read_ns = 0
        self._memory_hits = 0
        self._limited_ns = {"r": 0, "w": 0}

    def read(self, member: Memberships, now_ns: int) -> Limits:
        """Read limits and counts.

        Args:
            member: current groups of the process.
            now_ns: CLOCK_MONOTONIC.
        """
        memory_bytes = self._read_memory(member)
        disk = self._read_disk(member, now_ns)
        self._read_ns = now_ns
        return Limits(
            memory_bytes,
            None if memory_bytes is None else self._memory_hits,
            disk.limit if disk is not None and disk.unit == "bps" else None,
            disk.limit if disk is not None and disk.unit == "iops" else None,
            None if disk is None else self._limited_ns["r"] // 1000,
            None if disk is None else self._limited_ns["w"] // 1000,
        )

    def _read_memory(self, member: Memberships) -> int | None:
        """Return the smallest limit, and count what was reached of any."""
        smallest: int | None = None
        hits: dict[Path, int] = {}
        for group in member.of("memory"):
            limit = _memory_limit(group)
            if limit is None:
                continue
            smallest = limit if smallest is None else min(smallest, limit)
            hits[group.folder] = _memory_hits(group)
        # In version 2 a group also counts when groups below it reach their limits, so the counts of
        # a chain are not added.
        grown = [count - self._hits.get(folder, count) for folder, count in hits.items()]
        self._memory_hits += max([0, *grown])
        self._hits = hits
        return smallest

    def _read_disk(self, member: Memberships, now_ns: int) -> "_DiskLimit | None":
        """Return the limit nearest to being used up, and count the time in which some are."""
        elapsed_ns = now_ns - self._read_ns
        most: tuple[float, _DiskLimit] | None = None
        done: dict[_Key, int] = {}
        used_up: set[str] = set()
        for group in member.of("blkio"):
            for one in _disk_limits(group):
                key = group.folder, one.device, one.way, one.unit
                done[key] = one.done
                grown = one.done - self._done.get(key, one.done)
                share = grown * 1e9 / elapsed_ns / one.limit
                if share >= USED_UP:
                    used_up.add(one.way)
                if most is None or share > most[0]:
                    most = share, one
        self._done = done
        for way in used_up:
            self._limited_ns[way] += elapsed_ns
        return None if most is None else most[1]


_Key = tuple[Path, str, str, str]
"""Folder of a group, device, way and unit of a limit."""


class _DiskLimit(NamedTuple):
    """A limit of a device, a second.

    Attributes:
        device: its numbers, such as `8:0`.
        way: `r` or `w`.
        unit: `bps` or `iops`.
        limit: bytes or operations.
        done: bytes or operations up to now.
    """

    device: str
    way: str
    unit: str
    limit: int
    done: int


def _memory_limit(group: ControlGroup) -> int | None:
    names = ("memory.limit_in_bytes",) if group.version == 1 else ("memory.max", "memory.high")
    found = [number for name in names if (number := group.number(name)) is not None]
    return min((number for number in found if number < NO_LIMIT), default=None)


def _memory_hits(group: ControlGroup) -> int:
    if group.version == 1:
        return group.number("memory.failcnt") or 0
    events = group.counts("memory.events")
    return events.get("high", 0) + events.get("max", 0)


def _disk_limits(group: ControlGroup) -> Iterator[_DiskLimit]:
    return _disk_limits_2(group) if group.version == 2 else _disk_limits_1(group)


def _disk_limits_2(group: ControlGroup) -> Iterator[_DiskLimit]:
    limits = _named(group.read("io.max"))
    stats = _named(group.read("io.stat")) if limits else {}
    for device, limited in limits.items():
        for way, unit, counted in (
            *(("r", "bps", "rbytes"), ("w", "bps", "wbytes")),
            *(("r", "iops", "rios"), ("w", "iops", "wios")),
        ):
            limit = limited.get(f"{way}{unit}")
            if limit:
                done = stats.get(device, {}).get(counted, 0)
                yield _DiskLimit(device, way, unit, limit, done)


def _disk_limits_1(group: ControlGroup) -> Iterator[_DiskLimit]:
    for unit, counted in (("bps", "io_service_bytes"), ("iops", "io_serviced")):
        for way in ("read", "write"):
            limits = group.counts(f"blkio.throttle.{way}_{unit}_device")
            # The count of a group alone lacks the groups below it, which share its limit.
            stats = group.counts(f"blkio.throttle.{counted}_recursive") if limits else {}
            for device, limit in limits.items():
                if limit:
                    done = stats.get(f"{device} {way.title()}", 0)
                    yield _DiskLimit(device, way[0], unit, limit, done)


def _named(text: str) -> dict[str, dict[str, int]]:
    """Return what lines such as `8:0 rbps=1048576 wbps=max` say of each device."""
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        device, *pairs = line.split()
        split = (pair.partition("=") for pair in pairs)
        found[device] = {name: int(value) for name, _, value in split if value.isdecimal()}
    return found
