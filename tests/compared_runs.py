"""Makers of runs for tests: manifests and tables by hand, of numbers that can be checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import run_builders
from backend_builders import target
from tidscope_backend.comparison.sides import RunTables
from tidscope_wire.generated.models import (
    RunEvent,
    RunManifest,
    RunPolicy,
    SteeringDecided,
    TargetEvent,
)

FIELDS = ("cpu_run_ns", "voluntary_switches", "net_read_bytes")


def run_id(number: int) -> str:
    """An identity."""
    return f"r-20261121-120000-{number:06x}"


def manifest(number: int = 1, **changes: Any) -> RunManifest:
    """Manifest of a complete run of ten seconds, from second 5 of the target."""
    defaults = run_builders.manifest(
        id=run_id(number),
        name=f"run {number}",
        tags=[],
        created_unix_us=1_795_000_000_000_000,
        started_unix_us=1_795_000_000_000_000,
        from_ns=5_000_000_000,
        to_ns=15_000_000_000,
        target=target().model_copy(update={"fields": list(FIELDS)}),
        policies=[],
        marks=[],
    )
    return RunManifest.model_validate({**defaults.model_dump(), **changes})


@dataclass(frozen=True)
class Life:
    """A thread's life: its role, and its first and last counters, in the order of `FIELDS`."""

    role: str
    first: Sequence[int | None]
    last: Sequence[int | None]


def threads(lives: Sequence[Life], fields: Sequence[str] = FIELDS) -> pa.Table:
    """The table of threads."""
    counters = pa.struct([pa.field(name, pa.uint64()) for name in fields])
    count = len(lives)
    name = pa.list_(pa.struct({"time_ns": pa.int64(), "name": pa.utf8()}))
    return pa.table(
        {
            "tid": pa.array(range(100, 100 + count), pa.uint32()),
            "start_ns": pa.array([0] * count, pa.int64()),
            "name": pa.array([life.role for life in lives], pa.utf8()),
            "names": pa.array([[] for _ in lives], name),
            "role": pa.array([life.role for life in lives], pa.utf8()),
            "from_ns": pa.array([0] * count, pa.int64()),
            "to_ns": pa.array([0] * count, pa.int64()),
            "exited": pa.array([False] * count, pa.bool_()),
            "exact": pa.array([None] * count, pa.bool_()),
            "first": pa.array([_named(life.first, fields) for life in lives], counters),
            "last": pa.array([_named(life.last, fields) for life in lives], counters),
        }
    )


def _named(values: Sequence[int | None], fields: Sequence[str]) -> dict[str, int | None]:
    return dict(zip(fields, values, strict=True))


@dataclass(frozen=True)
class Instant:
    """A row of signals; roles: name to values in the order of `FIELDS`; None: not reported here."""

    time_s: float
    roles: Mapping[str | None, Sequence[int | None]] | None = None
    rss: int | None = None
    gomaxprocs: int | None = None
    machine: tuple[float, int | None, int] | None = None


def signals(instants: Sequence[Instant], fields: Sequence[str] = FIELDS) -> pa.Table:
    """The table of signals, as far as a comparison reads it."""
    totals = pa.struct([pa.field(name, pa.int64()) for name in fields])
    role = pa.struct(
        {"role": pa.utf8(), "live": pa.int64(), "exited": pa.int64(), "totals": totals}
    )
    rows = [
        {
            "seq": number,
            "time_ns": round(instant.time_s * 1e9),
            "process": {"rss_bytes": instant.rss, "gomaxprocs": instant.gomaxprocs},
            "machine": _machine(instant),
            "roles": instant.roles
            and [
                {"role": name, "live": 1, "exited": 0, "totals": _named(values, fields)}
                for name, values in instant.roles.items()
            ],
        }
        for number, instant in enumerate(instants, 1)
    ]
    return pa.Table.from_pylist(
        rows,
        schema=pa.schema(
            {
                "seq": pa.int64(),
                "time_ns": pa.int64(),
                "process": pa.struct({"rss_bytes": pa.int64(), "gomaxprocs": pa.int64()}),
                "machine": pa.struct(
                    {"time_ns": pa.int64(), "package_uj": pa.int64(), "gaps": pa.int64()}
                ),
                "roles": pa.list_(role),
            }
        ),
    )


def _machine(instant: Instant) -> dict[str, int | None]:
    time_s, package_uj, gaps = instant.machine or (instant.time_s, None, 0)
    return {"time_ns": round(time_s * 1e9), "package_uj": package_uj, "gaps": gaps}


def event(time_s: float, what: TargetEvent, seq: int = 1) -> RunEvent:
    """An event of a run."""
    time_ns = round(time_s * 1e9)
    return RunEvent(seq=seq, time_ns=time_ns, unix_us=1_795_000_000_000_000, event=what)


def decided(time_s: float, ops: float, elapsed_s: float = 1) -> RunEvent:
    """A decision at the end of an interval."""
    return event(
        time_s,
        SteeringDecided(
            type="steering_decided",
            number=1,
            policy="linear",
            at_ns=round(time_s * 1e9),
            elapsed_s=elapsed_s,
            ops=ops,
            mean_wait_s=None,
            size=2,
            next_size=3,
            proposed=None,
            state="searching",
            reason="more ops",
            counted=True,
            probing=False,
        ),
    )


def policy(time_s: float, name: str = "linear", **changes: Any) -> RunPolicy:
    """A policy that began."""
    values = {"shadow": False, "knob": "go-agent", "signal": "agent-ops", "lower": 1, "upper": 8}
    return RunPolicy.model_validate(
        {"time_ns": round(time_s * 1e9), "policy": name, **values, **changes}
    )


def tables(
    number: int = 1,
    lives: Sequence[Life] = (),
    instants: Sequence[Instant] = (),
    events: Sequence[RunEvent] = (),
    **changes: Any,
) -> RunTables:
    """A run."""
    return RunTables(manifest(number, **changes), threads(lives), signals(instants), events)
