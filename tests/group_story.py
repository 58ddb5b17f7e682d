"""Frames of a group of processes whose figures can be checked: a make that runs compilers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from backend_builders import frame_bytes
from tidscope_wire.frame_tables import Table, Tables, dtype_of
from tidscope_wire.generated.models import (
    GroupCounts,
    ProgramExecuted,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
)

FIELDS = ("cpu_run_ns", "cpu_delay_ns")
MS = 1_000_000
ROOT = 100
"""make: its main thread."""
LIFE, STANDS = 30, 40
"""Frames that a compiler lives, and after its end has a row of its own."""
EVERY, WORK = 20, 80 * MS
"""Frames between the births of two compilers, and on-CPU time of one in a frame."""
SECRET = "--token=the-argument-of-somebody"


@dataclass(frozen=True)
class Compiler:
    """A process of two threads, the number counts them from 1."""

    number: int

    @property
    def pid(self) -> int:
        return ROOT + 10 * self.number

    @property
    def begin(self) -> int:
        """The frame that reports its birth."""
        return 5 + EVERY * (self.number - 1)

    @property
    def end(self) -> int:
        """The frame that reports its end."""
        return self.begin + LIFE

    def cpu_ns(self, seq: int) -> int:
        """On-CPU time of each of its threads."""
        return max(0, min(seq, self.end) - self.begin) * WORK


COMPILERS = [Compiler(number) for number in range(1, 200)]


def time_ns(seq: int) -> int:
    """Time of a frame."""
    return seq * 100 * MS


def alive(seq: int) -> list[Compiler]:
    """Compilers that live at a frame."""
    return [one for one in COMPILERS if one.begin <= seq < one.end]


def make_ns(seq: int) -> int:
    """On-CPU time of make."""
    return seq * MS


def group_story(frames: int) -> list[bytes]:
    """Frames from 1 on, ten a second; a key frame each hundred."""
    return [_frame(seq) for seq in range(1, frames + 1)]


def _frame(seq: int) -> bytes:
    key = seq % 100 == 1
    rows: dict[int, list[int | None]] = {ROOT: [make_ns(seq), 0]}
    pids = {ROOT: ROOT}
    names = {ROOT: (-1000, "make")}
    for one in alive(seq):
        for tid in (one.pid, one.pid + 1):
            rows[tid] = [one.cpu_ns(seq), 0]
            pids[tid] = one.pid
            names[tid] = (time_ns(one.begin) - MS, "cc1")
    return frame_bytes(
        seq,
        rows,
        identity=names if key else None,
        pids=pids if key else None,
        events=_events(seq),
        time_ns=time_ns(seq),
        fields=FIELDS,
        tables=_tables(seq, key=key),
        group=counts(seq),
    )


def counts(seq: int) -> GroupCounts:
    """Counts of processes at a frame."""
    started = sum(one.begin <= seq for one in COMPILERS)
    live = len(alive(seq))
    return GroupCounts(live=1 + live, started=started, ended=started - live, unseen=0, missed=0)


def _events(seq: int) -> Sequence[TargetEvent]:
    events: list[TargetEvent] = []
    for one in COMPILERS:
        if one.begin == seq:
            start = time_ns(seq) - MS
            events += [
                ThreadBorn(tid=one.pid, start_ns=start, name="cc1", pid=one.pid),
                ThreadBorn(tid=one.pid + 1, start_ns=start, name="cc1", pid=one.pid),
                ProgramExecuted(name="cc1", executable="/cc1", previous="/make", pid=one.pid),
            ]
        elif one.end == seq:
            events += [
                ThreadExited(
                    tid=tid,
                    start_ns=time_ns(one.begin) - MS,
                    name="cc1",
                    totals={"cpu_run_ns": one.cpu_ns(seq), "cpu_delay_ns": 0},
                    exact=True,
                    seen_alive=True,
                    pid=one.pid,
                )
                for tid in (one.pid, one.pid + 1)
            ]
    return events


def processes(seq: int) -> Table:
    """The table: make is 1, compilers are from 3 on, 2 is of ended ones."""
    own = [one for one in COMPILERS if one.begin <= seq < one.end + STANDS]
    folded = [one for one in COMPILERS if one.end + STANDS <= seq]
    table = np.zeros(1 + len(own) + bool(folded), dtype_of("processes"))
    for column in ("title", "container", "unit"):
        table[column] = ""
    table["user"], table["name"] = "root", "cc1"
    rows = [(1, ROOT, 0, 1, make_ns(seq), 1, 0), *(_row(one, seq) for one in own)]
    if folded:
        rows.append(
            (2, 0, 0, len(folded), sum(2 * c.cpu_ns(seq) for c in folded), 0, 2 * len(folded))
        )
    columns = ("process", "pid", "parent", "count", "cpu_ns", "live", "threads_ended")
    for column, values in zip(columns, zip(*rows, strict=True), strict=True):
        table[column] = values
    table["start_ticks"] = np.where(table["pid"] > 0, 1000 + table["process"], 0)
    table["threads"] = np.where(table["live"] > 0, 2, 0)
    table[0]["name"], table[0]["title"] = "make", f"make {SECRET}"
    return table[np.argsort(table["process"])]


def _tables(seq: int, *, key: bool) -> Tables | None:
    """In key frames the whole table; each tenth frame says also which rows are gone."""
    if key:
        return {"processes": processes(seq)}
    if seq % 10:
        return None
    numbers = [one.number + 2 for one in COMPILERS if seq - 10 < one.end + STANDS <= seq]
    gone = np.zeros(len(numbers), dtype_of("processes"))
    for column in ("name", "title", "user", "container", "unit"):
        gone[column] = ""
    gone["process"] = numbers
    return {"processes": np.concatenate([processes(seq), gone])}


def _row(one: Compiler, seq: int) -> tuple[int, ...]:
    live = seq < one.end
    number = one.number + 2
    return number, one.pid, 1, 1, 2 * one.cpu_ns(seq), int(live), 0 if live else 2
