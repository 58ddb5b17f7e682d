"""Comparison of a run with programs' own counts: losses, duplicates, and whether the run says so.

Pure. The account of the programs is a series of readings; a run covers a stretch of it. What the
programs did in that stretch must be in the run once, or the run must say that something is missing.
"""

import bisect
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

BRACKET_S = 0.25
"""Uncertainty of the times of readings and frames, seconds."""
CPU_SHARE, CPU_S = 0.01, 0.03
"""CPU time that may differ between the clocks of processes and those of threads."""
LEAVING_S = 10e-6
"""CPU time of a thread after the kernel has added it to its process, which only the run has."""
PERIODS = 3.0
"""Sampling periods without a sample from which on time is a hole."""
SHORTEST_HOLE_S = 1.0
CUT = ("frames", "gaps", "samples_failed", "truncated_bytes", "exit_records_lost")
"""Losses that stand for threads and CPU time that may be missing."""


class Reading(NamedTuple):
    """Work of programs since their start, by their own account.

    Attributes:
        unix_s: when it was read.
        born: threads started.
        ended: threads ended; those that a program has from its start count once it is dead.
        cpu_s: CPU time of all threads.
    """

    unix_s: float
    born: int
    ended: int
    cpu_s: float


class Hole(NamedTuple):
    """Time between two frames that is longer than the sampling rate explains.

    Attributes:
        seconds: length beyond the sampling period, in seconds.
        said_s: part of it that the run states as a gap, missed deadlines or coalesced frames.
    """

    seconds: float
    said_s: float


class Reported(NamedTuple):
    """Statements of a run.

    Attributes:
        state: state of the manifest.
        from_s: wall clock of its first frame, Unix seconds.
        to_s: likewise of its last frame.
        until_s: when recording was to end: its stop, or the end of the target.
        born: threads that were born within it.
        ended: threads that ended within it, by totals.
        events: threads that ended within it, by events.
        cpu_s: CPU time of all its threads.
        losses: losses of the manifest, by name.
        holes: long times between two of its frames.
        seqs: first and last number of each frame.
        period_s: between two samples, as requested.
        sample_s: duration of the slower of the first and the last sample.
        unsure_s: time before the last frame of which the run says that births and ends may be
            missing.
    """

    state: str
    from_s: float
    to_s: float
    until_s: float
    born: int
    ended: int
    events: int
    cpu_s: float
    losses: Mapping[str, int]
    holes: Sequence[Hole]
    seqs: Sequence[tuple[int, int]]
    period_s: float
    sample_s: float = 0.0
    unsure_s: float = 0.0


class Verdict(NamedTuple):
    """A run against the account.

    Attributes:
        lost_threads: threads that were born and are not in the run, whether it says so or not.
        lost_cpu_s: CPU time that is not in the run.
        lost_s: time without samples, the time after its last frame included.
        twice_threads: threads above those that there were.
        twice_cpu_s: CPU time above what was used.
        silent: sentences about losses and doubles that the run does not state.
    """

    lost_threads: int
    lost_cpu_s: float
    lost_s: float
    twice_threads: int
    twice_cpu_s: float
    silent: tuple[str, ...]

    @property
    def said(self) -> bool:
        """True if the run states all that it lacks and counts nothing twice."""
        return not self.silent


def judge(account: Sequence[Reading], reported: Reported, slack: int = 0) -> Verdict:
    """Compare a run with the account of what it recorded.

    Args:
        account: readings, by time; the last one has all that the programs ever did.
        reported: statements of the run.
        slack: threads whose start was under way when a program was killed; they may count or not.
    """
    least, most = _within(account, reported)
    after = _beyond(account, reported)
    unsure = _less(
        _before(account, reported.to_s), _before(account, reported.to_s - reported.unsure_s)
    )
    cpu_tolerance = CPU_S + CPU_SHARE * most.cpu_s
    inside = max(0, least.born - slack - reported.born)
    exits = max(0, least.ended - slack - reported.ended)
    cpu_inside = max(0.0, least.cpu_s - reported.cpu_s - cpu_tolerance)
    twice = max(0, reported.born - most.born - slack)
    twice_exits = max(0, reported.ended - most.ended - slack)
    leaving_s = LEAVING_S * most.ended
    cpu_twice = max(0.0, reported.cpu_s - most.cpu_s - cpu_tolerance - leaving_s)
    tail_s = max(0.0, reported.until_s - reported.to_s)
    tail_s = tail_s if tail_s > max(SHORTEST_HOLE_S, PERIODS * reported.period_s) else 0.0
    silent = list[str]()
    cut = any(reported.losses.get(name, 0) for name in CUT)
    gap = any(reported.losses.get(name, 0) for name in CUT[:-1])
    stated = inside and reported.losses.get("exit_records_lost", 0) >= inside
    if not gap and not stated and (inside > unsure.born or exits > unsure.ended):
        silent.append(f"{max(inside, exits)} threads within the run are missing")
    if cpu_inside and not cut:
        silent.append(f"{cpu_inside:.3f} s of CPU time within the run are missing")
    if (
        reported.events < reported.ended
        and not gap
        and not reported.losses.get("exits_without_event", 0)
    ):
        silent.append(f"{reported.ended - reported.events} exits have no event")
    if reported.state not in ("interrupted", "incomplete"):
        if after.born or after.cpu_s > cpu_tolerance:
            silent.append(
                f"{after.born} threads and {after.cpu_s:.3f} s of CPU time after the last frame "
                f"of a run that is {reported.state}"
            )
        if tail_s:
            silent.append(f"the last {tail_s:.1f} s of a run that is {reported.state}")
    for hole in reported.holes:
        if hole.said_s < hole.seconds - 2 * reported.period_s:
            silent.append(f"{hole.seconds:.1f} s without a sample, of which {hole.said_s:.1f} said")
    if twice or twice_exits:
        silent.append(f"{max(twice, twice_exits)} threads more than there were")
    if cpu_twice:
        silent.append(f"{cpu_twice:.3f} s more CPU time than was used")
    doubled = sum(now[0] <= before[1] for before, now in pairwise(reported.seqs))
    if doubled:
        silent.append(f"{doubled} frames are there twice")
    lost_cpu = cpu_inside + (after.cpu_s if after.cpu_s > cpu_tolerance else 0.0)
    lost_s = tail_s + sum(hole.seconds for hole in reported.holes)
    return Verdict(inside + after.born, lost_cpu, lost_s, twice, cpu_twice, tuple(silent))


def _within(account: Sequence[Reading], reported: Reported) -> tuple[Reading, Reading]:
    """The least and the most that the programs did within the run."""
    around_s = BRACKET_S + reported.sample_s
    least = _less(
        _before(account, reported.to_s - around_s), _after(account, reported.from_s + around_s)
    )
    most = _less(
        _after(account, reported.to_s + around_s), _before(account, reported.from_s - around_s)
    )
    return least, most


def _beyond(account: Sequence[Reading], reported: Reported) -> Reading:
    """The least that the programs did after the run's last frame."""
    return _less(account[-1], _after(account, reported.to_s + BRACKET_S + reported.sample_s))


def _before(account: Sequence[Reading], unix_s: float) -> Reading:
    place = bisect.bisect_right(account, unix_s, key=lambda one: one.unix_s)
    return account[max(0, place - 1)]


def _after(account: Sequence[Reading], unix_s: float) -> Reading:
    place = bisect.bisect_left(account, unix_s, key=lambda one: one.unix_s)
    return account[min(place, len(account) - 1)]


def _less(now: Reading, then: Reading) -> Reading:
    return Reading(
        now.unix_s,
        max(0, now.born - then.born),
        max(0, now.ended - then.ended),
        max(0.0, now.cpu_s - then.cpu_s),
    )
