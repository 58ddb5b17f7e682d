"""Which runs retention deletes. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from tidscope_wire.generated.models import Retention


class RetentionCandidate(NamedTuple):
    """What retention needs to know of a run.

    Attributes:
        run: its id.
        ended_s: when it ended, Unix seconds; if imported, when it was imported.
        size: bytes of its files.
        recording: it is being recorded, so it stays.
    """

    run: str
    ended_s: float
    size: int
    recording: bool


def runs_to_delete(
    runs: Sequence[RetentionCandidate], retention: Retention, unix_s: float
) -> list[str]:
    """Choose the runs to delete, oldest first.

    Args:
        runs: all of them.
        retention: the bounds; null ones choose nothing.
        unix_s: now.
    """
    oldest_first = sorted((run for run in runs if not run.recording), key=lambda run: run.ended_s)
    left = sum(run.size for run in runs)
    gone = []
    for run in oldest_first:
        old = retention.max_age_s is not None and unix_s - run.ended_s > retention.max_age_s
        large = retention.max_bytes is not None and left > retention.max_bytes
        if old or large:
            gone.append(run.run)
            left -= run.size
    return gone
