"""Why and how runs end: stopped, out of time, without a program, or without a disk."""

import os
from typing import NamedTuple

from tidscope_wire.generated.limits import LIFECYCLE_WAIT_SECONDS
from tidscope_wire.generated.models import RunEnd, RunState

from tidscope_backend.recording.stats import RecordingStats, Tail
from tidscope_backend.store.disk import disk_full
from tidscope_backend.store.folder import missing_text

UNREPORTED = (
    f"threads that were born or ended in the {LIFECYCLE_WAIT_SECONDS} s before it may be missing, "
    "too"
)
"""Text about births and exits that a lost collector may have left unreported."""
WRITE_FAILURES: frozenset[RunEnd] = frozenset({"disk-full", "write-failed"})


class Ending(NamedTuple):
    """Why and how a run ends.

    Attributes:
        end: reason for the end.
        state: final state if no data is missing.
        why: reason as a sentence.
        by_frame: whether a frame caused the end, so that later frames are not part of the run.
        tail: losses after the last frame; None if no data is missing or the loss is unknown.
    """

    end: RunEnd
    state: RunState
    why: str
    by_frame: bool = False
    tail: Tail | None = None


TIME_OVER = Ending("duration", "complete", "Its time is over.")
"""The collector is still asked for all data up to the end."""
STOPPED = Ending("stopped", "complete", "It was stopped.")
LAST_FRAMES_MISSING = Ending(
    "target-ended", "incomplete", "The process has ended; its last frames are missing."
)
"""The number of missing frames is unknown."""
BACKEND_ENDS = Ending(
    "backend-lost",
    "interrupted",
    "The backend ended while recording. If it starts again before the collector ends, "
    "the run is resumed; else all after the last frame is missing, and "
    f"{UNREPORTED}.",
)
COLLECTOR_ENDS = Ending("stopped", "complete", "The collector was asked to end.")


def end_detail(ending: Ending, stats: RecordingStats) -> str:
    """Return the reason of an end with what is missing, as sentences."""
    missing = missing_text(stats.losses)
    return f"{ending.why} Missing: {missing}." if missing else ending.why


def write_failure(error: OSError) -> Ending:
    """Return the ending of a run after a failed write."""
    text = os.strerror(error.errno) if error.errno else str(error)
    full = disk_full(error)
    why = f"The disk was full ({text})" if full else f"Writing failed ({text})"
    return Ending(
        "disk-full" if full else "write-failed",
        "interrupted",
        f"{why}; the last frame and all later ones are missing.",
    )
