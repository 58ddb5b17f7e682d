"""The list of processes for selection by a person."""

import pwd
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tidscope_wire.generated.models import Process, ProcessContainer

from tidscope_collector.inspection.reader import ask_ports
from tidscope_collector.processes.cgroup_names import (
    CgroupNames,
    ContainerNames,
    cgroup_path,
    names_of_cgroup,
)
from tidscope_collector.processes.details import UNKNOWN, DetailReader, Details
from tidscope_collector.processes.identity import (
    Identity,
    attach_refusal,
    group_and_uid,
    not_permitted,
)
from tidscope_collector.procfs.control_groups import GROUPS, memberships
from tidscope_collector.procfs.cpu_limit import cpu_limits
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import (
    PAGE_BYTES,
    TICKS_PER_SECOND,
    Stat,
    namespace_pid,
    parse_parent,
    parse_stat,
)

_PORTS_SECONDS = 5.0
_SHORTEST_INTERVAL_SECONDS = 0.5  # ticks are too coarse for shares of shorter intervals


@dataclass(frozen=True, slots=True)
class _Usage:
    """Resource usage of all processes at an instant.

    Attributes:
        at: time in seconds.
        ticks: CPU time by (pid, start), in clock ticks.
        waits_ns: run-queue delay of main threads by (pid, start), in nanoseconds; only readable
            ones.
        throttled_us: throttled time by control group path, in microseconds; only groups with a
            limit.
    """

    at: float
    ticks: dict[tuple[int, int], int]
    waits_ns: dict[tuple[int, int], int]
    throttled_us: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Shares:
    """Shares of the time since the previous listing, in percent; None if unknown."""

    cpu: float | None
    wait: float | None
    throttled: float | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Owner, parent and control group of a process.

    Attributes:
        uid: real user ID.
        parent: ID of the parent; None if invisible.
        namespace_pid: ID in the process' own PID namespace; None if it is the namespace of /proc.
        cgroup: path of the control group; None if unreadable.
    """

    uid: int
    parent: int | None
    namespace_pid: int | None
    cgroup: str | None

    @property
    def names(self) -> CgroupNames:
        """Unit and container of the process."""
        return names_of_cgroup(self.cgroup or "/")


def _share(before: int | None, now: int | None, whole: float) -> float | None:
    """Return the growth of a counter, in percent."""
    if before is None or now is None:
        return None
    return round(100 * max(0, now - before) / whole, 1)


class ProcessLister:
    """Lists processes, and keeps what the next listing needs.

    Not thread-safe. Nearly all its time is spent in short system calls, during which other threads
    run.
    """

    def __init__(
        self,
        procfs: ProcFs | None = None,
        clock: Callable[[], float] = time.monotonic,
        containers: ContainerNames | None = None,
        groups: Path = GROUPS,
    ) -> None:
        self._procfs = procfs or ProcFs()
        self._containers = containers or ContainerNames()
        self._clock = clock
        self._groups = groups
        self._details = DetailReader()
        self._users: dict[int, str] = {}
        self._parents: dict[int, int] = {}
        self._before: _Usage | None = None
        self._ports: dict[tuple[int, int], list[int]] = {}
        self._ports_at: float | None = None

    def processes(self) -> list[Process]:
        """Return all visible processes by ascending ID; kernel threads are listed as refused.

        Unreadable values are null. A process that ends during the listing is left out.
        """
        now = self._clock()
        stats, hidden = self._stats()
        self._refresh_ports(now, stats)
        # start_ticks counts on CLOCK_BOOTTIME.
        boot_ms = (time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)) // 1_000_000
        details = self._details.read(
            (stat.pid, stat.start_ticks) for stat in stats.values() if not stat.kernel_thread
        )
        places = [
            (stat, place) for stat in stats.values() if (place := self._place(stat)) is not None
        ]
        usage = self._usage(now, places)
        self._containers.look_for(
            place.names.container for _, place in places if place.names.container is not None
        )
        seen = [
            self._process(
                stat,
                place,
                details.get((stat.pid, stat.start_ticks), UNKNOWN),
                self._shares(stat, place, usage),
                boot_ms,
            )
            for stat, place in places
        ]
        if self._before is None or now - self._before.at >= _SHORTEST_INTERVAL_SECONDS:
            self._before = usage
        seen.extend(self._hidden(pid, uid, boot_ms) for pid, uid in hidden.items())
        return sorted(seen, key=lambda process: process.pid)

    def _stats(self) -> tuple[dict[int, Stat], dict[int, int]]:
        """Return each process' stat, and the owners of those with hidden stats (hidepid=1)."""
        stats: dict[int, Stat] = {}
        hidden: dict[int, int] = {}
        self._parents.clear()
        for pid in self._procfs.pids():
            try:
                line = self._procfs.read(f"{pid}/stat", 4096)
                stats[pid] = parse_stat(line)
                self._parents[pid] = parse_parent(line)
            except PermissionError:
                try:
                    hidden[pid] = (self._procfs.root / str(pid)).stat().st_uid
                except OSError:
                    continue
            except (OSError, ValueError):
                continue
        return stats, hidden

    def _refresh_ports(self, now: float, stats: dict[int, Stat]) -> None:
        if self._ports_at is not None and now - self._ports_at < _PORTS_SECONDS:
            return
        self._ports_at = now
        programs = [
            (stat.pid, stat.start_ticks) for stat in stats.values() if not stat.kernel_thread
        ]
        self._ports = {
            (pid, stats[pid].start_ticks): ports for pid, ports in ask_ports(programs).items()
        }

    def _usage(self, now: float, places: list[tuple[Stat, _Place]]) -> _Usage:
        waits_ns: dict[tuple[int, int], int] = {}
        throttled_us: dict[str, int] = {}
        for stat, place in places:
            if stat.kernel_thread:
                continue
            if (wait_ns := self._wait_ns(stat.pid)) is not None:
                waits_ns[stat.pid, stat.start_ticks] = wait_ns
            if place.cgroup is not None and place.cgroup not in throttled_us:
                limits = cpu_limits(memberships(self._procfs, stat.pid, self._groups))
                if limits:
                    throttled_us[place.cgroup] = max(one.throttled_us for one in limits)
        ticks = {(s.pid, s.start_ticks): s.user_ticks + s.system_ticks for s, _ in places}
        return _Usage(now, ticks, waits_ns, throttled_us)

    def _wait_ns(self, pid: int) -> int | None:
        """Return a main thread's run-queue delay in nanoseconds, the second word of schedstat."""
        try:
            words = self._procfs.read(f"{pid}/schedstat", 256).split()
            return int(words[1])
        except (OSError, ValueError, IndexError):
            return None

    def _shares(self, stat: Stat, place: _Place, usage: _Usage) -> _Shares:
        before = self._before
        if before is None or usage.at <= before.at:
            return _Shares(None, None, None)
        key, seconds = (stat.pid, stat.start_ticks), usage.at - before.at
        group = place.cgroup or ""
        return _Shares(
            _share(before.ticks.get(key), usage.ticks.get(key), TICKS_PER_SECOND * seconds),
            _share(before.waits_ns.get(key), usage.waits_ns.get(key), 1e9 * seconds),
            _share(before.throttled_us.get(group), usage.throttled_us.get(group), 1e6 * seconds),
        )

    def _process(
        self, stat: Stat, place: _Place, details: Details, shares: _Shares, boot_ms: int
    ) -> Process:
        uid = place.uid
        found = place.names
        inner = details.users if details.users is not None and details.users[0] == uid else None
        inside = found.container
        name = stat.name.decode(errors="replace")
        program = None if stat.kernel_thread else stat.pid
        identity = Identity(
            pid=stat.pid,
            group=stat.pid,
            start_ticks=stat.start_ticks,
            name=name,
            uid=uid,
            kernel_thread=stat.kernel_thread,
            ended=stat.ended,
        )
        return Process(
            pid=stat.pid,
            start_ticks=stat.start_ticks,
            started_unix_ms=max(0, boot_ms + stat.start_ticks * 1000 // TICKS_PER_SECOND),
            name=name,
            command=details.command or f"[{name}]",
            executable=details.executable,
            uid=uid,
            user=self._user(uid),
            threads=stat.threads,
            cpu_percent=shares.cpu,
            rss_bytes=program and stat.rss_pages * PAGE_BYTES,
            runtime=details.runtime,
            runtime_version=details.version,
            ports=self._ports.get((stat.pid, stat.start_ticks), []),
            refusal=attach_refusal(stat.pid, identity, None),
            parent=place.parent,
            cgroup=place.cgroup,
            unit=found.unit and found.unit.name,
            container=inside
            and ProcessContainer(
                id=inside.id,
                name=self._containers.of(inside),
                runtime=inside.runtime,
                pod=inside.pod,
                pod_name=self._containers.pod_of(inside),
            ),
            namespace_pid=place.namespace_pid,
            namespace_uid=inner[1] if inner is not None and inner[1] != uid else None,
            namespace_user=None if inner is None or inner[2] == self._user(uid) else inner[2],
            wait_percent=shares.wait,
            throttled_percent=shares.throttled,
        )

    def _hidden(self, pid: int, uid: int, boot_ms: int) -> Process:
        """Return a process of which only the owner is visible."""
        return Process(
            pid=pid,
            start_ticks=0,
            started_unix_ms=max(0, boot_ms),
            name="?",
            command="[?]",
            executable=None,
            uid=uid,
            user=self._user(uid),
            threads=0,
            cpu_percent=None,
            rss_bytes=None,
            runtime="unknown",
            runtime_version=None,
            ports=[],
            refusal=not_permitted(pid),
        )

    def _place(self, stat: Stat) -> _Place | None:
        """Return owner, parent and group of a process, or None if it has ended."""
        parent = self._parents.get(stat.pid) or None
        if stat.kernel_thread:
            return _Place(0, parent, None, None)
        try:
            status = self._procfs.read(f"{stat.pid}/status", 8192)
            _, uid = group_and_uid(status)
        except (OSError, ValueError):
            return None
        return _Place(uid, parent, namespace_pid(status), self._cgroup(stat.pid))

    def _cgroup(self, pid: int) -> str | None:
        try:
            listed = self._procfs.read(f"{pid}/cgroup", 1 << 16)
        except OSError:
            return None
        return cgroup_path(listed.decode(errors="replace"))

    def _user(self, uid: int) -> str:
        if uid not in self._users:
            try:
                self._users[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                self._users[uid] = str(uid)
        return self._users[uid]
