"""Ledgers of processes as the native sampler reads them, at once, for tests of what they say."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from engines import engine_of
from followed_target import Follower
from frame_queues import TakenFrames
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.targets.sources import Sources
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.waits.states import State
from tidscope_collector.waits.wire_tables import (
    IDLE,
    INTERRUPT,
    UNKNOWN,
    LedgerTables,
    columns_of,
    keys_of,
)
from tidscope_wire.generated.models import Process, Target
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

RATE_HZ = 10
PATIENCE_S = 60.0
CALL_NAMES = names_of_calls("x86_64")
Table = npt.NDArray[np.void]


@dataclass(frozen=True)
class Ledgers:
    """Ledgers of n living threads, ascending by thread ID.

    Attributes:
        tid: uint32[n].
        ns: uint64[n, STATES], nanoseconds of finished stays by number of the state.
        state: uint8[n], the state of each thread.
        since_ns: int64[n], CLOCK_MONOTONIC since when.
        read_ns: CLOCK_MONOTONIC just before they were read.
    """

    tid: npt.NDArray[np.uint32]
    ns: npt.NDArray[np.uint64]
    state: npt.NDArray[np.uint8]
    since_ns: npt.NDArray[np.int64]
    read_ns: int

    @property
    def began_ns(self) -> npt.NDArray[np.int64]:
        """int64[n], CLOCK_MONOTONIC since when each ledger is kept."""
        began: npt.NDArray[np.int64] = self.since_ns - self.ns.sum(axis=1).astype(np.int64)
        return began

    def at(self, now_ns: int) -> npt.NDArray[np.uint64]:
        """Nanoseconds in each state with the stays under way, up to `now_ns`."""
        ns = self.ns.copy()
        open_ns = np.maximum(now_ns - self.since_ns, 0).astype(np.uint64)
        ns[np.arange(len(ns)), self.state] += open_ns
        return ns

    def find(self, tids: npt.NDArray[np.uint32]) -> npt.NDArray[np.intp]:
        """The row of each thread."""
        rows = np.searchsorted(self.tid, tids)
        assert (self.tid[rows] == tids).all()
        return rows


class LedgerKeeper:
    """Keeps ledgers of processes by the real sampler.

    Args:
        calls: count system calls, too.
    """

    def __init__(self, *, calls: bool = False) -> None:
        options = LedgerOptions(calls=calls)
        self._sources = Sources(ProcFs(), network="none", ledger=options)
        assert self._sources.ledger.reason is None, self._sources.ledger.reason
        self._frames = TakenFrames(self._sources.native)
        self._engine, self._targets = engine_of(self._sources)
        self._engine.start()
        self._watched: dict[int, tuple[str, Follower]] = {}
        self._processes: dict[int, Process] = {}

    def close(self) -> None:
        self._engine.stop()
        self._sources.close()

    def watch(self, pid: int) -> Target:
        """Begin ledgers of a process."""
        target, _ = self._targets.attach(pid, None, RATE_HZ)
        self._watched[pid] = target.id, Follower()
        self._processes[pid] = target.process
        return target

    def forget(self, pid: int) -> None:
        """Keep its ledgers no more."""
        target, _ = self._watched.pop(pid)
        self._targets.detach(target)
        while not self._frames.empty():
            self._frames.get(0)

    def read(self, pid: int) -> Ledgers:
        """Read the ledgers of all living threads now."""
        target, follower = self._watched[pid]
        last = self._targets.flush(target).seq
        header = follower.header
        while header is None or header.seq < last:
            header = follower.take(self._frames.get(PATIENCE_S))
        sampler = self._engine.submit(lambda: self._engine.find(target)).result()
        tids = sorted(tid for tid, row in follower.rows.items() if STATE in row)
        rows = [follower.rows[tid] for tid in tids]
        ns = np.zeros((len(rows), len(State)), np.uint64)
        # A kernel that does not tell who is throttled has no field of that state, the last one.
        names = [name for name in STATE_FIELDS if name in self._sources.ledger.fields]
        ns[:, State.ON_CPU : State.ON_CPU + len(names)] = [
            [row[name] for name in names] for row in rows
        ]
        return Ledgers(
            np.array(tids, np.uint32),
            ns,
            np.array([row[STATE] for row in rows], np.uint8),
            np.array([row[SINCE] + sampler.attach_ns for row in rows], np.int64),
            header.time_ns + sampler.attach_ns,
        )

    @contextmanager
    def wire_tables(self, pid: int) -> Iterator[LedgerTables]:
        """The tables beside the ledgers as frames have them."""
        target, _ = self._watched[pid]
        process = self._processes[pid]
        made = self._sources.ledger.tables(self._sources.native, target, process)
        assert made is not None
        try:
            yield made
        finally:
            made.close()

    @property
    def threads_without_slot(self) -> int:
        """Threads without a ledger, by the last frame."""
        headers = [one.header for _, one in self._watched.values() if one.header is not None]
        return max((one.health.ledger_threads_uncounted for one in headers), default=0)

    def tables(self, pid: int) -> dict[str, Table]:
        """Tables beside the ledgers: locks by address, and names as text."""
        target, _ = self._watched[pid]
        read = self._sources.native.wait_tables(target)
        assert read is not None
        raw, names = read[0], {key: name for key, name, *_ in read[1]}
        made = {name: columns_of(table) for name, table in raw.items()}
        texts = {
            "wakes": ("waker_name", _wakers(made, names)),
            "takers": ("name", _takers(made, names)),
            "calls": ("name", [CALL_NAMES[one] for one in _list(made, "calls", "call")]),
        }
        tables = {}
        for name, columns in made.items():
            kinds: list[tuple[str, npt.DTypeLike]]
            kinds = [(column, values.dtype) for column, values in columns.items()]
            if name in texts:
                kinds.append((texts[name][0], np.dtype(object)))
            table = np.empty(len(next(iter(columns.values()))), kinds)
            for column, values in columns.items():
                table[column] = values
            if name in texts:
                column, named = texts[name]
                table[column] = named
            tables[name] = table
        return tables


Made = dict[str, dict[str, npt.NDArray[np.uint64]]]


def _list(made: Made, name: str, column: str) -> list[int]:
    return made[name][column].tolist() if name in made else []


def _wakers(made: Made, names: dict[int, str]) -> list[str]:
    if "wakes" not in made:
        return []
    return [names.get(key, INTERRUPT) for key in keys_of(made["wakes"], "waker_pid")]


def _takers(made: Made, names: dict[int, str]) -> list[str]:
    if "takers" not in made:
        return []
    rows = zip(keys_of(made["takers"], "pid"), _list(made, "takers", "kernel"), strict=True)
    return [names.get(key, "") if key else IDLE if kernel else UNKNOWN for key, kernel in rows]


@contextmanager
def ledger_keeper(*, calls: bool = False) -> Iterator[LedgerKeeper]:
    """A keeper for the time of a test."""
    made = LedgerKeeper(calls=calls)
    try:
        yield made
    finally:
        made.close()
