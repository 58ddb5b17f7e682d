"""The counters of all threads of many processes, by each of the ways in which they can be read."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField, CountersSource

from tidscope_collector.ebpf.watched import Pids, are_in
from tidscope_collector.groups.walks import GroupWalks
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.thread_reader import ProcThreadReader
from tidscope_collector.sampling.readings import empty, join
from tidscope_collector.taskstats.columns import is_delay
from tidscope_collector.taskstats.reader import BatchQuery, TaskstatsReader
from tidscope_collector.threads.reading import Reading, TargetExitedError
from tidscope_collector.walk.block import DELAYS, Columns
from tidscope_collector.walk.crosscheck import CrossCheck, Walked

_ROOM = 4096
_NOBODY = np.empty(0, np.uint32)


class GroupCounters(Protocol):
    """A way to read the threads of many processes.

    Attributes:
        source: what it is called.
        fields: names in the field catalogue, in column order.
        absent: fields of the catalogue (scope thread) that it does not give, with reasons.
        asked: about how many threads the kernel was asked one by one for the last reading.
        executed: uint32[n], ids of processes that may have executed a program since the last one.
    """

    executed: Pids

    @property
    def source(self) -> CountersSource: ...

    @property
    def fields(self) -> tuple[str, ...]: ...

    @property
    def absent(self) -> tuple[AbsentField, ...]: ...

    @property
    def asked(self) -> int: ...

    def read(self, pids: Pids) -> Reading:
        """Read all threads of these processes; those that have gone are left out.

        Args:
            pids: uint32[m], ascending.

        Returns:
            A reading with the process of each thread.

        Raises:
            OSError: the kernel answered nonsense.
        """

    def close(self) -> None:
        """Close what is open; twice does no harm."""


class GroupTaskstats(TaskstatsReader):
    """A `ThreadReader` over taskstats for the threads of several processes.

    Args:
        query: shared by all targets.
        believed: uint32[m], ascending: ids of processes whose threads are wanted.
        delay_accounting, delays_from_ns, network: as for `TaskstatsReader`.
    """

    def __init__(
        self,
        query: BatchQuery,
        believed: Callable[[], Pids],
        *,
        delay_accounting: bool,
        delays_from_ns: int,
        network: bool,
    ) -> None:
        super().__init__(
            query,
            0,
            delay_accounting=delay_accounting,
            delays_from_ns=delays_from_ns,
            network=network,
        )
        self._believed = believed

    def _is_own(self, processes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
        return are_in(processes, self._believed())

    def _named(self, processes: npt.NDArray[np.uint32] | None) -> npt.NDArray[np.uint32] | None:
        return processes


class AskedCounters:
    """`GroupCounters` by listing the threads of each process in /proc and asking for all of them.

    Args:
        procfs: root of /proc.
        reader: over taskstats.
    """

    source: CountersSource = "genetlink"

    def __init__(self, procfs: ProcFs, reader: GroupTaskstats) -> None:
        self._procfs = procfs
        self._reader = reader
        self.executed = _NOBODY
        self.asked = 0

    @property
    def fields(self) -> tuple[str, ...]:
        return self._reader.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._reader.absent

    def read(self, pids: Pids) -> Reading:
        """See `GroupCounters`."""
        tids, owners = list_threads(self._procfs, pids)
        self.asked = len(tids)
        reading = self._reader.read(tids)
        order = np.argsort(tids, kind="stable")
        at = order[np.searchsorted(tids, reading.tid, sorter=order)]
        # What is there may stand in the buffer that the next query writes over.
        return replace(reading, tid=reading.tid.copy(), process=owners[at])

    def close(self) -> None:
        """Nothing is open."""


class ListedCounters:
    """`GroupCounters` from the files of /proc, process by process.

    Args:
        procfs: root of /proc.
        pid: of any of the processes.
        why: there is no taskstats.

    Raises:
        TargetExitedError: that process has ended.
    """

    source: CountersSource = "procfs"

    def __init__(self, procfs: ProcFs, pid: int, why: str) -> None:
        self._procfs = procfs
        self._why = why
        first = ProcThreadReader(procfs, pid, why)
        self.fields, self.absent = first.fields, first.absent
        first.close()
        self.executed = _NOBODY
        self.asked = 0

    def read(self, pids: Pids) -> Reading:
        """See `GroupCounters`."""
        parts: list[Reading] = []
        for pid in pids.tolist():
            tids, owners = list_threads(self._procfs, np.array([pid], np.uint32))
            try:
                reader = ProcThreadReader(self._procfs, pid, self._why)
            except TargetExitedError:
                continue
            try:
                reading = reader.read(tids)
            except TargetExitedError:
                continue
            finally:
                reader.close()
            parts.append(replace(reading, process=owners[: len(reading.tid)]))
        self.asked = sum(len(part.tid) for part in parts)
        nothing = replace(empty(len(self.fields)), process=np.empty(0, np.uint32))
        return join(parts or [nothing])

    def close(self) -> None:
        """Nothing is open."""


class WalkedCounters:
    """`GroupCounters` by one walk of the kernel over all threads, checked by taskstats.

    While threads stay the same, readings are updated in place; see `Reading.changed`.

    Args:
        walks: over many processes.
        reader: over taskstats: gives fields and absent ones, and is asked about some threads.
    """

    source: CountersSource = "walk"

    def __init__(self, walks: GroupWalks, reader: GroupTaskstats) -> None:
        self._walks = walks
        self._reader = reader
        self._check = CrossCheck(reader, _NOBODY)
        self.executed = _NOBODY
        self._width = len(reader.fields)
        self._delays = np.array([is_delay(name) for name in reader.fields], np.bool_)
        self._now = Columns(self._width, _ROOM)
        self._then: Columns | None = None
        self._last: Reading | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        return self._reader.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._reader.absent

    @property
    def asked(self) -> int:
        return self._check.asked

    def read(self, pids: Pids) -> Reading:
        """See `GroupCounters`.

        Raises:
            DisagreementError: the walk, or the one before it, says otherwise than taskstats.
        """
        before = time.monotonic_ns()
        now, count, owners = self._walks.read(pids, self._now)
        self._now = now
        same = self._are_same(now, count, owners)
        # As another than the main thread, whose id and start that thread then takes over.
        self._check.mains = self.executed
        counters = now.counters[: self._width, :count].T
        if count:
            self._check.check(Walked(now.tid[:count], now.start_ns[:count], counters), same=same)
        # An id stood for its thread when this was visited: not before it began, nor before now.
        seen = np.maximum(now.start_ns[:count], before)
        last = self._last
        if last is not None and same and self._updated(last, now, count):
            self._last = replace(last, seen_ns=seen)
        else:
            self._then, self._now = now, Columns(self._width, now.room)
            self._last = Reading(
                now.tid[:count],
                counters,
                self._absent(now.state[:count]),
                now.start_ns[:count],
                now.comm[:count].view("S16").reshape(-1),
                seen_ns=seen,
                changed=np.zeros(count, np.bool_),
                process=owners,
            )
        return self._last

    def _are_same(self, now: Columns, count: int, owners: Pids) -> bool:
        """Whether the threads are those of the last reading, and nobody executed a program."""
        then, last = self._then, self._last
        return (
            then is not None
            and last is not None
            and last.process is not None
            and count == len(last.tid)
            and not len(self.executed)
            and now.same_threads(count, then)
            and np.array_equal(now.state[:count] & DELAYS, then.state[:count] & DELAYS)
            and np.array_equal(owners, last.process)
        )

    def _updated(self, last: Reading, now: Columns, count: int) -> bool:
        """Bring the last reading up to date, which has the same threads, unless something fell."""
        then, changed = self._then, last.changed
        if then is None or changed is None:
            return False
        counters, before = now.counters[:, :count], then.counters[:, :count]
        if (counters < before).any():
            return False
        changed |= (counters != before).any(axis=0)
        before[:] = counters
        return True

    def _absent(self, state: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_] | None:
        without = state & DELAYS == 0
        if not (self._delays.any() and without.any()):
            return None
        absent: npt.NDArray[np.bool_] = without[:, None] & self._delays
        return absent

    def close(self) -> None:
        """Nothing is open."""


def list_threads(procfs: ProcFs, pids: Pids) -> tuple[npt.NDArray[np.uint32], Pids]:
    """The threads of processes.

    Args:
        procfs: root of /proc.
        pids: uint32[m].

    Returns:
        uint32[n], ids of threads; uint32[n], those of their processes.
    """
    tids: list[int] = []
    owners: list[int] = []
    for pid in pids.tolist():
        try:
            names = os.listdir(procfs.path(f"{pid}/task"))
        except OSError:
            continue
        tids += [int(name) for name in names]
        owners += [pid] * len(names)
    return np.array(tids, np.uint32), np.array(owners, np.uint32)
