"""Reading what the program counts beside ledgers, and keeping what threads that ended leave."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.hash_maps import HashMap
from tidscope_collector.ebpf.watched import Pids, Whose, are_of
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.counts import (
    Counts,
    Rows,
    counts_of_calls,
    counts_of_details,
    counts_of_edges,
)
from tidscope_collector.waits.ended import (
    Living,
    bounded,
    processes_of,
    without_dead,
    without_foreign,
)
from tidscope_collector.waits.names_of_processes import ProcessesByName
from tidscope_collector.waits.slots import (
    CALL_COUNT,
    CALL_KEY,
    EDGE,
    EDGE_KEY,
    NAME,
    SLOTS,
    TAKER_KEY,
    Indices,
    Ledgers,
    Slots,
)
from tidscope_collector.waits.states import State
from tidscope_collector.waits.tables import Table, tables_of

_MORE_EDGES, _MORE_TAKERS, _MORE_CALLS, _NAMES = 32768, 16384, 65536, 4096
_MANY_EDGES = _MORE_EDGES * 3 // 4
"""From so many on the rarest are taken out, and kept here."""
_MANY_TAKERS = _MORE_TAKERS // 16
"""From so many on all are taken out, and kept here by name."""
_MAX_NAMES = 2 * _NAMES
"""Processes whose name is kept; of more, those of the last reading stay."""
_MAX_LEFT = 1024
"""So many threads may end before what they left is added up; it takes 3 MB until then."""

_NO_EDGES = np.empty(0, EDGE_KEY), np.empty(0, EDGE)


class Counting:
    """What is counted for the threads of all processes. Not for several threads at once.

    Args:
        program: loaded.
        slots: structured array of SLOT, all of them.
        details: structured array of DETAIL.
        control: structured array of CONTROL, one row.
        procfs: root of /proc.
    """

    def __init__(
        self,
        program: libbpf.Program,
        slots: Slots,
        details: Slots,
        control: Slots,
        procfs: ProcFs,
    ) -> None:
        self._slots, self._details, self._control = slots, details, control
        self._procfs = procfs
        word = np.dtype("u8")
        self._edges = HashMap(program.map("edges"), EDGE_KEY, EDGE, _MORE_EDGES)
        self._takers = HashMap(program.map("takers"), TAKER_KEY, word, _MORE_TAKERS)
        self._calls = HashMap(program.map("call_counts"), CALL_KEY, CALL_COUNT, _MORE_CALLS)
        self._names = HashMap(program.map("names"), np.dtype([("pid", "u4")]), NAME, _NAMES)
        self.calls = False
        """Whether system calls have ever been counted."""
        self._call_names = names_of_calls(os.uname().machine)
        self._known_names: dict[int, tuple[str, bool]] = {}
        self._by_name = ProcessesByName(self._name)
        self._ended: dict[Whose, Counts] = {}
        """What threads left that have ended, of all that are counted for."""
        self._freed: dict[tuple[int, int], tuple[int, tuple[Whose, ...]]] = {}
        """By index and generation of a slot: its process, and whose it was."""
        self._left: dict[Whose, list[_Left]] = {}
        """Of threads that ended since what they left was added up."""

    def begin(self, whose: Whose) -> None:
        """Count for processes from now on; twice does no harm."""
        self._ended.setdefault(whose, Counts())

    def forget(self, whose: Whose) -> None:
        """Drop what threads of these processes left."""
        self._left.pop(whose, None)
        self._ended.pop(whose, None)

    def keep(
        self, indices: Indices, ns: npt.NDArray[np.uint64], leaving: Whose | None = None
    ) -> None:
        """Keep what threads that have ended leave; their slots are freed after this.

        Args:
            indices: of their slots.
            ns: uint64[n, STATES], their ledgers.
            leaving: whose they were until now, too; None: nobody's.
        """
        owners = self._slots["tgid"][indices]
        details = self._details[indices]
        owned = {
            whose: np.ones(len(owners), np.bool_) if whose is leaving else are_of(owners, whose)
            for whose in self._ended
        }
        for whose, mine in owned.items():
            if not mine.any():
                continue
            left = self._left.setdefault(whose, [])
            left.append(_Left(owners[mine], details[mine], ns[mine]))
            if sum(len(one.pids) for one in left) > _MAX_LEFT:
                self._keep_left(whose)
        if self._has_more():
            generations = self._slots["generation"][indices].astype(np.uint32).tolist()
            for row, key in enumerate(zip(indices.tolist(), generations, strict=True)):
                whose_all = tuple(whose for whose, mine in owned.items() if mine[row])
                self._freed[key] = int(owners[row]), whose_all

    def _keep_left(self, whose: Whose) -> None:
        """Add up what threads left that have ended lately: all of them at once."""
        self._read_names()
        if not isinstance(whose, int):
            for pid, name in whose.names().items():
                self._known_names[pid] = name, False
        left = self._left.pop(whose, None)
        if left is None:
            return
        pids = np.concatenate([one.pids for one in left]).astype(np.uint64)
        details = np.concatenate([one.details for one in left])
        ns = np.concatenate([one.ns for one in left])
        nobody = np.zeros(len(pids), np.uint64)
        counts = counts_of_details(details, nobody, pids, details["edges"], ns)
        living = processes_of(self._live_slots())
        self._keep(whose, replace(counts, queued=_queued(nobody, ns)), living)

    def tables(
        self, whose: Whose, read: Callable[[], tuple[Ledgers, Indices]]
    ) -> Iterator[dict[str, Table]]:
        """The tables of processes, one by one; see `tables_of`. All are of the first moment.

        Args:
            whose: the processes.
            read: reads their ledgers, and which slots these are of; none is freed meanwhile.

        Raises:
            BpfError: the kernel refused.
        """
        copied = self._copy(whose, read)
        yield {}
        own = counts_of_details(copied.details, copied.tids, copied.pids, copied.edges, copied.ns)
        yield {}
        counts = copied.ended.with_all(replace(own, queued=copied.queued), copied.more)
        yield {}
        counts = self._by_name.fold(counts, whose, copied.living)
        yield {}
        counts = without_foreign(counts, whose)
        yield from tables_of(
            counts, whose, self._by_name.describe, self._by_name.name, self._call_names
        )

    def _copy(self, whose: Whose, read: Callable[[], tuple[Ledgers, Indices]]) -> "_Copied":
        """Copy what the program writes to, and keep what those leave that have ended."""
        self._keep_left(whose)
        ledgers, indices = read()
        tids = np.where(ledgers.state == State.ENDED, 0, ledgers.tid).astype(np.uint64)
        tid_of = np.full(SLOTS, -1, np.int64)
        tid_of[indices] = tids
        details = self._details[indices]
        edges = details["edges"]
        keys, more_edges = self._edges.read() if self._has_more() else _NO_EDGES
        living = Living(self._live_slots())
        self._keep_dead_wakers(indices, tids, edges, living)
        more = self._read_more(tid_of, living, keys, more_edges) if self._has_more() else Counts()
        # After what ran meanwhile: that is never more than the time in run queues.
        later, places = read()
        row_of = np.empty(SLOTS, np.intp)
        row_of[places] = np.arange(len(places))
        ended = without_dead(self._ended.get(whose, Counts()), living)
        ended = self._ended[whose] = self._by_name.fold(ended, whose, living.pids)
        return _Copied(
            tids=tids,
            pids=self._slots["tgid"][indices].astype(np.uint64),
            ns=ledgers.ns,
            details=details,
            edges=edges,
            queued=_queued(tids, later.ns[row_of[indices]]),
            more=more,
            ended=ended,
            living=living.pids,
        )

    def _live_slots(self) -> Slots:
        """Those of threads that have not ended."""
        used = self._slots[: min(int(self._control["used"][0]), SLOTS)]
        live: Slots = used[["tgid", "tid"]][(used["tgid"] != 0) & (used["exit_ns"] == 0)]
        return live

    def _keep_dead_wakers(
        self,
        indices: Indices,
        tids: npt.NDArray[np.uint64],
        edges: Slots,
        living: Living,
    ) -> None:
        """Make room in slots: wake-ups by threads that have ended are kept here from now on."""
        row, at = np.nonzero(living.lack(edges["waker"]) & (edges["count"] != 0))
        if not len(row):
            return
        pids = self._slots["tgid"][indices[row]]
        self._keep_edges(pids.astype(np.uint64), tids[row], edges[row, at], living.pids)
        edges["count"][row, at] = 0
        shared = self._details["edges"]
        for name in ("blocked_ns", "delay_ns", "count"):  # the program claims what has no count
            shared[name][indices[row], at] = 0

    def _keep_edges(
        self,
        pids: npt.NDArray[np.uint64],
        tids: npt.NDArray[np.uint64],
        edges: Slots,
        living: Pids,
    ) -> None:
        """Keep wake-ups of these threads for all that count for them."""
        for whose in list(self._ended):
            mine = are_of(pids.astype(np.uint32), whose)
            if mine.any():
                counts = counts_of_edges(tids[mine], pids[mine], edges[mine])
                self._keep(whose, counts, living)

    def _keep(self, whose: Whose, counts: Counts, living: Pids) -> None:
        counts = self._by_name.fold(counts, whose, living)
        self._ended[whose] = bounded(self._ended.get(whose, Counts()).with_all(counts))

    def _has_more(self) -> bool:
        control = self._control
        return bool(control["more_edges"][0] or control["more_takers"][0] or self.calls)

    def _read_more(
        self,
        tid_of: npt.NDArray[np.int64],
        living: Living,
        keys: Slots,
        edges: Slots,
    ) -> Counts:
        """What stands in hash maps. What threads left that have ended is kept, and taken out."""
        found: list[Counts] = []
        rows, tids, pids = self._own(keys, tid_of)
        dead = living.lack(edges["waker"][rows])
        if len(keys) > _MANY_EDGES and len(rows):
            often = edges["count"][rows]
            dead |= often <= np.median(often)
        self._keep_edges(pids[dead], tids[dead], edges[rows[dead]], living.pids)
        self._edges.remove(keys[rows[dead]])
        found.append(counts_of_edges(tids[~dead], pids[~dead], edges[rows[~dead]]))
        for owners, gone, pids in self._gone(self._edges, keys):
            nobody = np.zeros(len(gone), np.uint64)
            self._keep(owners, counts_of_edges(nobody, pids, edges[gone]), living.pids)
        keys, sums = self._takers.read()
        rows, tids, pids = self._own(keys, tid_of)
        if len(keys) > _MANY_TAKERS:
            for owner in list(self._ended):
                mine = are_of(pids.astype(np.uint32), owner)
                counts = _counts_of_takers(tids[mine], keys[rows[mine]], sums[rows[mine]])
                self._keep(owner, counts, living.pids)
            self._takers.remove(keys[rows])
        else:
            found.append(_counts_of_takers(tids, keys[rows], sums[rows]))
        for owners, gone, _ in self._gone(self._takers, keys):
            nobody = np.zeros(len(gone), np.uint64)
            self._keep(owners, _counts_of_takers(nobody, keys[gone], sums[gone]), living.pids)
        if self.calls:
            keys, of_call = self._calls.read()
            rows, tids, _ = self._own(keys, tid_of)
            numbers = keys["call"].astype(np.uint64)
            found.append(counts_of_calls(tids, numbers[rows], of_call[rows]))
            for owners, gone, _ in self._gone(self._calls, keys):
                nobody = np.zeros(len(gone), np.uint64)
                counts = counts_of_calls(nobody, numbers[gone], of_call[gone])
                self._keep(owners, counts, living.pids)
        self._freed.clear()
        return Counts().with_all(*found)

    def _are_current(self, keys: Slots) -> npt.NDArray[np.bool_]:
        """Which rows are of threads that have their slots still."""
        slots = self._slots[["generation", "tgid"]][keys["index"]]
        same: npt.NDArray[np.bool_] = slots["generation"].astype(np.uint32) == keys["generation"]
        same &= slots["tgid"] != 0
        return same

    def _own(
        self, keys: Slots, tid_of: npt.NDArray[np.int64]
    ) -> tuple[Indices, npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Rows of slots that are meant, ids of their threads, and of their processes."""
        index = keys["index"]
        rows = np.flatnonzero(self._are_current(keys) & (tid_of[index] >= 0))
        mine = index[rows]
        return rows, tid_of[mine].astype(np.uint64), self._slots["tgid"][mine].astype(np.uint64)

    def _gone(
        self, source: HashMap, keys: Slots
    ) -> list[tuple[Whose, Indices, npt.NDArray[np.uint64]]]:
        """Rows of slots freed since: whose, rows, their processes. They are taken out."""
        gone = np.flatnonzero(~self._are_current(keys))
        if not len(gone):
            return []
        found: dict[Whose, list[tuple[int, int]]] = {}
        indices, generations = keys["index"][gone].tolist(), keys["generation"][gone].tolist()
        for row, key in zip(gone.tolist(), zip(indices, generations, strict=True), strict=True):
            pid, owners = self._freed.get(key, (0, ()))
            for whose in owners:
                if whose in self._ended:
                    found.setdefault(whose, []).append((row, pid))
        source.remove(keys[gone])
        return [
            (
                whose,
                np.array([row for row, _ in rows], np.intp),
                np.array([pid for _, pid in rows], np.uint64),
            )
            for whose, rows in found.items()
        ]

    def _read_names(self) -> None:
        if len(self._known_names) > _MAX_NAMES:
            self._known_names = dict(list(self._known_names.items())[_NAMES:])
        keys, names = self._names.read()
        for pid, comm, kernel in zip(
            keys["pid"].tolist(), names["comm"].tolist(), names["kernel"].tolist(), strict=True
        ):
            self._known_names[pid] = comm.decode("utf-8", "replace"), bool(kernel)
        self._names.remove(keys)

    def _name(self, pid: int) -> tuple[str, bool]:
        known = self._known_names.get(pid)
        if known is None:
            try:
                # Of a build's processes most have ended by now: less than failing to open a file.
                os.kill(pid, 0)
            except ProcessLookupError:
                return "", False
            except OSError:
                pass  # it is there
            try:
                comm = self._procfs.read(f"{pid}/comm", 64).decode("utf-8", "replace").strip()
            except OSError:
                return "", False
            known = self._known_names[pid] = comm, False
        return known


def _queued(tids: npt.NDArray[np.uint64], ns: npt.NDArray[np.uint64]) -> Rows:
    return Rows((tids,), (ns[:, State.PREEMPTED] + ns[:, State.WOKEN],))


class _Copied(NamedTuple):
    """What is counted for the threads of some processes, at one moment.

    Attributes:
        tids: uint64[n]; 0 for threads that have ended.
        pids: uint64[n], their processes.
        ns: uint64[n, STATES], their ledgers.
        details: structured array of DETAIL, n rows.
        edges: structured array of EDGE, n rows: those of the details, but for wakers that ended.
        queued: (tid) to (ns), all the time in run queues.
        more: what stood beside the slots.
        ended: what threads left that have ended.
        living: uint32[m], ascending: processes with threads that are counted for.
    """

    tids: npt.NDArray[np.uint64]
    pids: npt.NDArray[np.uint64]
    ns: npt.NDArray[np.uint64]
    details: Slots
    edges: Slots
    queued: Rows
    more: Counts
    ended: Counts
    living: Pids


class _Left(NamedTuple):
    """What threads left that have ended: their processes, details and ledgers."""

    pids: npt.NDArray[np.uint32]
    details: Slots
    ns: npt.NDArray[np.uint64]


def _counts_of_takers(tids: npt.NDArray[np.uint64], keys: Slots, sums: Slots) -> Counts:
    return Counts(takers=Rows((tids, keys["who"]), (sums.view(np.uint64),)))
