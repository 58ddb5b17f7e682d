"""Where a process was measured at a time: an attached target, or a run that was recorded."""

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
"""The start of a process is known to a clock tick, and clocks are set."""
_HEX = frozenset("0123456789abcdef")


class Origin(NamedTuple):
    """The process of a span, as the span names it.

    Attributes:
        pid: its process id, there.
        host: name of its host; "": not said.
        container: id of its container; "": not said.
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


def is_foreign(origin: Origin, host: str) -> bool:
    """True if the process id of a span belongs to another host.

    Args:
        origin: of a span.
        host: name of the host that was measured.
    """
    return bool(origin.container) or (bool(origin.host) and not _same_host(origin.host, host))


def is_of_container(origin: Origin, process: Process) -> bool:
    """True if the process runs in the container that a span names by id or as its host."""
    if process.container is None:
        return False
    there = process.container.id.lower()
    named = (origin.container or origin.host).lower()
    is_id = len(named) >= MIN_DIGITS and _HEX.issuperset(named)
    return is_id and (there.startswith(named) or named.startswith(there))


def is_process(origin: Origin, process: Process, host: str) -> bool:
    """True if the process is the one that a span names.

    Args:
        origin: of the span.
        process: as the collector lists it.
        host: name of its host.
    """
    if is_foreign(origin, host):
        inside = is_of_container(origin, process)
        return inside and origin.pid in (process.namespace_pid, process.pid)
    return origin.pid == process.pid


def began_after(process: Process, until_ns: int) -> bool:
    """True if the process started after a time, in Unix ns: its process id was recycled."""
    return process.started_unix_ms * 1_000_000 > until_ns + EARLY_NS


def _same_host(one: str, other: str) -> bool:
    """Names with and without a domain may be of one host."""
    names = one.lower().rstrip("."), other.lower().rstrip(".")
    if "." in names[0] and "." in names[1]:
        return names[0] == names[1]
    return names[0].split(".")[0] == names[1].split(".")[0]


MAX_FRAMES = 2000
"""Of a run, for one window."""
MAX_BYTES = 64 * 1024 * 1024
"""Of live frames, for one window."""
Window = tuple[int, int]
"""Unix nanoseconds."""


class LiveTarget(NamedTuple):
    """A target, the frames of it that are kept, and the name of its host."""

    target: Target
    frames: Sequence[StoredFrame]
    host_name: str


@dataclass(frozen=True)
class Place:
    """Where a process was measured.

    Attributes:
        target_id: the target; None: it is a run.
        run_id: the run; None: it is a target.
        pid: the process in a group; None: all threads are its.
        observed: what frames say of the window.
    """

    target_id: str | None
    run_id: str | None
    pid: int | None
    observed: Observed


class Places:
    """Finds where processes were measured. Blocks: not for the event loop.

    Args:
        live: targets, attached ones and those that ended.
        runs: all runs.
        open_run: opens one; raises ProblemError.
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
        """Where a process was measured; a target before a run, a process before a group.

        Args:
            origin: the process, as a span names it.
            window: it has to have been measured in a part of it.
        """
        found = self._candidates(origin, window)
        return next((place for place in found if _has(place, window)), None)

    def hosts(self) -> set[str]:
        """Names of the hosts that were measured."""
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
            return  # The list of runs marks damaged ones.
        yield Place(None, run.id, _pid_in(origin, target, run.host_name, observed), observed)


def _may_be(origin: Origin, target: Target, host: str, window: Window) -> bool:
    """Whether a target may have the process that a span names."""
    lead = target.process
    if target.group is None:
        return is_process(origin, lead, host) and not began_after(lead, window[1])
    return not is_foreign(origin, host) or is_of_container(origin, lead)


def _pid_in(origin: Origin, target: Target, host: str, observed: Observed) -> int | None:
    """The process within a group; None: the target is a process."""
    if target.group is None:
        return None
    return observed.inside.get(origin.pid, 0) if is_foreign(origin, host) else origin.pid


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
