"""Where a process was measured at a time: an attached target, or a run that was recorded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidscope_wire.generated.models import RunSummary, Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.reader import RunReader
from tidscope_backend.stream.stored_frame import StoredFrame
from tidscope_backend.traces.joining.lock_readings import PROGRAM_NS
from tidscope_backend.traces.joining.observed import Observed, observe

MAX_FRAMES = 2000
"""Of a run, for one window."""
MAX_BYTES = 64 * 1024 * 1024
"""Of live frames, for one window."""
Window = tuple[int, int]
"""Unix nanoseconds."""


class LiveTarget(NamedTuple):
    """A target, and the frames of it that are kept."""

    target: Target
    frames: Sequence[StoredFrame]


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

    def find(self, pid: int, window: Window) -> Place | None:
        """Where a process was measured; a target before a run, a process before a group.

        Args:
            pid: process id.
            window: it has to have been measured in a part of it.
        """
        return next((place for place in self._candidates(pid, window) if _has(place, window)), None)

    def _candidates(self, pid: int, window: Window) -> Iterator[Place]:
        for grouped in (False, True):
            for target, frames in reversed(self._live):
                if (target.group is not None) == grouped and (grouped or target.process.pid == pid):
                    observed = _observe_live(target, frames, window)
                    yield Place(target.id, None, pid if grouped else None, observed)
            for run in self._runs:
                if (run.target_group is not None) == grouped and (grouped or run.pid == pid):
                    observed_run = self._observe_run(run, window)
                    if observed_run is not None:
                        yield Place(None, run.id, pid if grouped else None, observed_run)

    def _observe_run(self, run: RunSummary, window: Window) -> Observed | None:
        began_ns = run.started_unix_us * 1000
        if window[1] < began_ns or window[0] > began_ns + run.duration_ns:
            return None
        try:
            reader = self._open_run(run.id)
            offset = began_ns - reader.manifest.from_ns
            begin, end = (at - offset for at in window)
            frames = frames_between(reader, begin - PROGRAM_NS, end + PROGRAM_NS, MAX_FRAMES)
            return observe(frames, None)
        except (ProblemError, OSError, ValueError):
            return None  # The list of runs marks damaged ones.


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
