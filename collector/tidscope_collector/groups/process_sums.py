"""What the threads of each process of a group add up to, the ended ones included. Pure.

Counters of a process that began before it came into the group count from then on.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.limits import MAX_FOLDED_PROCESSES

from tidscope_collector.groups.members import Member, Members

STANDS_NS = 10_000_000_000
"""How long an ended process keeps its own row."""
MAX_STANDING = 1024
"""Ended processes with rows of their own; of more the first ones are folded sooner."""
MAX_NAMES = MAX_FOLDED_PROCESSES - 1
"""Rows of ended processes, one for each name; further ones share one."""
MAX_LATE = 65_536
"""Folded processes whose exit records may still come."""
OTHERS = "others"
_CPU = "cpu_run_ns"


@dataclass(slots=True)
class Sums:
    """Of one process, or of ended ones of one name.

    Attributes:
        values: field name to sum.
        threads_ended: how many threads.
        count: of processes.
    """

    values: dict[str, int] = field(default_factory=dict)
    threads_ended: int = 0
    count: int = 1

    def add(self, values: Mapping[str, int], sign: int = 1) -> None:
        """Add values, or take them off."""
        for name, value in values.items():
            self.values[name] = self.values.get(name, 0) + sign * value


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One row of the table of processes.

    Attributes:
        number: of the row.
        member: whose; None: of ended processes of one name.
        name: comm.
        live: whether it lives.
        threads: live ones.
        sums: of all its threads.
    """

    number: int
    member: Member | None
    name: str
    live: bool
    threads: int
    sums: Sums


class ProcessSums:
    """Sums by process; what ended threads add is noted by `ExitedThreads`.

    Args:
        members: of the group.
        fields: names of the columns that have sums, the first ones of readings.
        kept: names of the fields that somebody wants sums of.
    """

    def __init__(self, members: Members, fields: Sequence[str], kept: Collection[str]) -> None:
        self._members = members
        self._fields = tuple(name for name in fields if name in kept)
        self._columns = [fields.index(name) for name in self._fields]
        self._settled: dict[int, Sums] = {}
        """By number of the member: ended threads, less what counters began with."""
        self._begun: set[int] = set()
        self._standing: deque[Member] = deque()
        self._folded: dict[str, tuple[int, Sums]] = {}
        self._late: dict[int, Sums] = {}
        """By number of the member: where counts what is said of it after its row has gone."""

    def _of(self, process: int) -> Sums | None:
        member = self._members.find(process)
        return None if member is None else self._sums(member.number)

    def _sums(self, number: int) -> Sums:
        late = self._late.get(number)
        return self._settled.setdefault(number, Sums()) if late is None else late

    def ended(self, process: int, totals: Mapping[str, int], threads: int = 1) -> None:
        """Threads of a process ended with these totals, added up."""
        sums = self._of(process)
        if sums is not None:
            sums.add(self._kept(totals))
            sums.threads_ended += threads

    def corrected(self, process: int, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        """A thread that ended had other totals than it was counted with."""
        sums = self._of(process)
        if sums is not None:
            sums.add(self._kept(before), -1)
            sums.add(self._kept(after))

    def moved(self, process: int, values: Mapping[str, int]) -> None:
        """A thread that was counted as ended lives on under another id."""
        sums = self._of(process)
        if sums is not None:
            sums.add(self._kept(values), -1)

    def _kept(self, values: Mapping[str, int]) -> dict[str, int]:
        return {name: values[name] for name in self._fields if name in values}

    def rows(
        self,
        processes: npt.NDArray[np.uint32],
        counters: npt.NDArray[np.uint64],
        absent: npt.NDArray[np.bool_] | None,
        now_ns: int,
    ) -> list[ProcessRow]:
        """The rows of now, by number.

        Args:
            processes: uint32[n], of each live thread.
            counters: uint64[n, F], of the same.
            absent: bool[n, F], what the kernel did not give; None: nothing.
            now_ns: CLOCK_MONOTONIC.
        """
        live = self._live(processes, counters, absent)
        rows: list[ProcessRow] = []
        for member in self._members.alive.values():
            threads, values = live.get(member.pid, (0, {}))
            self._begin(member, values, threads)
            settled = self._settled.get(member.number)
            rows.append(
                ProcessRow(
                    member.number, member, member.name, True, threads, _joined(settled, values)
                )
            )
        self._standing.extend(self._members.take_ended())
        while self._standing and (
            now_ns - self._standing[0].ended_ns > STANDS_NS or len(self._standing) > MAX_STANDING
        ):
            self._fold(self._standing.popleft())
        for member in self._standing:
            if member.number in self._settled:
                self._begin(member, {}, 1)
            settled = self._settled.get(member.number)
            sums = _joined(settled, {})
            rows.append(ProcessRow(member.number, member, member.name, False, 0, sums))
        rows += [
            ProcessRow(number, None, name, False, 0, sums)
            for name, (number, sums) in self._folded.items()
        ]
        return rows

    def _live(
        self,
        processes: npt.NDArray[np.uint32],
        counters: npt.NDArray[np.uint64],
        absent: npt.NDArray[np.bool_] | None,
    ) -> dict[int, tuple[int, dict[str, int]]]:
        if not len(processes):
            return {}
        counters = counters[:, self._columns]
        if absent is not None:
            counters = np.where(absent[:, self._columns], np.uint64(0), counters)
        order = np.argsort(processes, kind="stable")
        owners = processes[order]
        starts = np.flatnonzero(np.diff(owners, prepend=owners[0] + np.uint32(1)))
        sums = np.add.reduceat(counters[order], starts, axis=0).tolist()
        counts = np.diff(starts, append=len(owners)).tolist()
        return {
            pid: (count, dict(zip(self._fields, values, strict=True)))
            for pid, count, values in zip(owners[starts].tolist(), counts, sums, strict=True)
        }

    def _begin(self, member: Member, values: Mapping[str, int], threads: int) -> None:
        """Its counters begin: what they were is not the group's.

        Args:
            member: whose.
            values: sums over its live threads; empty: none was seen yet, or it has ended.
            threads: how many it has.
        """
        known = threads == 1 and member.moved_ns is not None
        if member.number in self._begun or not (values or known):
            return
        self._begun.add(member.number)
        if member.before:
            moved = {_CPU: member.moved_ns or 0} if known else {}
            self._sums(member.number).add({**values, **moved}, -1)

    def _fold(self, member: Member) -> None:
        """Its row becomes a part of its name's."""
        self._begun.discard(member.number)
        sums = self._settled.pop(member.number, Sums())
        name = member.name
        if name not in self._folded and len(self._folded) >= MAX_NAMES:
            name = OTHERS
        number, known = self._folded.get(name, (0, Sums(count=0)))
        if not number:
            number = self._members.number()
            self._folded[name] = number, known
        known.add({key: max(0, value) for key, value in sums.values.items()})
        known.threads_ended += sums.threads_ended
        known.count += 1
        # Many processes may end at once, and their records come after their rows have gone.
        self._late[member.number] = known
        if len(self._late) > MAX_LATE:
            del self._late[next(iter(self._late))]


def _joined(settled: Sums | None, values: Mapping[str, int]) -> Sums:
    """What ended threads left and what live ones have."""
    if settled is None:
        return Sums(dict(values))
    before = settled.values
    joined = {name: max(0, value + before.get(name, 0)) for name, value in values.items()}
    joined |= {name: max(0, value) for name, value in before.items() if name not in values}
    return Sums(joined, settled.threads_ended)
