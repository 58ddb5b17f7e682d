"""A run as Chrome trace events, for Perfetto (ui.perfetto.dev) and chrome://tracing.

Format: "Trace Event Format", JSON object format,
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU Counter tracks
belong to a process, so a thread's track has the thread's name and ID.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import (
    GomaxprocsChanged,
    RunEvent,
    SteeringDecided,
    SteeringReleased,
    SteeringStarted,
    ThreadExited,
)
from tidscope_wire.states import SINCE, STATE

from tidscope_backend.exchange.packing import open_run
from tidscope_backend.exchange.stack_slices import stack_slices
from tidscope_backend.exchange.thread_tracks import Rates, rates_of, state_slices
from tidscope_backend.hidden_arguments import HIDDEN
from tidscope_backend.state_groups import LABELS
from tidscope_backend.store.reader import RunReader, table_growth
from tidscope_backend.store.threads_table import has_states

MAX_ROWS = 300_000
"""Maximum thread samples of a trace; beyond it, frames are omitted and totals stay."""
LINES = 2000
FIELDS = ("cpu_run_ns", "cpu_delay_ns", "blkio_delay_ns")
NAMES = {"cpu_run_ns": "on CPU", "cpu_delay_ns": "run queue", "blkio_delay_ns": "block I/O"}
"""Names of time shares; 1 is the complete time between two frames."""

Event = dict[str, object]


def as_trace(path: Path, hide: bool = False) -> Iterator[bytes]:
    """Yield the trace as one JSON object.

    Times are microseconds since attach. A run with more than `MAX_ROWS` thread samples is reduced
    to frames of level 1 (about every second) or 2 (about every ten); `otherData.level` is the
    level.

    Raises:
        OSError: the run cannot be read.
    """
    reader = open_run(path, hide)
    level = level_for(reader)
    manifest = reader.manifest
    head = {
        "displayTimeUnit": "ms",
        "otherData": {
            "run": manifest.id,
            "name": manifest.name,
            "command": manifest.target.process.command or HIDDEN,
            "tidscope": manifest.tidscope,
            "attached_unix_us": str(manifest.target.attached_unix_us),
            "level": str(level),
        },
    }
    yield (json.dumps(head)[:-1] + ', "traceEvents": [\n').encode()
    first = True
    lines: list[str] = []
    for event in _events(reader, level):
        lines.append(json.dumps(event, separators=(",", ":"), allow_nan=False))
        if len(lines) >= LINES:
            yield (("" if first else ",\n") + ",\n".join(lines)).encode()
            lines, first = [], False
    yield (("" if first or not lines else ",\n") + ",\n".join(lines) + "\n]}\n").encode()


def level_for(reader: RunReader) -> int:
    """Return the lowest level with at most `MAX_ROWS` samples, or 2."""
    for level in (0, 1):
        if sum(part.rows(level) for part in reader.parts) <= MAX_ROWS:
            return level
    return 2


def _events(reader: RunReader, level: int) -> Iterator[Event]:
    threads = reader.threads()
    pids = _Pids(reader, threads)
    pid = pids.lead
    yield from _names(reader, threads, pids)
    yield from _lives(threads, pids)
    yield from _instants(reader.events(), pids)
    for mark in reader.manifest.marks:
        yield _instant(mark.text, mark.time_ns, pid, "p", "mark")
    yield from _gauges(reader, pid)
    yield from _states(reader, threads, level, pids)
    yield from stack_slices(reader, threads, pids.of)
    yield from _counters(reader, threads, level, pids)


class _Pids:
    """The process of each thread.

    Attributes:
        lead: process of the target; also receives the data of a complete group.
        names: names of a group's other processes, by ID; a recycled ID has its last name.
    """

    def __init__(self, reader: RunReader, threads: pa.Table) -> None:
        self.lead = reader.manifest.target.process.pid
        self.names: dict[int, str] = {}
        self._of: dict[tuple[int, int], int] = {}
        if reader.manifest.target.group is None:
            return
        columns = (threads[name].to_pylist() for name in ("tid", "start_ns", "pid"))
        self._of = {(tid, start): pid for tid, start, pid in zip(*columns, strict=True)}
        found = table_growth(reader.parts, "processes").select(["pid", "name"]).to_pylist()
        known = {row["pid"]: row["name"] for row in found}
        own = {pid for pid in self._of.values() if pid not in (0, self.lead)}
        self.names = {pid: known.get(pid, f"process {pid}") for pid in sorted(own)}

    def of(self, tid: int, start_ns: int) -> int:
        """Return the process of a thread."""
        return self._of.get((tid, start_ns)) or self.lead


def _names(reader: RunReader, threads: pa.Table, pids: _Pids) -> Iterator[Event]:
    process, lead = reader.manifest.target.process, pids.lead
    yield {"ph": "M", "name": "process_name", "pid": lead, "args": {"name": process.name}}
    labels = process.command or HIDDEN
    yield {"ph": "M", "name": "process_labels", "pid": lead, "args": {"labels": labels}}
    for pid, name in pids.names.items():
        yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
    columns = [threads[name].to_pylist() for name in ("tid", "start_ns", "name")]
    # A recycled ID has the name of its last thread.
    named = {(pids.of(tid, start), tid): name for tid, start, name in zip(*columns, strict=True)}
    for (pid, tid), name in named.items():
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def _lives(threads: pa.Table, pids: _Pids) -> Iterator[Event]:
    """Yield a slice for each thread, from its birth or the start of the run to its exit."""
    columns = ["tid", "name", "from_ns", "to_ns", "start_ns", "exited"]
    for row in threads.select(columns).to_pylist():
        yield {
            "ph": "X",
            "name": row["name"] or "thread",
            "cat": "thread",
            "pid": pids.of(row["tid"], row["start_ns"]),
            "tid": row["tid"],
            "ts": row["from_ns"] / 1000,
            "dur": max(0, row["to_ns"] - row["from_ns"]) / 1000,
            "args": {"start_ns": row["start_ns"], "exited": row["exited"]},
        }


def _instants(events: Iterable[RunEvent], pids: _Pids) -> Iterator[Event]:
    for recorded in events:
        event = recorded.event
        args = event.model_dump(exclude={"type", "totals"}, exclude_none=True)
        time_ns, scope, name = recorded.time_ns, "p", event.type.replace("_", " ")
        if isinstance(event, SteeringDecided):
            name, time_ns = f"{event.policy}: {event.size} to {event.next_size}", event.at_ns
        elif isinstance(event, SteeringStarted | SteeringReleased):
            name = f"{name}: {event.policy}"
        elif isinstance(event, GomaxprocsChanged):
            name = f"GOMAXPROCS {event.size}"
        tid, pid = args.get("tid"), args.get("pid")
        if not isinstance(pid, int):
            pid = pids.lead
        if isinstance(tid, int):
            scope = "t"
        category = "exit" if isinstance(event, ThreadExited) else event.type.partition("_")[0]
        yield _instant(name, time_ns, pid, scope, category, tid, args)


def _instant(
    name: str,
    time_ns: int,
    pid: int,
    scope: str,
    category: str,
    tid: object = None,
    args: dict[str, object] | None = None,
) -> Event:
    event: Event = {
        "ph": "i",
        "s": scope,
        "name": name,
        "cat": category,
        "pid": pid,
        "tid": pid if tid is None else tid,
        "ts": time_ns / 1000,
    }
    return event if args is None else {**event, "args": args}


def _gauges(reader: RunReader, pid: int) -> Iterator[Event]:
    """Yield changes of live threads, resident memory and GOMAXPROCS."""
    signals = reader.signals(["time_ns", "live_threads", "process"])
    process = signals["process"]
    columns = {
        "threads": signals["live_threads"],
        "resident memory (bytes)": pc.struct_field(process, "rss_bytes"),
        "GOMAXPROCS": pc.struct_field(process, "gomaxprocs"),
    }
    times = signals["time_ns"].to_pylist()
    for name, column in columns.items():
        before = None
        for time_ns, value in zip(times, column.to_pylist(), strict=True):
            if value is not None and value != before:
                yield _counter(name, time_ns, pid, {"value": value})
            before = value


def _states(reader: RunReader, threads: pa.Table, level: int, pids: _Pids) -> Iterator[Event]:
    """Yield a slice for each sampled stay in a state, within the thread's slice."""
    if not has_states(reader.fields):
        return
    samples = _sorted_samples(reader, [STATE, SINCE], level)
    for (tid, start_ns), slices in state_slices(samples, _frame_times(reader, level), threads):
        for one in slices:
            yield {
                "ph": "X",
                "name": LABELS[one.field],
                "cat": "state",
                "pid": pids.of(tid, start_ns),
                "tid": tid,
                "ts": one.from_ns / 1000,
                "dur": (one.to_ns - one.from_ns) / 1000,
            }


def _frame_times(reader: RunReader, level: int) -> npt.NDArray[np.int64]:
    frames = reader.signals(["time_ns", "level"])
    times: npt.NDArray[np.int64] = frames.filter(pc.field("level") >= level)["time_ns"].to_numpy()
    return times


def _sorted_samples(reader: RunReader, fields: Sequence[str], level: int) -> pa.Table:
    samples = reader.samples(fields, level=level)
    return samples.sort_by([(name, "ascending") for name in ("tid", "start_ns", "time_ns")])


def _counters(reader: RunReader, threads: pa.Table, level: int, pids: _Pids) -> Iterator[Event]:
    """Yield shares of time of each thread: on CPU, run-queue delay, block I/O delay."""
    fields = [field for field in FIELDS if field in reader.fields]
    if not fields:
        return
    names = {
        (row["tid"], row["start_ns"]): f"{row['name']} ({row['tid']})"
        for row in threads.select(["tid", "start_ns", "name"]).to_pylist()
    }
    samples = _sorted_samples(reader, fields, level)
    for life, rates in rates_of(samples, _frame_times(reader, level), fields):
        pid = pids.of(life[0], life[1] or 0)
        yield from _of_life(names.get(life, f"({life[0]})"), rates, fields, pid)


def _of_life(name: str, rates: Rates, fields: list[str], pid: int) -> Iterator[Event]:
    # Nanoseconds per second: 1e9 is all of the time.
    shares = np.column_stack([rates.values[field] / 1e9 for field in fields]).round(4)
    keys = [NAMES[field] for field in fields]
    for time_ns, row in zip(rates.time_ns.tolist(), shares.tolist(), strict=True):
        args = {key: value for key, value in zip(keys, row, strict=True) if math.isfinite(value)}
        if args:
            yield _counter(name, time_ns, pid, args)


def _counter(name: str, time_ns: int, pid: int, args: Mapping[str, float]) -> Event:
    return {"ph": "C", "name": name, "pid": pid, "ts": time_ns / 1000, "args": args}
