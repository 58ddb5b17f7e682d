"""A made-up program's frames, sent to a real backend as a collector sends them.

`MadeProgram` makes frames by the project's own encoder, of any number of threads and faster than
any clock; `Feeder` signs in as a collector and sends them over /ws/collector.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import numpy as np
import numpy.typing as npt
from made_group import MadeGroup
from tidscope_collector.uplink.sign_in import SignIn, open_link
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.frame import RowEncoder, Rows, join
from tidscope_wire.frame_tables import encode_tables
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import (
    CollectorHealth,
    CollectorHello,
    CollectorInfo,
    CollectorWelcome,
    EnergySource,
    ExitedTotals,
    FrameHeader,
    FramesReceived,
    Host,
    MachineCounters,
    Process,
    ProcessGauges,
    RefusedReply,
    RoleTotals,
    Source,
    Target,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
)
from tidscope_wire.problems import make_problem
from tidscope_wire.proof import host_credential
from tidscope_wire.role import role_of
from websockets.asyncio.client import ClientConnection

FIELDS = tuple(
    field.name for field in CATALOGUE.fields if field.kind == "counter" and field.scope == "thread"
)
ROLES = ("hash-worker", "net-client", "disk-writer", "reader", "sleeper")
KEY_SECONDS = 10
GAUGES = ("state", "state_since_ns")
_STATES = tuple(field for field in FIELDS if field.startswith("state_"))
_WAITS = ("futex", "socket_receive", "file_write_disk", "poll", "sleep")
"""What threads of each role wait for, in the order of `ROLES`."""
_STAY_NS = 5_000_000
"""A stay under way of a thread that moved began no longer ago."""
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


_MADE_UP = make_problem("not-steerable", "the program is made up", "Steer a real one.")


class MadeProgram:
    """A program that exists in its frames only; the same seed gives the same frames.

    Args:
        threads: that are alive at any time.
        rate_hz: frames a second of its own time.
        moving: share of the threads whose counters move between two frames.
        churn_s: one thread ends and another one starts so often, in its own time; None: never.
        unix_us: wall clock of its attach; now, if not given.
        seed: of what moves, and the process id.
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
        """Of the last frame, since attach."""
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
        """Let a thread end and another one start in its place."""
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
        second_ns = self.time_ns // 1_000_000_000 * 1_000_000_000  # read once a second
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


class Feeder:
    """Sends a made-up program's frames.

    Attributes:
        program: whose frames.
        confirmed: number of the last frame that the backend has.
    """

    def __init__(self, link: ClientConnection, program: MadeProgram) -> None:
        self._link = link
        self.program = program
        self.confirmed = 0
        self._more = asyncio.Event()
        self._over = False

    async def send(self, frames: int, ahead: int = 64) -> None:
        """Send the next frames; never more than `ahead` beyond what the backend has confirmed."""
        for _ in range(frames):
            while self.program.seq - self.confirmed >= ahead:
                if self._over:
                    raise SystemExit("the backend closed the connection: nobody confirms frames")
                self._more.clear()
                await self._more.wait()
            await self._link.send(self.program.next_frame())

    async def receive(self) -> None:
        """Read receipts until cancelled, and refuse commands: the page asks how to steer."""
        try:
            async for message in self._link:
                if '"frames_received"' in str(message):
                    received = FramesReceived.model_validate_json(message)
                    self.confirmed = received.targets.get(self.program.target.id, self.confirmed)
                    self._more.set()
                elif '"request_id"' in str(message):
                    number = json.loads(message)["request_id"]
                    refused = RefusedReply(request_id=number, problem=_MADE_UP)
                    await self._link.send(refused.model_dump_json())
        finally:
            # Who waits for receipts would wait for ever.
            self._over = True
            self._more.set()


@asynccontextmanager
async def feeder(address: str, secret: str, program: MadeProgram) -> AsyncIterator[Feeder]:
    """Connect to a backend as the collector of a made-up host.

    Args:
        address: of the backend, http://….
        secret: of its host `default`.
        program: whose frames are sent.
    """
    url = f"{address.replace('http', 'ws', 1)}/ws/collector"
    async with open_link(url, SignIn(url, host_credential(secret))) as link:
        hello = CollectorHello(
            protocol=PROTOCOL_VERSION, host=program.host, targets=[program.target], policies=[]
        )
        await link.send(hello.model_dump_json())
        CollectorWelcome.model_validate_json(await link.recv())
        feeding = Feeder(link, program)
        receiving = asyncio.create_task(feeding.receive())
        try:
            yield feeding
        finally:
            receiving.cancel()
            with suppress(asyncio.CancelledError):
                await receiving


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
