"""Spans of a critical path, each joined with samples of its thread or process."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from tidscope_traces.critical.path import CriticalPath
from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import SpanLock, SpanPart, SpanThread

from tidscope_backend.traces.joining.observed import LockWaits, Observed
from tidscope_backend.traces.joining.places import (
    MIN_DIGITS,
    Origin,
    Place,
    Places,
    is_remote,
    origin_of,
)
from tidscope_backend.traces.joining.timeline import Parts, busy, of_process, of_thread, split_all

MAX_SPANS = 200
"""Maximum joined spans of a path, by descending own time."""
NO_PID = "the span names no process: set the resource attribute process.pid (docs/traces.md)"
NOT_MEASURED = "process {pid} was neither attached nor recorded at that time"
NOT_HERE = "not on this host: the span is of host {host}"
IN_CONTAINER = (
    "process {pid} is a number inside container {container}, of which no such process was attached "
    "or recorded at that time"
)
NO_THREAD = "thread {tid} was not seen in process {pid}: the parts are of the whole process"
NOT_APART = (
    "What its thread did is unknown: the samples around it are too far apart for {own_ms:.3g} ms."
)
RUNTIME = "Not counted: threads of the runtime itself, at work for {threads}."
MIN_AT_WORK, MAX_AT_WORK = 0.01, 4
"""Minimum share of a span's own time, and maximum number, of threads that are named."""
Interval = tuple[int, int]


class Own(NamedTuple):
    """A span on the path, and the intervals that are its own time, in Unix nanoseconds."""

    span: Span
    intervals: Sequence[Interval]

    @property
    def ns(self) -> int:
        """Total duration."""
        return sum(end - begin for begin, end in self.intervals)


def own_intervals(path: CriticalPath) -> list[Own]:
    """Return the spans with own time on a path, by descending own time."""
    found: dict[int, list[Interval]] = {}
    for segment in path.segments:
        found.setdefault(segment.span, []).append((segment.start_ns, segment.end_ns))
    spans = path.fitted.trace.spans
    return sorted(
        (Own(spans[span], intervals) for span, intervals in found.items()), key=lambda one: -one.ns
    )


def join(path: CriticalPath, places: Places) -> list[SpanThread]:
    """Join the spans of a path with samples, by descending own time."""
    owns = own_intervals(path)[:MAX_SPANS]
    windows: dict[Origin, Interval] = {}
    for own in owns:
        if (origin := origin_of(own.span)) is not None:
            begin, end = windows.get(origin, own.intervals[0])
            windows[origin] = min(begin, own.intervals[0][0]), max(end, own.intervals[-1][1])
    found = {origin: places.find(origin, window) for origin, window in windows.items()}
    hosts = places.hosts()
    return [_joined(own, found, hosts) for own in owns]


def _joined(own: Own, places: Mapping[Origin, Place | None], hosts: AbstractSet[str]) -> SpanThread:
    span = own.span
    origin = origin_of(span)
    place = None if origin is None else places[origin]
    if place is None:
        return _span_thread(own, None, None, None, [], _why_not(origin, hosts))
    seen = place.observed
    intervals = [(begin - seen.offset_ns, end - seen.offset_ns) for begin, end in own.intervals]
    threads = seen.threads(place.pid)
    window = intervals[0][0], intervals[-1][1]
    note = ""
    if span.thread_id is not None:
        if span.thread_id in threads:
            return _by_thread(own, place, intervals, span.thread_id)
        note = NO_THREAD.format(tid=span.thread_id, pid=span.pid)
    waits = seen.locks.waits(*window, None if place.pid is None else frozenset(threads))
    aside = runtime_threads(seen.names, threads)
    timelines = [one for tid in threads if tid not in aside for one in seen.timelines(tid)]
    parts = of_process(timelines, intervals, sum(one.rate for one in waits))
    notes = [note] if note else []
    if worked := _at_work(seen, aside, intervals, own.ns):
        notes.append(RUNTIME.format(threads=", ".join(worked)))
    return _span_thread(own, place, parts, None, waits, " ".join(notes))


def _at_work(
    seen: Observed, tids: AbstractSet[int], intervals: Sequence[Interval], own_ns: int
) -> list[str]:
    """Return the threads active in the meantime with their active times, busiest first."""
    found = []
    for tid in tids:
        busy_ns = sum(busy(split_all(one, intervals)).estimate.sum() for one in seen.timelines(tid))
        if busy_ns > MIN_AT_WORK * own_ns:
            found.append((-busy_ns, f"{seen.names[tid]} {busy_ns / 1e6:.3g} ms"))
    return [text for _, text in sorted(found)[:MAX_AT_WORK]]


def _why_not(origin: Origin | None, hosts: AbstractSet[str]) -> str:
    if origin is None:
        return NO_PID
    if origin.container:
        return IN_CONTAINER.format(pid=origin.pid, container=origin.container[:MIN_DIGITS])
    if hosts and all(is_remote(origin, host) for host in hosts):
        return NOT_HERE.format(host=origin.host)
    return NOT_MEASURED.format(pid=origin.pid)


def _by_thread(own: Own, place: Place, intervals: Sequence[Interval], tid: int) -> SpanThread:
    seen = place.observed
    timelines = seen.timelines(tid)
    # Choose the life that contains these intervals, if the thread ID was recycled.
    inside = [one for one in timelines if one.until_ns >= intervals[0][0]] or timelines[-1:]
    parts = of_thread(inside[0], intervals)
    waits = seen.locks.waits(intervals[0][0], intervals[-1][1], frozenset((tid,)))
    return _span_thread(own, place, parts, tid, waits, "")


def _span_thread(
    own: Own,
    place: Place | None,
    parts: Parts | None,
    tid: int | None,
    waits: Sequence[LockWaits],
    note: str,
) -> SpanThread:
    names: Mapping[int, str] = {} if place is None else place.observed.names
    if parts is not None and not parts.is_known:
        note = " ".join([NOT_APART.format(own_ms=own.ns / 1e6), *([note] if note else [])])
    return SpanThread(
        span_id=own.span.span_id,
        target_id=None if place is None else place.target_id,
        run_id=None if place is None else place.run_id,
        pid=own.span.pid,
        tid=tid,
        thread_name=None if tid is None else names.get(tid),
        joined_by=None if parts is None else "process" if tid is None else "thread",
        own_ns=own.ns,
        parts=[] if parts is None else _parts(parts),
        coverage=0.0 if parts is None else parts.coverage,
        locks=[
            SpanLock(
                name=one.lock.name,
                kind=one.lock.kind,
                source=one.lock.source,
                wait_ns=one.wait_ns,
                waits=one.waits,
                over_ns=one.over_ns,
                woken_by=None if one.woke is None else names.get(one.woke),
            )
            for one in waits
        ],
        note=note,
    )


def _parts(parts: Parts) -> list[SpanPart]:
    return [SpanPart.model_validate({"reason": name, "ns": ns}) for name, ns in parts.ns.items()]


GO = frozenset({"sysmon", "template thread"})
"""Threads that the collector names by stack; other Go threads have the program's name."""
HOTSPOT = (
    *("VM Thread", "VM Periodic Tas", "GC Thread#", "G1 ", "C1 CompilerThre", "C2 CompilerThre"),
    *("ZDirector", "ZDriver", "ZStat", "ZWorker", "ZUnmapper", "ZUncommitter", "Shenandoah "),
    *("Reference Handl", "Finalizer", "Signal Dispatch", "Service Thread", "Monitor Deflati"),
    *("Notification Th", "Common-Cleaner", "Attach Listener", "Sweeper thread"),
)
"""Prefixes of the names of HotSpot's own threads (OpenJDK 11 to 25, src/hotspot/share)."""
HOTSPOT_HAS = "VM Periodic Tas"
"""Thread present in each HotSpot virtual machine and in no other program."""


def runtime_threads(names: Mapping[int, str], threads: Iterable[int]) -> set[int]:
    """Return the threads of a process that belong to its language runtime.

    Args:
        names: names of threads; some threads may have none.
        threads: thread IDs of one process.
    """
    own = {tid: names.get(tid, "") for tid in threads}
    is_java = any(name.startswith(HOTSPOT_HAS) for name in own.values())
    return {
        tid for tid, name in own.items() if name in GO or (is_java and name.startswith(HOTSPOT))
    }
