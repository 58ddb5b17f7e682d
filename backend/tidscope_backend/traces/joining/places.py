"""Places where a process was measured at an instant: an attached target or a recorded run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import Process, RunSummary, Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.reader import RunReader
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.traces.joining.observed import PROGRAM_NS, Observed, observe

MIN_DIGITS = 12
"""Minimum hexadecimal digits that identify a container."""
EARLY_NS = 1_000_000_000
"""Tolerance of process start times, for clock ticks and adjustments of the clock."""
_HEX = frozenset("0123456789abcdef")


class Origin(NamedTuple):
    """The process of a span, as named by the span.

    Attributes:
        pid: process ID on its host or in its container.
        host: host name, or "" if unknown.
        container: container ID, or "" if unknown.
    """

    pid: int
    host: str = ""
    container: str = ""


def origin_of(span: Span) -> Origin | None:
    """Return the process, host and container of a span, or None if the span names no process."""
    if span.pid is None:
        return None
    host, container = (span.attributes.get(key, "") for key in ("host.name", "container.id"))
    return Origin(span.pid, host, container)


def is_remote(origin: Origin, host: str) -> bool:
    """Return True if the process ID of a span belongs to another host.

    Args:
        origin: process of the span, as the span names it.
        host: name of the measured host.
    """
    return bool(origin.container) or (bool(origin.host) and not _same_host(origin.host, host))


def is_of_container(origin: Origin, process: Process) -> bool:
    """Return True if the process runs in the container that a span names by id or as its host."""
    if process.container is None:
        return False
    there = process.container.id.lower()
    named = (origin.container or origin.host).lower()
    is_id = len(named) >= MIN_DIGITS and _HEX.issuperset(named)
    return is_id and (there.startswith(named) or named.startswith(there))


def is_process(origin: Origin, process: Process, host: str) -> bool:
    """Return True if the process is the one that a span names.

    Args:
        origin: process of the span, as the span names it.
        process: process as listed by the collector.
        host: name of the process's host.
    """
    if is_remote(origin, host):
        inside = is_of_container(origin, process)
        return inside and origin.pid in (process.namespace_pid, process.pid)
    return origin.pid == process.pid


def began_after(process: Process, until_ns: int) -> bool:
    """Return True if a process started after a time, in Unix ns: its ID was recycled."""
    return process.started_unix_ms * 1_000_000 > until_ns + EARLY_NS


def _same_host(one: str, other: str) -> bool:
    """Return True if two names, with or without a domain, may belong to one host."""
    names = one.lower().rstrip("."), other.lower().rstrip(".")
    if "." in names[0] and "." in names[1]:
        return names[0] == names[1]
    return names[0].split(".")[0] == names[1].split(".")[0]


MAX_FRAMES = 2000
"""Maximum frames of a run for one window."""
MAX_BYTES = 64 * 1024 * 1024
"""Maximum bytes of live frames for one window."""
Window = tuple[int, int]
"""Start and end, in Unix nanoseconds."""


class LiveTarget(NamedTuple):
    """A target, its kept frames, and the name of its host."""

    target: Target
    frames: Sequence[StoredFrame]
    host_name: str


@dataclass(frozen=True)
class Place:
    """A place where a process was measured.

    Attributes:
        target_id: target ID; None for a run.
        run_id: run ID; None for a target.
        pid: process in a group; None: all threads belong to the process.
        observed: content of the window's frames.
    """

    target_id: str | None
    run_id: str | None
    pid: int | None
    observed: Observed


class Places:
    """Finds where processes were measured. Blocks: not for the event loop.

    Args:
        live: attached and ended targets.
        runs: all runs.
        open_run: opens a run; raises ProblemError.
    """

    def __init__(
        self,
        live: Sequence[LiveTarget],
        runs: Sequence[RunSummary],
        open_run: Callable[[str], RunReader],
    ) -> None:
        self._live = live
        self._runs = runs
        self._open_run = open_run

    def find(self, origin: Origin, window: Window) -> Place | None:
        """Find where a process was measured: targets before runs, processes before groups.

        Args:
            origin: the process, as named by a span.
            window: interval that the measurement must overlap.
        """
        found = self._candidates(origin, window)
        return next((place for place in found if _has(place, window)), None)

    def hosts(self) -> set[str]:
        """Return names of the measured hosts."""
        return {one.host_name for one in self._live} | {one.host_name for one in self._runs}

    def _candidates(self, origin: Origin, window: Window) -> Iterator[Place]:
        for grouped in (False, True):
            for target, frames, host in reversed(self._live):
                if (target.group is not None) == grouped and _may_be(origin, target, host, window):
                    observed = _observe_live(target, frames, window)
                    pid = _pid_in(origin, target, host, observed)
                    yield Place(target.id, None, pid, observed)
            for run in self._runs:
                if (run.target_group is not None) == grouped:
                    yield from self._of_run(run, origin, window)

    def _of_run(self, run: RunSummary, origin: Origin, window: Window) -> Iterator[Place]:
        began_ns = run.started_unix_us * 1000
        if window[1] < began_ns or window[0] > began_ns + run.duration_ns:
            return
        try:
            reader = self._open_run(run.id)
            target = reader.manifest.target
            if not _may_be(origin, target, run.host_name, window):
                return
            offset = began_ns - reader.manifest.from_ns
            begin, end = (at - offset for at in window)
            frames = frames_between(reader, begin - PROGRAM_NS, end + PROGRAM_NS, MAX_FRAMES)
            observed = observe(frames, None)
        except (ProblemError, OSError, ValueError):
            return  # Damaged runs are reported by the list of runs.
        yield Place(None, run.id, _pid_in(origin, target, run.host_name, observed), observed)


def _may_be(origin: Origin, target: Target, host: str, window: Window) -> bool:
    """Return True if a target may contain a span's process."""
    lead = target.process
    if target.group is None:
        return is_process(origin, lead, host) and not began_after(lead, window[1])
    return not is_remote(origin, host) or is_of_container(origin, lead)


def _pid_in(origin: Origin, target: Target, host: str, observed: Observed) -> int | None:
    """Return the process ID within a group; None if the target is a process."""
    if target.group is None:
        return None
    return observed.inside.get(origin.pid, 0) if is_remote(origin, host) else origin.pid


def _observe_live(target: Target, frames: Sequence[StoredFrame], window: Window) -> Observed:
    begin, end = (at - target.attached_unix_us * 1000 for at in window)
    chosen: list[StoredFrame] = []
    for frame in frames:
        if frame.key and frame.time_ns <= begin - PROGRAM_NS:
            chosen = []
        chosen.append(frame)
        if frame.time_ns > end + PROGRAM_NS:
            break
    while len(chosen) > 1 and sum(len(frame.data) for frame in chosen) > MAX_BYTES:
        chosen = _without_first_group(chosen)
    return observe((frame.data for frame in chosen), chosen[0].fields if chosen else None)


def _without_first_group(frames: list[StoredFrame]) -> list[StoredFrame]:
    keys = (at for at, frame in enumerate(frames) if at and frame.key)
    return frames[next(keys, len(frames)) :]


def _has(place: Place, window: Window) -> bool:
    seen = place.observed
    first, last = seen.from_ns + seen.offset_ns, seen.to_ns + seen.offset_ns
    within = last > first and window[0] <= last and window[1] >= first
    return within and bool(seen.threads(place.pid))
