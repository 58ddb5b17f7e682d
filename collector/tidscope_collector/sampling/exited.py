"""What the threads that have ended add up to. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tidscope_wire.generated.models import ExitedTotals
from tidscope_wire.states import STATE_FIELDS

from tidscope_collector.sampling.roles import RoleSums

_STATES = frozenset(STATE_FIELDS)
"""They may fall by microseconds when a stay ends."""


def latest(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Totals that never fall below those reported before; fields may be missing in both."""
    return {
        **before,
        **{
            name: value if name in _STATES else max(value, before.get(name, 0))
            for name, value in now.items()
        },
    }


class ProcessNotes(Protocol):
    """Takes what the ended threads of each process of a group add up to."""

    def ended(self, process: int, totals: Mapping[str, int], threads: int = 1) -> None:
        """Threads of a process ended with these totals, added up."""

    def corrected(self, process: int, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        """A thread that ended had other totals than it was counted with."""

    def moved(self, process: int, values: Mapping[str, int]) -> None:
        """A thread that was counted as ended lives on under another id."""


@dataclass(frozen=True)
class _Vanished:
    """A thread that was gone without an exit record.

    Attributes:
        name: its last comm.
        totals: of its last sample; they were added to the sums.
        start_ns: its start, CLOCK_MONOTONIC.
        seen_ns: CLOCK_MONOTONIC after that sample.
        process: its process; 0: the only one.
    """

    name: str
    totals: Mapping[str, int]
    start_ns: int
    seen_ns: int
    process: int

    def may_be(self, start_ns: int, end_ns: int | None) -> bool:
        """Whether a record may be its own, and not of a later thread with its id.

        A record's start is late by the time from the thread's end to the drain, and the thread
        lived when it was seen. Where both may be, the id was hardly given away so soon.
        """
        return end_ns is None or start_ns <= self.start_ns + end_ns - self.seen_ns


@dataclass
class ExitedThreads:
    """Sums over ended threads, since attach.

    Threads that vanished are remembered for one more sample, since only then it may turn out that
    their exit record was on its way, or that they live on under another id.
    """

    threads: int = 0
    inexact: int = 0
    totals: dict[str, int] = field(default_factory=dict)
    roles: RoleSums = field(default_factory=RoleSums)
    processes: ProcessNotes | None = None
    _recent: dict[int, _Vanished] = field(default_factory=dict)
    _before: dict[int, _Vanished] = field(default_factory=dict)
    _summary: ExitedTotals | None = None

    def summary(self) -> ExitedTotals:
        """The sums as the wire tells them; the same object while they stay the same."""
        if self._summary is None:
            self._summary = ExitedTotals(
                threads=self.threads, inexact=self.inexact, totals=dict(self.totals)
            )
        return self._summary

    @property
    def is_settled(self) -> bool:
        """Whether the next sample finds nobody who vanished lately."""
        return not self._recent and not self._before

    def turn(self) -> None:
        """Another sample has come: forget who vanished before the one before."""
        self._before, self._recent = self._recent, {}

    def recorded(
        self, name: str, threads: int, totals: Mapping[str, int], process: int = 0
    ) -> None:
        """Threads of this name ended and the kernel reported their totals, which are added up.

        Args:
            name: of each of them.
            threads: how many.
            totals: added up.
            process: whose; 0: the only one.
        """
        self.threads += threads
        self._add(totals)
        self.roles.ended(name, totals, threads)
        if self.processes is not None:
            self.processes.ended(process, totals, threads)

    def vanished(
        self,
        tid: int,
        name: str,
        totals: Mapping[str, int],
        start_ns: int,
        seen_ns: int,
        process: int = 0,
    ) -> None:
        """A thread is gone, and its last sample is all that is known of it.

        Args:
            tid: whose.
            name: its last comm.
            totals: of that sample.
            start_ns: its start, CLOCK_MONOTONIC.
            seen_ns: CLOCK_MONOTONIC after that sample.
            process: whose; 0: the only one.
        """
        self.threads += 1
        self.inexact += 1
        self._add(totals)
        self.roles.ended(name, totals)
        if self.processes is not None:
            self.processes.ended(process, totals)
        self._recent[tid] = _Vanished(name, totals, start_ns, seen_ns, process)

    def corrected(
        self, tid: int, start_ns: int, totals: Mapping[str, int], end_ns: int | None
    ) -> bool:
        """An exit record came; false if it is of none of those that vanished lately.

        Args:
            tid: whose.
            start_ns: its start on CLOCK_MONOTONIC, or somewhat later.
            totals: of the record; they take the place of those of the last sample.
            end_ns: CLOCK_MONOTONIC of the drain, about; None if it is the last one.
        """
        for vanished in (self._recent, self._before):
            known = vanished.get(tid)
            if known is not None and known.may_be(start_ns, end_ns):
                del vanished[tid]
                self.inexact -= 1
                corrected = latest(known.totals, totals)
                self._subtract(known.totals)
                self._add(corrected)
                self.roles.corrected(known.name, known.totals, corrected)
                if self.processes is not None:
                    self.processes.corrected(known.process, known.totals, corrected)
                return True
        return False

    def add_late(self, name: str, process: int, totals: Mapping[str, int]) -> None:
        """A thread that ended had more than its totals said: this is added."""
        self._add(totals)
        self.roles.corrected(name, {}, totals)
        if self.processes is not None:
            self.processes.corrected(process, {}, totals)

    def moved(
        self, process: int, main: int, totals: Mapping[str, int]
    ) -> tuple[Mapping[str, int], int] | None:
        """Find the thread that vanished and lives on under a main thread's id.

        It is found once, and its totals, which stay in the sums, are exact.

        Args:
            process: whose; 0: the only one.
            main: id of its main thread.
            totals: counters under that id, which have grown since.

        Returns:
            What it was counted with, and CLOCK_MONOTONIC when it was seen last; None: there is
            none.
        """
        fitting = [
            (sum(known.totals.values()), tid, vanished)
            for vanished in (self._recent, self._before)
            for tid, known in vanished.items()
            if known.process == process
            and tid != main
            and all(
                value <= totals.get(name, 0)
                for name, value in known.totals.items()
                if name not in _STATES
            )
        ]
        if not fitting:
            return None
        _, tid, vanished = max(fitting, key=lambda one: one[0])
        self.inexact -= 1
        self._summary = None
        found = vanished.pop(tid)
        return found.totals, found.seen_ns

    def counted_twice(self, name: str, totals: Mapping[str, int], process: int = 0) -> None:
        """Take back what was counted with two ids.

        Args:
            name: comm of the second one, whose role lacks it from now on.
            totals: that were counted twice.
            process: whose; 0: the only one.
        """
        self._subtract(totals)
        self.roles.counted(name, totals)
        if self.processes is not None:
            self.processes.moved(process, totals)

    def _add(self, totals: Mapping[str, int]) -> None:
        self._summary = None
        for name, value in totals.items():
            self.totals[name] = self.totals.get(name, 0) + value

    def _subtract(self, totals: Mapping[str, int]) -> None:
        self._summary = None
        for name, value in totals.items():
            self.totals[name] -= value
