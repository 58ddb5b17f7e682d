"""Exit records of a group's threads, with all the time that each was on a CPU."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidscope_collector.groups.counters import GroupTaskstats
from tidscope_collector.groups.members import BELIEVED_NS
from tidscope_collector.groups.membership import Membership
from tidscope_collector.sampling.exit_cpu import CPU, with_tick_time
from tidscope_collector.sampling.exit_status import LAST_OF_PROCESS
from tidscope_collector.sampling.readings import text
from tidscope_collector.taskstats.columns import member
from tidscope_collector.taskstats.exits import LATE_NS
from tidscope_collector.threads.matching import rows_of_both
from tidscope_collector.threads.reading import Reading

_SAME_START_NS = 10_000_000
"""The start of a record's thread comes from an age: it is that of a walk's within so much."""
_MOST = 65_536
"""Threads of which one account is kept that waits for the other; more are forgotten."""


class Late(NamedTuple):
    """What a thread used more than was said with its end.

    Attributes:
        name: its comm.
        process: id of its process.
        cpu_ns: on a CPU.
    """

    name: str
    process: int
    cpu_ns: int


class GroupExits:
    """An `ExitDecoder` that knows those who were born and ended since the last sample.

    The kernel sends a record while the thread still runs, with its time on a CPU up to the last
    tick; that up to its last switch comes a little later, by eBPF, if it is reported at all.

    Args:
        base: decodes records.
        membership: of the group.

    Attributes:
        seen: the last reading of living threads; None: there is none.
    """

    def __init__(self, base: GroupTaskstats, membership: Membership) -> None:
        self.seen: Reading | None = None
        membership.members.drained_ns = 0
        self._base = base
        self._membership = membership
        self._cpu = base.fields.index(CPU) if CPU in base.fields else None
        self._whole: dict[int, int] = {}
        """By thread id: time on a CPU of those whose records have not come."""
        self._open: dict[int, Late] = {}
        """By thread id: what was said of those whose whole time is not known yet."""
        self._late: list[Late] = []
        self._decoded_ns: int | None = None
        """CLOCK_MONOTONIC before the drain that was decoded last."""
        self._ages: dict[int, tuple[int, int]] = {}
        """By process id: the least age of its last records, and CLOCK_MONOTONIC of its end."""

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of exit records; see `TaskstatsReader.decode`."""
        # A birth is reported before the end's record is sent: whoever is in these is known now.
        self._membership.update()
        self._settle()
        words = self._without_later(words, before)
        reading = self._base.decode(words, before[: len(words)])
        if len(before):
            self._membership.members.drained_ns = int(before[0])
        if reading.process is None:
            reading = replace(reading, process=np.zeros(len(reading.tid), np.uint32))
        if self._cpu is None or self._membership.discovery != "ebpf" or reading.process is None:
            return with_tick_time(reading, self._base.fields)
        counters = reading.counters.copy()
        self._raise_to_seen(reading, counters[:, self._cpu])
        said = counters[:, self._cpu].tolist()
        processes = reading.process.tolist()
        for row, (tid, process) in enumerate(zip(reading.tid.tolist(), processes, strict=True)):
            whole = self._whole.pop(tid, None)
            if whole is not None:
                counters[row, self._cpu] = max(said[row], whole)
            elif len(self._open) < _MOST:
                self._open[tid] = Late(text(bytes(reading.name[row])), process, said[row])
        return replace(reading, counters=counters)

    def _without_later(
        self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint64]:
        """Leave out the records of a later process that has got the id of a member that ended.

        The record of a process's last thread says how old the process was. Records that come with
        it or later are of threads that ended after the drain before, so the process was hardly
        younger then.
        """
        if not len(words):
            return words
        now_ns, since_ns = int(before[0]), self._decoded_ns
        self._decoded_ns = now_ns
        layout = self._base.query.kernel.layout
        if since_ns is None or "ac_tgetime" not in layout.offsets:
            return words
        pids = member(words, layout, "ac_tgid")
        ages = words[:, layout.offsets["ac_tgetime"] // 8].astype(np.int64) * 1000
        least = ages - (now_ns - since_ns) - LATE_NS
        last = (member(words, layout, "ac_flag") & LAST_OF_PROCESS) != 0
        for row in np.flatnonzero(last & (least > 0)).tolist():
            pid, age_ns = int(pids[row]), int(least[row])
            if age_ns > self._ages.get(pid, (0, 0))[0]:
                self._ages[pid] = age_ns, now_ns
        alive = self._membership.members.alive
        kept = np.ones(len(words), np.bool_)
        for pid, (age_ns, ended_ns) in list(self._ages.items()):
            # A later process may be a member, too. Afterwards no record of that id is believed.
            if pid in alive or now_ns - ended_ns > BELIEVED_NS:
                del self._ages[pid]
            else:
                kept &= (pids != pid) | (ages >= age_ns)
        return words if kept.all() else words[kept]

    def _raise_to_seen(self, reading: Reading, cpu_ns: npt.NDArray[np.uint64]) -> None:
        """A thread that has sent its record runs on, and may have been seen with more than it said.

        Args:
            reading: of records.
            cpu_ns: what they say; becomes what is known.
        """
        if self.seen is None or self._cpu is None:
            return
        here, there = rows_of_both(reading.tid, self.seen.tid)
        apart_ns = np.abs(reading.start_ns[here] - self.seen.start_ns[there])
        found = np.where(
            apart_ns < _SAME_START_NS, self.seen.counters[there, self._cpu], np.uint64(0)
        )
        cpu_ns[here] = np.maximum(cpu_ns[here], found)

    def _settle(self) -> None:
        for tid, run_ns in self._membership.take_done():
            said = self._open.pop(tid, None)
            if said is None:
                if len(self._whole) >= _MOST:
                    self._whole.clear()
                self._whole[tid] = run_ns
            elif run_ns > said.cpu_ns:
                self._late.append(said._replace(cpu_ns=run_ns - said.cpu_ns))

    def take_late(self) -> list[Late]:
        """What ended threads used more than was said with their ends, since this was asked last."""
        self._settle()
        late, self._late = self._late, []
        return late
