"""The own time of a span by reasons: from its thread, or from all threads of its process. Pure.

Of a process nobody knows which thread served the request. So what its threads did while they were
at something counts first, in proportion if they did more than one thread could; in the rest of the
time none was, and the request waited inside the program: for a lock as far as locks were waited for
at that time, else the reason is `idle`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tidscope_backend.traces.joining.timeline import (
    REASONS,
    UNKNOWN,
    Floats,
    Split,
    Timeline,
    no_time,
    split_all,
)

WAITING = frozenset({"locks", "polling", "sleep", "pipes", "unknown"})
"""What an idle thread does, too: of a process it says nothing about one request."""
IDLE = "idle"
MIN_SHARE = 0.001
"""Of the own time; smaller parts are left out unless they are the greatest."""


class Parts(NamedTuple):
    """The own time of a span, divided.

    Attributes:
        ns: by reason, the greatest first; they add up to the own time.
        coverage: the share of it of which samples leave no doubt, 0 to 1.
    """

    ns: dict[str, int]
    coverage: float


def of_thread(timeline: Timeline, intervals: Sequence[tuple[int, int]]) -> Parts:
    """Divide the intervals in which a request waited for a thread by what this did then."""
    own = sum(end - begin for begin, end in intervals)
    found = split_all(timeline, intervals)
    estimate = found.estimate.copy()
    estimate[UNKNOWN] += max(0.0, own - estimate.sum())
    certain = found.least[:UNKNOWN].sum()
    return Parts(_rounded(dict(zip(REASONS, estimate, strict=True)), own), _share(certain, own))


def of_process(
    timelines: Sequence[Timeline], intervals: Sequence[tuple[int, int]], lock_rate: float
) -> Parts:
    """Divide intervals in which a request waited for a process by what its threads did then.

    Args:
        timelines: of its threads.
        intervals: nanoseconds since attach.
        lock_rate: thread-seconds a second that were spent waiting for locks around that time.
    """
    own = sum(end - begin for begin, end in intervals)
    found = no_time()
    for timeline in timelines:
        found += split_all(timeline, intervals)
    measured = min(own, _measured(timelines, intervals))
    at_work = busy(found)
    worked = at_work.estimate.sum()
    scale = min(1.0, measured / worked) if worked else 1.0
    parts = dict(zip(REASONS, at_work.estimate * scale, strict=True))
    waited = max(0.0, measured - worked)
    locked = waited * min(1.0, lock_rate)
    parts["locks"] += locked
    parts[IDLE] = waited - locked
    parts["unknown"] = max(0.0, own - measured)
    certain = min(own, at_work.least.sum() * scale) + max(0.0, measured - at_work.most.sum())
    if lock_rate:
        # That a request waited is certain, that it was for a lock is not.
        certain = max(0.0, certain - locked)
    return Parts(_rounded(parts, own), _share(certain, own))


def busy(found: Split) -> Split:
    """The part in which a thread was at anything, and did not wait as idle threads do."""
    works = np.array([reason not in WAITING for reason in REASONS], np.float64)
    return Split(*(array * works for array in found))


def _measured(timelines: Sequence[Timeline], intervals: Sequence[tuple[int, int]]) -> int:
    """How much of the intervals lies within the samples of any of the threads."""
    known = [one for one in timelines if len(one.time_ns)]
    if not known:
        return 0
    first = min(int(one.time_ns[0]) for one in known)
    last = max(max(int(one.time_ns[-1]), one.until_ns) for one in known)
    return sum(max(0, min(end, last) - max(begin, first)) for begin, end in intervals)


def _rounded(parts: dict[str, Floats] | dict[str, float], own: int) -> dict[str, int]:
    """As whole nanoseconds that add up, the greatest first."""
    ordered = sorted(((float(ns), reason) for reason, ns in parts.items()), reverse=True)
    shown = [(round(ns), reason) for ns, reason in ordered if ns > own * MIN_SHARE]
    found = {reason: ns for ns, reason in shown or [(own, ordered[0][1])]}
    greatest = next(iter(found))
    found[greatest] += own - sum(found.values())
    return found


def _share(certain: float, own: int) -> float:
    return min(1.0, max(0.0, certain / own)) if own else 0.0
