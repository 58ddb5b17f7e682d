"""The newest values of each target and collector, kept for /metrics.

All values come from frame headers, which the frame ingest has parsed, and from small tables (pools,
the processes of a group). Rows of threads are not decoded and no frames are kept. Values are
cumulative, so lost frames and rare scrapes do no harm.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import FrameError
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import (
    CollectorHealth,
    ExitedTotals,
    FrameHeader,
    MachineCounters,
    ProcessGauges,
    RoleTotals,
    Target,
)
from tidscope_wire.states import STATE_FIELDS
from tidscope_wire.table_streams import decode_table, table_parts

from tidscope_backend.metrics.pools import NO_POOLS, PoolTables

STATES = frozenset(STATE_FIELDS)


@dataclass(frozen=True)
class NamedProcesses:
    """Totals of the processes of one name.

    Attributes:
        live: number of live processes.
        threads: number of their live threads.
        ended: number of ended processes.
        totals: sum by table column, including ended processes.
    """

    live: int
    threads: int
    ended: int
    totals: Mapping[str, int]


@dataclass(frozen=True)
class TargetMeter:
    """Meter of one target, as of its newest frame.

    Attributes:
        seen_s: arrival of that frame, by the clock of `Meters`.
        unix_us: time of that frame's sample.
        frames: number of frames, and sums of sampling time and delay after the deadline, in
            microseconds.
        roles: role totals as last reported; empty if never reported.
        processes: totals of a group by process name, as last reported; empty for a single process.
        pools: pools in its newest frames.
    """

    seen_s: float
    unix_us: int
    threads: int
    process: ProcessGauges
    health: CollectorHealth
    exited: ExitedTotals
    machine: MachineCounters
    roles: tuple[RoleTotals, ...] = ()
    processes: Mapping[str, NamedProcesses] = field(default_factory=dict)
    frames: int = 0
    sample_us: int = 0
    late_us: int = 0
    pools: PoolTables = NO_POOLS


Metered = tuple[Target, TargetMeter]


@dataclass(frozen=True)
class HostMeter:
    """Meter of one collector process, from the frames of all its targets.

    Attributes:
        pid: process ID of the collector; a new collector counts from zero.
        unix_us: time of the newest sample.
        exit_records_received: maximum seen so far. Frames of several targets are replayed target by
            target, so the newest frame may be old.
    """

    pid: int
    unix_us: int = 0
    exit_records_received: int = 0
    exit_records_lost: int = 0
    cpu_percent: float | None = None
    overhead_percent: float | None = None
    budget_percent: float = 0.0
    replay_bytes: int = 0
    unsent_frames: int = 0


def _without_falls(
    before: Sequence[RoleTotals], roles: Sequence[RoleTotals]
) -> tuple[RoleTotals, ...]:
    """Return totals whose times in states never decrease.

    Times in states may decrease by microseconds when the kernel's count replaces the ledger's.
    Prometheus would treat a decrease as a restart and count the total again.
    """
    known = {role.role: role.totals for role in before}
    return tuple(
        role.model_copy(
            update={
                "totals": {
                    name: max(value, known[role.role].get(name, 0)) if name in STATES else value
                    for name, value in role.totals.items()
                }
            }
        )
        if role.role in known
        else role
        for role in roles
    )


Figures = npt.NDArray[np.int64]
"""int64[1 + counters + gauges]: ended processes, followed by those columns."""
MAX_NAMED_PROCESSES = 63
"""Maximum names with separate sums, in order of appearance; further names share one sum."""
OTHER = "other"
COUNTERS = (
    "threads_ended",
    "cpu_ns",
    "run_delay_ns",
    "blkio_delay_ns",
    "read_bytes",
    "write_bytes",
    "rx_bytes",
    "tx_bytes",
    "minor_faults",
    "major_faults",
    "switches",
)
"""Columns of the table `processes` that never decrease."""
GAUGES = ("live", "threads")


@dataclass
class ProcessNames:
    """Sums over the processes of one group by name, updated from table rows."""

    _rows: dict[int, tuple[str, Figures]] = field(default_factory=dict)
    """Name and figures of each row, by row number."""
    _sums: dict[str, Figures] = field(default_factory=dict)
    _reported: dict[str, Figures] = field(default_factory=dict)

    def update(self, table: Table, *, whole: bool) -> None:
        """Apply changed rows.

        Args:
            table: rows of the table `processes`.
            whole: whether the table contains all current rows.
        """
        numbers = table["process"].tolist()
        live = table["live"].astype(np.int64)
        ended = np.where(live == 0, table["count"].astype(np.int64), 0)
        columns = [ended, *(table[column].astype(np.int64) for column in (*COUNTERS, *GAUGES))]
        figures = np.stack(columns, axis=1)
        gone = set(self._rows).difference(numbers) if whole else set[int]()
        gone.update(table["process"][table["count"] == 0].tolist())
        # The figures of a removed row are from then on in the row of its name.
        for number in gone:
            name, before = self._rows.pop(number, ("", None))
            if before is not None:
                self._sums[name] -= before
        for number, name, row in zip(numbers, table["name"].tolist(), figures, strict=True):
            if number not in gone:
                self._set(number, self._label(name), row)
        for name, sums in self._sums.items():
            self._reported[name] = self._not_below(name, sums)

    def by_name(self) -> dict[str, NamedProcesses]:
        """Return sums by name; names beyond the bound are summed under `OTHER`."""
        return {
            name: NamedProcesses(
                live=int(sums[-2]),
                threads=int(sums[-1]),
                ended=int(sums[0]),
                totals=dict(zip(COUNTERS, sums[1 : 1 + len(COUNTERS)].tolist(), strict=True)),
            )
            for name, sums in self._reported.items()
        }

    def _set(self, number: int, name: str, row: Figures) -> None:
        known = self._rows.get(number)
        self._rows[number] = name, row
        sums = self._sums[name]
        if known is None:
            sums += row
            return
        named, before = known
        sums += row - before
        if named != name:
            # Only gauges move with the process.
            moved = before[-len(GAUGES) :]
            self._sums[named][-len(GAUGES) :] -= moved
            sums[-len(GAUGES) :] += moved

    def _label(self, name: str) -> str:
        named = len(self._sums) - (OTHER in self._sums)
        label = name if name in self._sums or named < MAX_NAMED_PROCESSES else OTHER
        if label not in self._sums:
            self._sums[label] = np.zeros(1 + len(COUNTERS) + len(GAUGES), np.int64)
        return label

    def _not_below(self, name: str, sums: Figures) -> Figures:
        """Return counters, but at least their reported values.

        Counters fall if ended processes have more names than a frame holds: some names are then
        merged into the rest.
        """
        before = self._reported.get(name)
        made = sums.copy()
        if before is not None:
            counters = slice(0, 1 + len(COUNTERS))
            made[counters] = np.maximum(made[counters], before[counters])
        return made


@dataclass
class Meters:
    """Meters of targets and hosts, updated from frame headers.

    Args:
        clock: seconds, monotonic.
        collector_pid: returns the process ID of a host's collector, or None for an unknown host.
    """

    clock: Callable[[], float]
    collector_pid: Callable[[str], int | None]
    targets: dict[str, TargetMeter] = field(default_factory=dict)
    hosts: dict[str, HostMeter] = field(default_factory=dict)
    _names: dict[str, ProcessNames] = field(default_factory=dict)

    def observe(self, host_id: str, header: FrameHeader, body: bytes | memoryview = b"") -> None:
        """Process a new frame; frames of one target must arrive in order.

        Args:
            host_id: host of the target.
            header: header of the frame.
            body: bytes after the header.
        """
        health = header.health
        before = self.targets.get(header.target)
        roles = before.roles if before else ()
        pools = before.pools if before else NO_POOLS
        # Decoders report damaged tables; values read before the damage stay valid.
        with suppress(FrameError):
            pools = pools.after(header, body)
        self.targets[header.target] = TargetMeter(
            seen_s=self.clock(),
            unix_us=header.unix_us,
            threads=header.live_threads,
            process=header.process,
            health=health,
            exited=header.exited,
            machine=header.machine,
            roles=roles if header.roles is None else _without_falls(roles, header.roles),
            processes=self._processes(header, body, before),
            frames=(before.frames if before else 0) + 1,
            sample_us=(before.sample_us if before else 0) + health.sample_us,
            late_us=(before.late_us if before else 0) + health.late_us,
            pools=pools,
        )
        self._observe_host(host_id, header.unix_us, health)

    def forget(self, target_id: str) -> None:
        """Remove a target that the registry has forgotten."""
        self.targets.pop(target_id, None)
        self._names.pop(target_id, None)

    def _processes(
        self, header: FrameHeader, body: bytes | memoryview, before: TargetMeter | None
    ) -> Mapping[str, NamedProcesses]:
        if any(described.name == "processes" for described in header.tables or ()):
            names = self._names.setdefault(header.target, ProcessNames())
            for described, data in table_parts(header, body):
                if described.name == "processes":
                    try:
                        table = decode_table("processes", data)
                    except FrameError:
                        # The frame's decoder reports the error; the next key frame has all rows.
                        continue
                    names.update(table, whole=header.kind == "key")
            return names.by_name()
        return before.processes if before else {}

    def _observe_host(self, host_id: str, unix_us: int, health: CollectorHealth) -> None:
        pid = self.collector_pid(host_id)
        if pid is None:
            return
        meter = self.hosts.get(host_id)
        if meter is None or meter.pid != pid:
            meter = HostMeter(pid)
        meter = replace(
            meter,
            exit_records_received=max(meter.exit_records_received, health.exit_records_received),
            exit_records_lost=max(meter.exit_records_lost, health.exit_records_lost),
        )
        if unix_us >= meter.unix_us:
            meter = replace(
                meter,
                unix_us=unix_us,
                cpu_percent=health.cpu_percent,
                overhead_percent=health.overhead_percent,
                budget_percent=health.budget_percent,
                replay_bytes=health.replay_bytes,
                unsent_frames=health.unsent_frames,
            )
        self.hosts[host_id] = meter
