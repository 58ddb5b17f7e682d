"""A made-up program, or group of processes, that exists in its frames only.

The project's own encoder makes the frames, of any number of threads and faster than any clock.
"""

import time

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import RowEncoder, Rows, join
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    CollectorHealth,
    CollectorInfo,
    EnergySource,
    ExitedTotals,
    FrameHeader,
    Group,
    GroupCounts,
    Host,
    MachineCounters,
    Process,
    ProcessGauges,
    RoleTotals,
    Source,
    Target,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
)
from tidscope_wire.role import role_of
from tidscope_wire.table_streams import encode_tables

NAMES = ("postgres", "nginx", "java", "python3")


class MadeGroup:
    """Threads spread evenly over processes.

    Args:
        tids: thread IDs of all threads; the first of each process gives its id.
        processes: number of processes; at most the number of threads.
    """

    def __init__(self, tids: npt.NDArray[np.uint32], processes: int) -> None:
        self._process = np.arange(len(tids)) * processes // len(tids)
        self._first = np.searchsorted(self._process, np.arange(processes))
        self._pids = tids[self._first]
        self.pid: npt.NDArray[np.uint32] = self._pids[self._process]
        self.counts = GroupCounts(live=processes, started=processes, ended=0, unseen=0, missed=0)

    def name(self, names: list[str]) -> None:
        """Name main threads after their processes."""
        for place, slot in enumerate(self._first.tolist()):
            names[slot] = NAMES[place % len(NAMES)]

    def target(self, target: Target) -> Target:
        """The target as a group."""
        group = Group(
            kind="cgroup",
            value="/made-up",
            name="/made-up",
            cgroup="/made-up",
            discovery="ebpf",
            discovery_reason="a made-up program",
        )
        process = target.process.model_copy(update={"pid": int(self._pids[0]), "name": NAMES[0]})
        return target.model_copy(update={"group": group, "process": process})

    def table(self, cpu_ns: npt.NDArray[np.uint64]) -> Table:
        """The table of processes, by the CPU time of all threads."""
        count = len(self._pids)
        table = np.zeros(count, dtype_of("processes"))
        for column in ("title", "container", "unit"):
            table[column] = ""
        table["process"] = np.arange(1, count + 1)
        table["pid"], table["start_ticks"] = self._pids, 1000
        table["count"] = table["live"] = 1
        table["threads"] = np.bincount(self._process)
        table["cpu_ns"] = np.add.reduceat(cpu_ns, self._first)
        table["name"] = [NAMES[place % len(NAMES)] for place in range(count)]
        table["user"] = "root"
        return table


FIELDS = tuple(
    field.name for field in CATALOGUE.fields if field.kind == "counter" and field.scope == "thread"
)
ROLES = ("hash-worker", "net-client", "disk-writer", "reader", "sleeper")
KEY_SECONDS = 10
GAUGES = ("state", "state_since_ns")
_STATES = tuple(field for field in FIELDS if field.startswith("state_"))
_WAITS = ("futex", "socket_receive", "file_write_disk", "poll", "sleep")
"""State in which threads of each role wait, in the order of `ROLES`."""
_STAY_NS = 5_000_000
"""Maximum age of the current stay of a thread that moved."""
_GROWTH = {
    "cpu_run_ns": 4_000_000,
    "cpu_delay_ns": 1_000_000,
    "user_cpu_us": 3_000,
    "system_cpu_us": 1_000,
    "read_char_bytes": 65_536,
    "write_char_bytes": 65_536,
    "net_read_bytes": 20_000,
    "net_write_bytes": 20_000,
    "blkio_delay_ns": 500_000,
    "cpu_count": 30,
    "voluntary_switches": 20,
    "involuntary_switches": 10,
}
"""Mean growth of a moving thread in a tenth of a second; the other fields stand still."""


class MadeProgram:
    """A program that exists in its frames only; the same seed gives the same frames.

    Args:
        threads: number of threads alive at any time.
        rate_hz: frames a second of its own time.
        moving: share of the threads whose counters move between two frames.
        churn_s: interval at which one thread ends and another starts, in its own time; None: never.
        unix_us: wall clock of its attach; now, if not given.
        seed: seed of the movements and the process ID.
        processes: over which they are spread evenly, as a group; 0: they are one process.
    """

    def __init__(
        self,
        threads: int,
        rate_hz: float = 10,
        moving: float = 0.5,
        churn_s: float | None = None,
        unix_us: int | None = None,
        seed: int = 1,
        processes: int = 0,
    ) -> None:
        self._rate_hz, self._moving = rate_hz, moving
        self._churn = None if churn_s is None else max(1, round(churn_s * rate_hz))
        self._unix_us = time.time_ns() // 1000 if unix_us is None else unix_us
        self._random = np.random.default_rng(seed)
        self._tid = np.arange(1000, 1000 + threads, dtype=np.uint32)
        self._start_ns = np.full(threads, -1_000_000_000, np.int64)
        self._name = [_name(n) for n in range(threads)]
        self._group = MadeGroup(self._tid, processes) if processes else None
        self._values = np.zeros((len(FIELDS), threads), np.uint64)
        growth = np.array([_GROWTH.get(field, 0) for field in FIELDS], np.float64)
        self._growth = growth * (10 / rate_hz)
        self._waits = np.array(
            [_STATES.index(f"state_{_WAITS[n % len(ROLES)]}_ns") for n in range(threads)]
        )
        self._state = (self._waits + 1).astype(np.uint64)
        self._since_ns = np.zeros(threads, np.uint64)
        self._encoder = RowEncoder(FIELDS + GAUGES)
        self._exited = dict[str, int]()
        self._exited_of = dict[str, dict[str, int]]()
        self._exits_of = dict[str, int]()
        self._exits = 0
        self.seq = 0
        self.host = _host()
        self.target = _target(self.host, seed, threads, rate_hz, self._unix_us)
        if self._group is not None:
            self._group.name(self._name)
            self.target = self._group.target(self.target)

    @property
    def time_ns(self) -> int:
        """Time of the last frame since attach, in nanoseconds."""
        return round(self.seq * 1e9 / self._rate_hz)

    def counter(self, field: str) -> npt.NDArray[np.uint64]:
        """A field of all threads as of the last frame."""
        values: npt.NDArray[np.uint64] = self._values[FIELDS.index(field)].copy()
        return values

    def next_frame(self) -> bytes:
        """The next frame."""
        self.seq += 1
        key = (self.seq - 1) % max(1, round(KEY_SECONDS * self._rate_hz)) == 0
        moved = np.flatnonzero(self._random.random(len(self._tid)) < self._moving)
        shares = self._random.gamma(2.0, 0.5, len(moved))
        self._values[:, moved] += np.outer(self._growth, shares).astype(np.uint64)
        self._write_ledgers(moved)
        events: list[TargetEvent] = []
        if self._churn is not None and self.seq % self._churn == 0:
            slot = int(self._random.integers(len(self._tid)))
            events += self._replace(slot)
            moved = np.union1d(moved, [slot])
        at = np.arange(len(self._tid)) if key else moved
        body = self._encoder.encode(
            Rows(
                tid=self._tid[at],
                columns={field: self._values[n, at] for n, field in enumerate(FIELDS)}
                | {"state": self._state[at], "state_since_ns": self._since_ns[at]},
                absent={},
                start_ns=self._start_ns[at] if key else None,
                name=[self._name[slot] for slot in at] if key else None,
                pid=self._group.pid[at] if key and self._group is not None else None,
            )
        )
        header = self._header("key" if key else "delta", len(at), events)
        if self._group is None:
            return join(header, body)
        update: dict[str, object] = {"group": self._group.counts}
        tables = b""
        if key or self.seq % max(1, round(self._rate_hz)) == 0:
            table = self._group.table(self._values[FIELDS.index("cpu_run_ns")])
            described, tables = encode_tables({"processes": table}, read_ns=self.time_ns)
            update["tables"] = described
        return join(header.model_copy(update=update), body, tables)

    def _write_ledgers(self, moved: npt.NDArray[np.intp]) -> None:
        """Threads that moved ran and were queued as their counters say; else they waited."""
        ends = np.maximum(
            self._since_ns[moved],
            np.uint64(self.time_ns)
            - self._random.integers(0, _STAY_NS, len(moved)).astype(np.uint64),
        )
        left = ends - self._since_ns[moved]
        for state, field in (("on_cpu", "cpu_run_ns"), ("woken", "cpu_delay_ns")):
            column = FIELDS.index(f"state_{state}_ns")
            grown = np.minimum(
                left, self._values[FIELDS.index(field), moved] - self._values[column, moved]
            )
            self._values[column, moved] += grown
            left -= grown
        self._values[FIELDS.index(_STATES[0]) + self._waits[moved], moved] += left
        self._since_ns[moved] = ends

    def _replace(self, slot: int) -> list[TargetEvent]:
        """End a thread and start another one in its place."""
        self._values[FIELDS.index(_STATES[0]) + self._waits[slot], slot] += np.uint64(
            self.time_ns - int(self._since_ns[slot])
        )
        totals = {field: int(self._values[n, slot]) for n, field in enumerate(FIELDS)}
        name = self._name[slot]
        ended = ThreadExited(
            tid=int(self._tid[slot]),
            start_ns=int(self._start_ns[slot]),
            name=name,
            totals=totals,
            exact=True,
            seen_alive=True,
            lifetime_ns=self.time_ns - int(self._start_ns[slot]),
        )
        role = role_of(name)
        self._exits += 1
        self._exits_of[role] = self._exits_of.get(role, 0) + 1
        of_role = self._exited_of.setdefault(role, {})
        for field, value in totals.items():
            self._exited[field] = self._exited.get(field, 0) + value
            of_role[field] = of_role.get(field, 0) + value
        self._tid[slot] = 1000 + len(self._tid) + self._exits
        self._start_ns[slot] = self.time_ns
        self._values[:, slot] = 0
        self._since_ns[slot] = self.time_ns
        born = ThreadBorn(tid=int(self._tid[slot]), start_ns=self.time_ns, name=name)
        return [ended, born]

    def _header(self, kind: str, rows: int, events: list[TargetEvent]) -> FrameHeader:
        second = kind == "key" or self.seq % max(1, round(self._rate_hz)) == 0
        second_ns = self.time_ns // 1_000_000_000 * 1_000_000_000  # Read once a second.
        return FrameHeader.model_validate(
            {
                "target": self.target.id,
                "seq": self.seq,
                "first_seq": self.seq,
                "kind": kind,
                "baseline": self.seq == 1,
                "rows": rows,
                "time_ns": self.time_ns,
                "unix_us": self._unix_us + self.time_ns // 1000,
                "live_threads": len(self._tid),
                "threads_born": self._exits,
                "events": events,
                "process": ProcessGauges(gomaxprocs=None, rss_bytes=100_000_000),
                "machine": MachineCounters(
                    time_ns=second_ns,
                    cpu_busy_us=second_ns // 1000,
                    package_uj=None,
                    domains_uj=[],
                    gaps=0,
                ),
                "health": _health(self._rate_hz),
                "exited": ExitedTotals(threads=self._exits, inexact=0, totals=dict(self._exited)),
                "roles": self._roles() if second else None,
            }
        )

    def _roles(self) -> list[RoleTotals]:
        slots: dict[str, list[int]] = {}
        for slot, name in enumerate(self._name):
            slots.setdefault(role_of(name), []).append(slot)
        totals = []
        for role, own in slots.items():
            ended = self._exited_of.get(role, {})
            live = self._values[:, own].sum(axis=1)
            sums = {field: int(live[n]) + ended.get(field, 0) for n, field in enumerate(FIELDS)}
            exits = self._exits_of.get(role, 0)
            totals.append(RoleTotals(role=role, live=len(own), exited=exits, totals=sums))
        return totals


def _name(number: int) -> str:
    return f"{ROLES[number % len(ROLES)]}-{number // len(ROLES) + 1}"


def _host() -> Host:
    return Host(
        id="h-0123456789ab",
        name="made-up",
        kernel="6.18.0",
        cpus=2,
        cpu_model="made-up",
        memory_bytes=1 << 34,
        connected=True,
        collector=CollectorInfo(
            pid=1,
            version="0.1.0",
            privileged=True,
            source="taskstats",
            reason="a made-up program",
            max_targets=1,
        ),
    )


def _target(host: Host, pid: int, threads: int, rate_hz: float, unix_us: int) -> Target:
    process = Process(
        pid=pid,
        start_ticks=1000,
        started_unix_ms=unix_us // 1000 - 1000,
        name="made-up",
        command="made-up",
        executable="/usr/bin/made-up",
        uid=0,
        user="root",
        threads=threads,
        cpu_percent=None,
        rss_bytes=None,
        runtime="native",
        runtime_version=None,
        ports=[],
        refusal=None,
    )
    source = Source(
        kind="taskstats",
        taskstats_version=16,
        layout="v16",
        reply_bytes=560,
        reason="a made-up program",
        exits=True,
        exits_reason="a made-up program",
        network="a made-up program",
        ledger=True,
    )
    return Target(
        id=f"t-{pid}-0badf00d",
        host=host.id,
        process=process,
        state="attached",
        rate_hz=rate_hz,
        attached_unix_us=unix_us,
        source=source,
        energy=EnergySource(domains=[], reason="a made-up program"),
        fields=[*FIELDS, *GAUGES],
        absent=[],
        gomaxprocs=None,
        gomaxprocs_reason="a made-up program",
        steering=None,
    )


def _health(rate_hz: float) -> CollectorHealth:
    return CollectorHealth(
        sample_us=100,
        sample_mean_us=100,
        sample_max_us=200,
        late_us=0,
        missed_deadlines=0,
        effective_hz=rate_hz,
        requested_hz=rate_hz,
        exit_records_received=0,
        exit_records_lost=0,
        cpu_percent=1,
        overhead_percent=1,
        budget_percent=2,
        replay_bytes=0,
        replay_frames=0,
        unsent_frames=0,
        sent_frames=0,
        sent_bytes=0,
    )
