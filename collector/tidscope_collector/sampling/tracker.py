"""What changed between two readings: births, names, exits, counters. Pure but for one question.

The question is what a thread id stands for now, asked only where the reading leaves it open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import (
    ExitedTotals,
    RoleTotals,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.role import RoleRule

from tidscope_collector.sampling.exit_cpu import CPU
from tidscope_collector.sampling.exited import ExitedThreads, ProcessNotes, latest
from tidscope_collector.sampling.inherited import Inherited, InheritedCounters
from tidscope_collector.sampling.presence import Look, Presence
from tidscope_collector.sampling.readings import (
    absent_mask,
    all_values,
    at_least,
    empty,
    invalid_fields,
    invalid_mask,
    join,
    pick,
    sums,
    taken,
    text,
    values,
    wire_rows,
    without_lacking,
)
from tidscope_collector.sampling.roles import RoleSums
from tidscope_collector.sampling.state_columns import StateColumns
from tidscope_collector.threads.matching import Index, rows_of_both
from tidscope_collector.threads.reading import Reading

_ROUNDING_NS = 1_000_000
"""By which CPU time of a record may be below that of a row, as sources of both differ."""


class _Heir(NamedTuple):
    """An ended thread that no sample saw, and that had a main thread's id.

    Attributes:
        name: comm.
        totals: of its record.
        process: whose; 0: the only one.
        event: of its end.
    """

    name: str
    totals: dict[str, int]
    process: int
    event: ThreadExited


@dataclass
class Thread:
    """Identity of a live thread.

    Attributes:
        start_ns: since attach.
        name: as it is reported.
        comm: the kernel's name, if it is reported under another one; else empty.
        process: id of its process; 0: the only one.
    """

    start_ns: int
    name: str
    comm: str = ""
    process: int = 0

    @property
    def kernel_name(self) -> str:
        """What the kernel calls it."""
        return self.comm or self.name


class _Census(NamedTuple):
    """Who the live threads are, by the rows of the last reading.

    Attributes:
        alive: bool[n], which rows are of threads that have not ended since.
        names: of these.
        starts: int64, since attach.
        processes: uint32.
    """

    alive: npt.NDArray[np.bool_]
    names: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    processes: npt.NDArray[np.uint32]


@dataclass
class Tracker:
    """The threads of one target.

    Args:
        fields: column names of its readings.
        attach_ns: CLOCK_MONOTONIC of the attachment, the zero of all times given out.
        pid: id of the process and of its main thread; 0: readings say of which process a thread is.
        foreign_exits: whether exit records may be of other processes' threads (taskstats before
            version 12 does not say whose they are); then only those of known threads are believed.
        processes: takes what the ended threads of each process add up to; None: there is only one.
        role_rules: by which threads have roles, before the general one.
    """

    fields: tuple[str, ...]
    attach_ns: int
    pid: int
    foreign_exits: bool = False
    processes: ProcessNotes | None = None
    role_rules: Sequence[RoleRule] = ()
    threads: dict[int, Thread] = field(default_factory=dict)
    _ended: ExitedThreads = field(init=False)
    _lingering: set[int] = field(default_factory=set)
    """Ids whose exit record came and that may still be listed, or be listed only now."""
    _absent: set[int] = field(default_factory=set)
    """Those of them that the last listing did not have, and whose record came before it."""
    _listed: bool = False
    """Whether the last listing had any of them."""
    _recorded: set[int] = field(default_factory=set)
    """Ids whose exit record came for the sample that is being taken in."""
    _heirs: list[_Heir] = field(default_factory=list)
    _inherited: InheritedCounters = field(init=False)
    _last: Reading = field(init=False)
    """The last row of each live thread, whichever sample it is from."""
    _seen_ns: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Of each of those rows CLOCK_MONOTONIC after the sample that it is from."""
    _places: dict[int, int] | None = None
    """Their places by id, once they were asked for."""
    _census: _Census | None = None
    """None: it is to be taken; threads began, ended or were renamed since."""
    _open: bool = False
    """Whether exit records of the next sample have been taken in."""
    _cpu: int | None = field(init=False)
    _states: StateColumns = field(init=False)

    def __post_init__(self) -> None:
        self._ended = ExitedThreads(roles=RoleSums(self.role_rules))
        self._states = StateColumns(self.fields, self.attach_ns)
        self._inherited = InheritedCounters(self._states)
        self._last = empty(len(self.fields))
        self._ended.processes = self.processes
        # The scheduler's own counter: it falls only where an id stands for another thread.
        self._cpu = self.fields.index(CPU) if CPU in self.fields else None

    def take_exits(self, exits: Reading | None, end_ns: int | None) -> list[TargetEvent]:
        """Take exit records in, before the sample that they belong to.

        Args:
            exits: of threads of this target, drained after its reading.
            end_ns: CLOCK_MONOTONIC after the reading; None: there is none, sampling is over.

        Returns:
            The exits, in order.
        """
        if not self._open:
            self._open = True
            self._ended.turn()
        return self._records(exits, end_ns) if exits is not None and len(exits.tid) else []

    def _close(self, events: list[TargetEvent]) -> None:
        """The sample is taken in.

        Args:
            events: that it gave so far.
        """
        self._take_back(events)
        self._heirs, self._recorded, self._open = [], set(), False

    def update(
        self,
        reading: Reading,
        end_ns: int,
        exits: Reading | None,
        *,
        listed: npt.NDArray[np.uint32],
        look: Look,
    ) -> tuple[list[TargetEvent], Rows]:
        """Take a sample in.

        Args:
            reading: the live threads.
            end_ns: CLOCK_MONOTONIC after it was taken.
            exits: records that `take_exits` has not got yet.
            listed: thread ids that were listed before the reading.
            look: tells what an id stands for.

        Returns:
            Events in order, and the rows that changed.
        """
        events = self.take_exits(exits, end_ns)
        reading = self._inherited.taken_off(reading)
        in_place = reading.counters is self._last.counters
        if in_place and reading.changed is not None and not self._lingering | self._recorded:
            return events, self._same_threads(reading, reading.changed, events)
        rows = reading
        reading = self._without_ended(taken(reading), listed, look)
        now, then = rows_of_both(reading.tid, self._last.tid)
        same = isinstance(now, slice)
        if in_place and reading.changed is not None:
            differs = reading.changed[now]
            reborn = np.zeros(len(differs), np.bool_)
        else:
            reading, differs, reborn = self._compare(reading, now, then)
        stands = None if same else self._unread(reading, listed, look, events)
        changed = np.ones(len(reading.tid), np.bool_)
        changed[now] = differs | reborn
        fresh = np.ones(len(reading.tid), np.bool_)
        fresh[now] = reborn
        for tid in reading.tid[now][reborn].tolist():
            self._vanished(tid, events)
        reading = self._inherit(reading, np.flatnonzero(fresh).tolist(), end_ns)
        for row in np.flatnonzero(fresh).tolist():
            self._born(reading, row, events)
        self._close(events)
        self._renamed(reading, now, then, events)
        # Where rows are others than were read, they are ours.
        kept = rows.changed if reading.counters is rows.counters else None
        reading = replace(reading, changed=kept)
        seen = reading.seen_ns
        if seen is None:
            seen = np.full(len(reading.tid), end_ns, np.int64)
        if stands is None:
            self._replace_last(reading)
            self._seen_ns = seen
        else:
            read = replace(reading, seen_ns=None)
            self._replace_last(join([read, pick(self._last, stands)]))
            self._seen_ns = np.concatenate([seen, self._seen_ns[stands]])
        return events, wire_rows(reading, changed, self.fields)

    def _same_threads(
        self, reading: Reading, changed: npt.NDArray[np.bool_], events: list[TargetEvent]
    ) -> Rows:
        """Take in the last reading, brought up to date: the same threads, none of them ended."""
        rows = wire_rows(reading, changed, self.fields)
        changed[:] = False
        if reading.seen_ns is not None:
            self._seen_ns = reading.seen_ns
        self._close(events)
        return rows

    @property
    def is_settled(self) -> bool:
        """Whether the next sample, brought up to date in place, can only change counters."""
        return (
            self._last.changed is not None
            and not (self._open or self._heirs or (self._lingering and self._listed))
            and self._ended.is_settled
        )

    def note_unchanged(self) -> None:
        """Such a sample was taken: whoever was not listed before it was not listed again."""
        if self._lingering:
            self._lingering -= self._absent
            self._absent = set(self._lingering)

    def all_rows(self) -> Rows:
        """All live threads with their identities."""
        census = self._know()
        rows = wire_rows(self._last, census.alive, self.fields)
        pids = None if self.pid else census.processes
        return Rows(rows.tid, rows.columns, rows.absent, census.starts, census.names, pids)

    def _know(self) -> _Census:
        """Who the live threads are; the same object while they stay the same."""
        if self._census is None:
            found = [self.threads.get(tid) for tid in self._last.tid.tolist()]
            known = [thread for thread in found if thread is not None]
            self._census = _Census(
                np.array([thread is not None for thread in found], np.bool_),
                tuple(thread.name for thread in known),
                np.array([thread.start_ns for thread in known], np.int64),
                np.array([thread.process for thread in known], np.uint32),
            )
        return self._census

    def rename(self, names: Mapping[int, str]) -> list[TargetEvent]:
        """Report threads under names that their program has for them.

        Such a name stands until the kernel's own name of the thread changes.

        Args:
            names: by thread id; those of no live thread are left out.
        """
        events: list[TargetEvent] = []
        for tid, name in names.items():
            thread = self.threads.get(tid)
            if thread is None or thread.name == name:
                continue
            events.append(
                ThreadRenamed(tid=tid, name=name, previous=thread.name, pid=thread.process or None)
            )
            self._ended.roles.renamed(thread.name, name, self._last_totals(self._last_row(tid)))
            comm = thread.kernel_name
            thread.name, thread.comm = name, "" if comm == name else comm
            self._census = None
        return events

    def exited(self) -> ExitedTotals:
        """Sums over the threads that ended since attach."""
        return self._ended.summary()

    def total(self, fields: Sequence[str]) -> int:
        """Sum of some fields over all threads since each one's start, the ended ones included."""
        ended = self._ended.summary().totals
        columns = [self.fields.index(name) for name in fields]
        last = at_least(self._last)
        live = last.counters[:, columns]
        if last.absent is not None:
            live = np.where(last.absent[:, columns], 0, live)
        return int(live.sum()) + sum(ended.get(name, 0) for name in fields)

    def by_process(
        self, now_ns: int
    ) -> tuple[
        npt.NDArray[np.uint32], npt.NDArray[np.uint64], npt.NDArray[np.bool_] | None, Sequence[str]
    ]:
        """The live threads of a group as last sampled.

        Args:
            now_ns: CLOCK_MONOTONIC up to which stays under way count.

        Returns:
            uint32[n], ids of their processes; uint64[n, F] counters; bool[n, F], what the kernel
            did not give, or None; names of the F columns.
        """
        alive = self._states.at(self._alive(), now_ns)
        process = alive.process
        if process is None:
            process = np.full(len(alive.tid), self.pid, np.uint32)
        return process, alive.counters, alive.absent, self._states.summed

    def _alive(self) -> Reading:
        """The last rows of the threads that have not ended since."""
        last = self._last
        if len(self.threads) == len(last.tid):
            return last
        return pick(last, self._know().alive)

    def roles(self, now_ns: int) -> list[RoleTotals]:
        """Sums over the threads of each role, the living and the ended.

        Args:
            now_ns: CLOCK_MONOTONIC up to which stays under way count.
        """
        rows = at_least(self._states.at(self._alive(), now_ns))
        return self._ended.roles.summary(rows, self._know().names, self._states.summed)

    def add_late(self, name: str, process: int, totals: Mapping[str, int]) -> None:
        """A thread that ended had more than its totals said.

        Args:
            name: its comm.
            process: id of its process.
            totals: field name to what is to be added.
        """
        self._ended.add_late(name, process, totals)

    def finish(self, exits: Reading | None, *, exited: bool) -> list[TargetEvent]:
        """Sampling is over.

        Args:
            exits: records that came since the last sample.
            exited: whether the process has ended: then every thread that is left has, too.
        """
        events = self.take_exits(exits, None)
        if exited:
            for tid in list(self.threads):
                self._vanished(tid, events)
        self._close(events)
        return events

    def _records(self, exits: Reading, end_ns: int | None) -> list[TargetEvent]:
        """Take exit records in, and remember whose they are."""
        exits, fields = self._states.at(exits, 0), self._states.summed
        events: list[TargetEvent] = []
        unseen: dict[tuple[str, int], list[int]] = {}
        names = [text(name) for name in exits.name.tolist()]
        starts = exits.start_ns.tolist()
        for row, (tid, recorded) in enumerate(
            zip(exits.tid.tolist(), all_values(exits, fields), strict=True)
        ):
            inherited = self._inherited.of(tid)
            totals = recorded if inherited is None else inherited.taken_off(recorded)
            name, start = names[row], starts[row]
            thread = self._take_out(tid)
            process = _process(exits, row) or (thread.process if thread else 0)
            if thread is not None:
                if thread.comm == name:
                    name = thread.name
                before = self._last_totals(self._last_row(tid))
                if not _is_of_another(before, totals):
                    totals = latest(before, totals)
                self._ended.roles.renamed(thread.name, name, before)
            # If so, the pages already have its exit, and the sums are right now.
            late = thread is None and self._ended.corrected(tid, start, totals, end_ns)
            if thread is None and not late and self.foreign_exits:
                continue
            self._recorded.add(tid)
            self._inherited.forget(tid)
            if late:
                continue
            if thread is None:
                unseen.setdefault((name, process), []).append(row)
            else:
                self._ended.recorded(name, 1, totals, process)
            event = ThreadExited(
                tid=tid,
                start_ns=thread.start_ns if thread else start - self.attach_ns,
                name=name,
                totals=without_lacking(totals, exits, row, fields),
                inexact=invalid_fields(exits, row, fields),
                exact=True,
                seen_alive=thread is not None,
                lifetime_ns=_lifetime_ns(exits, row, inherited),
                pid=process or None,
            )
            if thread is None and tid == (process or self.pid):
                self._heirs.append(_Heir(name, totals, process, event))
            events.append(event)
        for (name, process), rows in unseen.items():
            self._ended.recorded(name, len(rows), sums(exits, rows, fields), process)
        return events

    def _inherit(self, reading: Reading, rows: list[int], end_ns: int) -> Reading:
        """Count no thread twice that took the main thread's id.

        That id is never free while the process lives: who begins with it has executed a program as
        another thread (execve(2)), which then is gone without a record. Its counters went on.

        Args:
            reading: of the live threads.
            rows: of those that begin.
            end_ns: CLOCK_MONOTONIC after it.

        Returns:
            The reading, in which they begin with what they have counted since.
        """
        heirs: list[int] = []
        for row in rows:
            tid, process = int(reading.tid[row]), _process(reading, row)
            self._inherited.forget(tid)
            if tid == (process or self.pid):
                found = self._ended.moved(process, tid, self._totals(reading, row, end_ns))
                if found is not None:
                    self._inherited.note(tid, Inherited(*found))
                    heirs.append(tid)
        return self._inherited.taken_off(reading, heirs)

    def _take_back(self, events: list[TargetEvent]) -> None:
        """The same for those that ended before a sample saw them under that id."""
        for name, totals, process, event in self._heirs:
            found = self._ended.moved(process, event.tid, totals)
            if found is None:
                continue
            self._ended.counted_twice(name, found[0], process)
            own = Inherited(*found).taken_off(event.totals)
            corrected = event.model_copy(update={"totals": own})
            events[:] = [corrected if one is event else one for one in events]

    def _without_ended(
        self,
        reading: Reading,
        listed: npt.NDArray[np.uint32],
        look: Look,
    ) -> Reading:
        """Leave out threads that have exited but still answer, such as a main thread that left.

        An id whose record came earlier may have come back to life: another thread got it, or a
        thread executed a program and took the id of the main thread. Then it is alive.
        """
        recorded = self._recorded
        doubtful = self._lingering | recorded
        if not doubtful:
            return reading
        keep = np.ones(len(reading.tid), np.bool_)
        for row in np.flatnonzero(np.isin(reading.tid, sorted(doubtful))).tolist():
            tid = int(reading.tid[row])
            if tid in recorded or look(tid) is not Presence.ALIVE:
                keep[row] = False
            else:
                doubtful.discard(tid)
        # Most leave the list for good, soon after their record was sent. A thread that began after
        # this listing and has sent its record may still be in the next one: the kernel sends the
        # record early in do_exit (kernel/exit.c), before the thread waits for the lock of its
        # memory in exit_mm. As listings may skip threads, two of them have to agree that it left.
        gone = doubtful - set(listed.tolist())
        self._listed = len(gone) < len(doubtful)
        absent = gone - recorded
        self._lingering = doubtful - (absent & self._absent)
        self._absent = absent
        return reading if keep.all() else pick(reading, keep)

    def _compare(
        self, reading: Reading, now: Index, then: Index
    ) -> tuple[Reading, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Compare threads with their last rows.

        Returns:
            The reading, in which nothing falls behind what was given before; of each pair whether
            it differs, and whether the id stands for another thread than before.
        """
        last = self._last
        counters, before = reading.counters[now], last.counters[then]
        differs: npt.NDArray[np.bool_] = (counters != before).any(axis=1)
        # Starts are lower bounds: this thread began after the other one was seen.
        reborn: npt.NDArray[np.bool_] = reading.start_ns[now] > self._seen_ns[then]
        rows = np.flatnonzero(differs)
        fell = (counters[rows] < before[rows]) & self._states.rising
        if not (fell.any() or reading.invalid is not None) and (
            reading.absent is None and last.absent is None
        ):
            return reading, differs | _marked(last, then), reborn
        absent, was_absent = absent_mask(reading)[now], absent_mask(last)[then]
        if self._cpu is not None:
            given = ~absent[rows, self._cpu] & ~was_absent[rows, self._cpu]
            reborn[rows] |= fell[:, self._cpu] & given
        # A value once given is not taken back, whatever a source says: the last one stands until
        # there is a greater one. Otherwise sums would fall.
        stands = ~was_absent & (absent | (counters < before)) & ~reborn[:, None]
        stands &= self._states.rising
        # But for a value that turns out to be invalid: rows lack it, and sums go on with the last.
        lacking = absent & invalid_mask(reading)[now] & ~reborn[:, None]
        if stands.any() or lacking.any():
            corrected, masks = reading.counters.copy(), absent_mask(reading).copy()
            corrected[now] = counters = np.where(stands | lacking, before, counters)
            masks[now] = absent = absent & ~(stands & ~lacking)
            reading = replace(reading, counters=corrected, absent=masks if masks.any() else None)
        differs = ((counters != before) & ~absent).any(axis=1)
        differs |= (absent != was_absent).any(axis=1)
        return reading, differs | _marked(last, then), reborn

    def _unread(
        self,
        reading: Reading,
        listed: npt.NDArray[np.uint32],
        look: Look,
        events: list[TargetEvent],
    ) -> npt.NDArray[np.intp] | None:
        """Judge threads that are known and were not read.

        One that was listed may have ended since, or its answer was lost. One that was not listed
        may live all the same: while threads end, a listing of many may skip some (the kernel goes
        on by count where the thread at which a piece ended is gone; proc_task_readdir).

        Returns:
            Those rows of the last reading that stand on; None if there are none.
        """
        unread = self.threads.keys() - set(reading.tid.tolist())
        if not unread:
            return None
        there = set(listed.tolist())
        for tid in sorted(unread):
            if tid not in there and look(tid) is Presence.GONE:
                unread.discard(tid)
                self._vanished(tid, events)
        return np.flatnonzero(np.isin(self._last.tid, sorted(unread)))

    def _vanished(self, tid: int, events: list[TargetEvent]) -> None:
        thread = self.threads[tid]
        self._take_out(tid)
        row = self._last_row(tid)
        totals = self._last_totals(row)
        start_ns = thread.start_ns + self.attach_ns
        seen_ns = int(self._seen_ns[row])
        self._ended.vanished(tid, thread.name, totals, start_ns, seen_ns, thread.process)
        events.append(
            ThreadExited(
                tid=tid,
                start_ns=thread.start_ns,
                name=thread.name,
                totals=without_lacking(totals, self._last, row, self._states.summed),
                inexact=invalid_fields(self._last, row, self._states.summed),
                exact=False,
                seen_alive=True,
                pid=thread.process or None,
            )
        )

    def _take_out(self, tid: int) -> Thread | None:
        self._census = None
        return self.threads.pop(tid, None)

    def _replace_last(self, last: Reading) -> None:
        self._last, self._places, self._census = last, None, None

    def _totals(self, reading: Reading, row: int, now_ns: int) -> dict[str, int]:
        """Field name to the value of one row at an instant, for sums; absent ones are left out."""
        alone = self._states.at(pick(reading, slice(row, row + 1)), now_ns)
        return values(at_least(alone), 0, self._states.summed)

    def _last_totals(self, row: int) -> dict[str, int]:
        """What was known of a thread when it was seen last."""
        return self._totals(self._last, row, int(self._seen_ns[row]))

    def _last_row(self, tid: int) -> int:
        if self._places is None:
            self._places = {one: place for place, one in enumerate(self._last.tid.tolist())}
        return self._places[tid]

    def _born(self, reading: Reading, row: int, events: list[TargetEvent]) -> None:
        tid = int(reading.tid[row])
        inherited = self._inherited.of(tid)
        # Who executed a program has the main thread's start as well: identities are to differ.
        least_ns = 0 if inherited is None else inherited.seen_ns
        start_ns = max(int(reading.start_ns[row]), least_ns) - self.attach_ns
        thread = Thread(start_ns, text(bytes(reading.name[row])), process=_process(reading, row))
        self.threads[tid] = thread
        self._census = None
        events.append(
            ThreadBorn(
                tid=tid, start_ns=thread.start_ns, name=thread.name, pid=thread.process or None
            )
        )

    def _renamed(
        self, reading: Reading, now: Index, then: Index, events: list[TargetEvent]
    ) -> None:
        differs = reading.name[now] != self._last.name[then]
        rows = np.arange(len(reading.tid))[now][differs]
        before = np.arange(len(self._last.tid))[then][differs]
        for row, last in zip(rows.tolist(), before.tolist(), strict=True):
            tid, name = int(reading.tid[row]), text(bytes(reading.name[row]))
            thread = self.threads[tid]
            thread.comm = ""
            if thread.name != name:
                events.append(
                    ThreadRenamed(
                        tid=tid, name=name, previous=thread.name, pid=thread.process or None
                    )
                )
                self._ended.roles.renamed(thread.name, name, self._last_totals(last))
                thread.name = name
                self._census = None


def _process(reading: Reading, row: int) -> int:
    """The process of a thread; 0: the only one."""
    return 0 if reading.process is None else int(reading.process[row])


def _is_of_another(row: Mapping[str, int], record: Mapping[str, int]) -> bool:
    """Whether a row, brought up to date in place, is already of who took the id by execve(2)."""
    return row.get(CPU, 0) > record.get(CPU, 0) + _ROUNDING_NS and CPU in record


def _lifetime_ns(exits: Reading, row: int, inherited: Inherited | None) -> int | None:
    """How long a thread lived under its id."""
    if exits.age_us is None:
        return None
    age_ns, start_ns = 1000 * int(exits.age_us[row]), int(exits.start_ns[row])
    return age_ns if inherited is None else max(0, age_ns - (inherited.seen_ns - start_ns))


def _marked(last: Reading, rows: Index) -> npt.NDArray[np.bool_] | bool:
    """Rows that changed in place in a reading that was not taken in: a sample that failed."""
    return False if last.changed is None else last.changed[rows]
