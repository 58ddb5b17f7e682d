"""Reading what the program counts beside ledgers, and keeping what threads that ended leave."""

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.hash_maps import HashMap
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.counts import (
    Counts,
    Rows,
    counts_of_calls,
    counts_of_details,
    counts_of_edges,
)
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
from tidscope_collector.waits.tables import Table, as_tables
from tidscope_collector.waits.takers import TakersByName

_MORE_EDGES, _MORE_TAKERS, _MORE_CALLS, _NAMES = 32768, 16384, 65536, 4096
_MANY_EDGES = _MORE_EDGES * 3 // 4
"""From so many on the rarest are taken out, and kept here."""
_MANY_TAKERS = _MORE_TAKERS // 16
"""From so many on all are taken out, and kept here by name."""
_KEPT_ROWS = 16384
"""Of wake-ups of threads that have ended; of more, the rarest are added up by process."""
_MOST_LEFT = 1024
"""So many threads may end before what they left is added up; it takes 3 MB until then."""

_PID = np.uint64(32)
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
        self._takers_by_name = TakersByName(self._name)
        self._ended: dict[int, Counts] = {}
        self._freed: dict[tuple[int, int], int] = {}
        self._left: list[tuple[Slots, Slots, npt.NDArray[np.uint64]]] = []
        """Of threads that ended since tables were read: their processes, details and ledgers."""

    def forget(self, pid: int) -> None:
        """Drop what threads of a process left."""
        self._keep_left()
        self._ended.pop(pid, None)

    def keep(self, indices: Indices, ns: npt.NDArray[np.uint64]) -> None:
        """Keep what threads that have ended leave; their slots are freed after this.

        Args:
            indices: of their slots.
            ns: uint64[n, STATES], their ledgers.
        """
        owners = self._slots["tgid"][indices]
        self._left.append((owners, self._details[indices], ns))
        if sum(len(one) for one, _, _ in self._left) > _MOST_LEFT:
            self._keep_left()
        if self._has_more():
            generations = self._slots["generation"][indices].astype(np.uint32)
            keys = zip(indices.tolist(), generations.tolist(), strict=True)
            self._freed.update(zip(keys, owners.tolist(), strict=True))

    def _keep_left(self) -> None:
        """Add up what threads left that have ended lately: all of them at once."""
        if not self._left:
            return
        owners, details, ns = (np.concatenate(column) for column in zip(*self._left, strict=True))
        self._left.clear()
        for pid in np.unique(owners).tolist():
            mine = np.flatnonzero(owners == pid)
            nobody = np.zeros(len(mine), np.uint64)
            counts = counts_of_details(details, mine, nobody, details["edges"][mine], ns[mine])
            self._keep(pid, replace(counts, queued=_queued(nobody, ns[mine])))

    def tables(self, pid: int, read: Callable[[], tuple[Ledgers, Indices]]) -> dict[str, Table]:
        """The tables of a process; see `as_tables`.

        Args:
            pid: the process.
            read: reads its ledgers, and which slots these are of; none is freed meanwhile.

        Raises:
            BpfError: the kernel refused.
        """
        self._keep_left()
        ledgers, indices = read()
        tids = np.where(ledgers.state == State.ENDED, 0, ledgers.tid).astype(np.uint64)
        tid_of = np.full(SLOTS, -1, np.int64)
        tid_of[indices] = tids
        own_edges = self._edges_of(indices)
        keys, edges = self._edges.read() if self._has_more() else _NO_EDGES
        living = self._living(pid)
        self._keep_dead_wakers(pid, indices, tids, own_edges, living)
        more = self._read_more(pid, tid_of, living, keys, edges) if self._has_more() else Counts()
        own = counts_of_details(self._details, indices, tids, own_edges, ledgers.ns)
        # After what ran meanwhile: that is never more than the time in run queues.
        later, places = read()
        row_of = np.empty(SLOTS, np.intp)
        row_of[places] = np.arange(len(places))
        own = replace(own, queued=_queued(tids, later.ns[row_of[indices]]))
        ended = _without_dead(self._ended.get(pid, Counts()), pid, living)
        self._ended[pid] = ended
        self._read_names()
        counts = self._takers_by_name.fold(ended.with_all(own, more), pid)
        return as_tables(counts, pid, self._name, self._takers_by_name.name, self._call_names)

    def _living(self, pid: int) -> npt.NDArray[np.uint64]:
        """Ids of threads that have a slot now, ascending."""
        used = self._slots[: min(int(self._control["used"][0]), SLOTS)]
        mine = used[(used["tgid"] == pid) & (used["exit_ns"] == 0)]
        return np.unique(mine["tid"]).astype(np.uint64)

    def _keep_dead_wakers(
        self,
        pid: int,
        indices: Indices,
        tids: npt.NDArray[np.uint64],
        edges: Slots,
        living: npt.NDArray[np.uint64],
    ) -> None:
        """Make room in slots: wake-ups by threads that have ended are kept here from now on."""
        row, at = np.nonzero(_is_dead(edges["waker"], pid, living) & (edges["count"] != 0))
        if not len(row):
            return
        self._keep(pid, counts_of_edges(tids[row], edges[row, at]))
        edges["count"][row, at] = 0
        shared = self._details["edges"]
        for name in ("blocked_ns", "delay_ns", "count"):  # the program claims what has no count
            shared[name][indices[row], at] = 0

    def _keep(self, pid: int, counts: Counts) -> None:
        counts = self._takers_by_name.fold(counts, pid)
        self._ended[pid] = _bounded(self._ended.get(pid, Counts()).with_all(counts))

    def _edges_of(self, indices: Indices) -> Slots:
        copies: Slots = self._details["edges"][indices]
        return copies

    def _has_more(self) -> bool:
        control = self._control
        return bool(control["more_edges"][0] or control["more_takers"][0] or self.calls)

    def _read_more(
        self,
        pid: int,
        tid_of: npt.NDArray[np.int64],
        living: npt.NDArray[np.uint64],
        keys: Slots,
        edges: Slots,
    ) -> Counts:
        """What stands in hash maps. What threads left that have ended is kept, and taken out."""
        found = []
        for owner, tids, rows in self._by_owner(self._edges, keys, pid, tid_of):
            dead = np.zeros(len(rows), np.bool_)
            if not owner:
                dead = _is_dead(edges["waker"][rows], pid, living)
                if len(keys) > _MANY_EDGES:
                    often = edges["count"][rows]
                    dead |= often <= np.median(often)
                self._keep(pid, counts_of_edges(tids[dead], edges[rows[dead]]))
                self._edges.remove(keys[rows[dead]])
            found.append((owner, counts_of_edges(tids[~dead], edges[rows[~dead]])))
        keys, sums = self._takers.read()
        for owner, tids, rows in self._by_owner(self._takers, keys, pid, tid_of):
            who, ns = keys["who"][rows], sums[rows].view(np.uint64)
            counts = Counts(takers=Rows((tids, who), (ns,)))
            if not owner and len(keys) > _MANY_TAKERS:
                self._keep(pid, counts)
                self._takers.remove(keys[rows])
                continue
            found.append((owner, counts))
        if self.calls:
            keys, counts_of_call = self._calls.read()
            for owner, tids, rows in self._by_owner(self._calls, keys, pid, tid_of):
                calls = keys["call"][rows].astype(np.uint64)
                found.append((owner, counts_of_calls(tids, calls, counts_of_call[rows])))
        self._freed.clear()
        for owner, counts in found:
            if owner:
                self._keep(owner, counts)
        return Counts().with_all(*(counts for owner, counts in found if not owner))

    def _by_owner(
        self, source: HashMap, keys: Slots, pid: int, tid_of: npt.NDArray[np.int64]
    ) -> list[tuple[int, npt.NDArray[np.uint64], Indices]]:
        """Rows of the process' slots (owner 0) and of slots freed since: owner, tids, rows."""
        index = keys["index"]
        current = self._slots["generation"][index].astype(np.uint32) == keys["generation"]
        used = self._slots["tgid"][index] != 0
        mine = np.flatnonzero(current & used & (tid_of[index] >= 0))
        found = [(0, tid_of[index[mine]].astype(np.uint64), mine)]
        gone = np.flatnonzero(~(current & used))
        if len(gone):
            pairs = zip(index[gone].tolist(), keys["generation"][gone].tolist(), strict=True)
            owners = np.array([self._freed.get(pair, 0) for pair in pairs], np.int64)
            for owner in np.unique(owners[owners > 0]).tolist():
                rows = gone[owners == owner]
                found.append((owner, np.zeros(len(rows), np.uint64), rows))
            source.remove(keys[gone])
        return found

    def _read_names(self) -> None:
        if len(self._known_names) > _KEPT_ROWS:
            self._known_names.clear()
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


def _is_dead(
    wakers: npt.NDArray[np.uint64], pid: int, living: npt.NDArray[np.uint64]
) -> npt.NDArray[np.bool_]:
    """Whether wakers are threads of the process that have ended."""
    tids = wakers & np.uint64(0xFFFFFFFF)
    dead: npt.NDArray[np.bool_] = (wakers >> _PID == np.uint64(pid)) & (tids != 0)
    return dead & ~np.isin(tids, living)


def _without_dead(counts: Counts, pid: int, living: npt.NDArray[np.uint64]) -> Counts:
    """The thread id 0 in place of threads that have ended."""
    tid, waker, address = counts.edges.keys
    tid = np.where(np.isin(tid, living), tid, np.uint64(0))
    (waiter, who), sums = counts.takers.keys, counts.takers.values
    takers = Rows((np.where(np.isin(waiter, living), waiter, np.uint64(0)), who), sums)
    waker = np.where(_is_dead(waker, pid, living), waker >> _PID << _PID, waker)
    edges = Rows((tid, waker, address), counts.edges.values)
    return replace(counts, edges=edges, takers=takers).with_all()


def _bounded(counts: Counts) -> Counts:
    """At most so many rows of each kind that grows with what threads did."""
    edges = counts.edges
    if len(edges.keys[0]) <= _KEPT_ROWS:
        return counts
    least = np.argsort(edges.values[0])[: len(edges.keys[0]) - _KEPT_ROWS // 2]
    tid, waker, address = (column.copy() for column in edges.keys)
    waker[least] = waker[least] >> _PID << _PID
    address[least] = 0
    return replace(counts, edges=Rows((tid, waker, address), edges.values)).with_all()
