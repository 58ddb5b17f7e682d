"""Compares walks with taskstats: what a walk says is no more, and the next walk's no less.

Counters only grow, so of a thread that lives through walk, question and next walk every field lies
between. Threads at random are asked about, 16 for each walk, and those that are new. They are asked
about together after every eighth walk: a question costs as much as a hundred threads in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import randbelow

import numpy as np
import numpy.typing as npt

from tidscope_collector.threads.matching import rows_of_both
from tidscope_collector.threads.reading import ThreadReader

EVERY = 8
"""After every so many walks taskstats is asked, the first of them included."""
SHARE = EVERY * 16
"""Threads at random that are asked about then."""
MAX_NEW = 512
"""New threads that are asked about at a time; further ones wait."""
_NONE = np.empty(0, np.uint32)


class DisagreementError(Exception):
    """A walk and taskstats disagree; the text says about which thread, field and values."""


@dataclass(frozen=True, slots=True)
class Walked:
    """Threads of one walk.

    Attributes:
        tid: uint32[n].
        start_ns: int64[n], CLOCK_MONOTONIC.
        counters: uint64[n, F].
    """

    tid: npt.NDArray[np.uint32]
    start_ns: npt.NDArray[np.int64]
    counters: npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Asked:
    """Threads of one walk, and what taskstats says of them after it.

    Attributes:
        walked: n threads of the walk.
        counters: uint64[n, F], of taskstats.
    """

    walked: Walked
    counters: npt.NDArray[np.uint64]


def compare(
    asked: Asked, walked: Walked, fields: Sequence[str], leave_out: npt.NDArray[np.uint32]
) -> str:
    """Compare what taskstats said with the walks before and after.

    Threads that are gone are left out: whose counters taskstats gave is known only of those that
    the id stood for in both walks.

    Args:
        asked: threads of the walk before.
        walked: the walk after.
        fields: names of the columns.
        leave_out: uint32[n], ids that may stand for other threads with the same start.

    Returns:
        The first disagreement in words; empty if there is none.
    """
    before = asked.walked
    here, there = rows_of_both(before.tid, walked.tid)
    alive = before.start_ns[here] == walked.start_ns[there]
    if len(leave_out):
        alive &= ~np.isin(before.tid[here], leave_out)
    low, middle = before.counters[here][alive], asked.counters[here][alive]
    high = walked.counters[there][alive]
    too_low, too_high = low > middle, middle > high
    wrong = np.argwhere(too_low | too_high)
    if not len(wrong):
        return ""
    row, field = wrong[0].tolist()
    thread = f"{fields[field]} of thread {int(before.tid[here][alive][row])}"
    said = int(middle[row, field])
    if too_low[row, field]:
        return f"{thread} is {int(low[row, field])} by the walk and {said} by taskstats after it"
    return f"{thread} is {said} by taskstats and {int(high[row, field])} by the walk after it"


class CrossCheck:
    """The check of the walks of one process, or of a group.

    Args:
        reader: over taskstats.
        mains: uint32[n], ids of the main threads of its processes.
        choose: a number at random, from 0 and below the one given.

    Attributes:
        asked: about how many threads taskstats was asked after the last walk; mostly 0.
        mains: as given; others may be set before a check.
    """

    def __init__(
        self,
        reader: ThreadReader,
        mains: npt.NDArray[np.uint32],
        choose: Callable[[int], int] = randbelow,
    ) -> None:
        self.asked = 0
        self._walks = 0
        self._reader = reader
        self.mains = mains
        self._choose = choose
        self._open: Asked | None = None
        self._known = np.empty(0, np.uint32)
        self._known_start = np.empty(0, np.int64)
        self._new = np.empty(0, np.uint32)

    @property
    def is_due(self) -> bool:
        """Whether the next walk is to be compared, or asked about."""
        return self._open is not None or self._walks % EVERY == 0

    @property
    def before_due(self) -> int:
        """So many walks come before the next one for which `is_due` holds."""
        return 0 if self._open is not None else -self._walks % EVERY

    def pass_over(self) -> None:
        """There was a walk of the same threads, and `is_due` was false."""
        self.asked = 0
        self._walks += 1

    def check(self, walked: Walked, *, same: bool) -> None:
        """Compare with the walk before, if it was asked about, and ask about this one if it is due.

        Args:
            walked: all threads, in the reader's columns. Their ids and starts are kept if `same` is
                false, and must not be written to later.
            same: whether the walk before had the same threads.

        Raises:
            DisagreementError: a walk and taskstats disagree.
            OSError: the kernel answered nonsense.
        """
        if self._open is not None:
            # Who executes a program takes over id and start of the first thread; others end.
            others = _NONE if same else self.mains
            found = compare(self._open, walked, self._reader.fields, others)
            if found:
                raise DisagreementError(found)
        if not same:
            self._meet(walked)
        self._open = self._ask(walked) if self._walks % EVERY == 0 else None
        self.asked = 0 if self._open is None else len(self._open.walked.tid)
        self._walks += 1

    def _meet(self, walked: Walked) -> None:
        """See who is new, and forget who is gone."""
        new = np.ones(len(walked.tid), np.bool_)
        here, there = rows_of_both(walked.tid, self._known)
        new[here] = walked.start_ns[here] != self._known_start[there]
        waiting = np.isin(walked.tid, self._new) if len(self._new) else False
        self._new = walked.tid[new | waiting]
        self._known, self._known_start = walked.tid, walked.start_ns

    def _ask(self, walked: Walked) -> Asked:
        count = len(walked.tid)
        rows = np.array([self._choose(count) for _ in range(SHARE)])
        if len(self._new):
            now, self._new = self._new[:MAX_NEW], self._new[MAX_NEW:]
            rows = np.concatenate([rows, np.flatnonzero(np.isin(walked.tid, now))])
        rows = np.unique(rows)
        reading = self._reader.read(walked.tid[rows])
        here, there = rows_of_both(walked.tid[rows], reading.tid)
        rows = rows[here]
        # Copies, all of them: the next walk and the reader's next query write over these.
        chosen = Walked(walked.tid[rows], walked.start_ns[rows], walked.counters[rows])
        return Asked(chosen, reading.counters[there].copy())
