"""A made-up target with a ledger: what its threads did is known to the nanosecond. For tests."""

import random
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from builders import frame_header
from tidscope_wire.frame import FrameDecoder, RowEncoder, Rows, join, split
from tidscope_wire.frame_tables import Table, make_table
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.models import (
    ExitedTotals,
    RoleTotals,
    TableName,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
)
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at
from tidscope_wire.table_streams import decode_tables, encode_tables

FIELDS = ("cpu_run_ns", *STATE_FIELDS, STATE, SINCE)
READ_BEFORE_NS = 3_000_000
"""Before its frame a table is read."""
STEP_NS = 100_000_000
ON_CPU, WOKEN, FUTEX, POLL, SLEEP = 1, 3, 4, 5, 6
NAMES = {200: "main", 201: "worker-1", 202: "worker-2", 203: "idle", 204: "worker-3"}
ROLES = {"main": (200,), "worker-#": (201, 202, 204), "idle": (203,)}
LOCK = 7
Known = dict[TableName, dict[tuple[int, ...], tuple[object, ...]]]
"""Rows by table: key of a row to its other values."""


@dataclass
class Life:
    """One thread.

    Attributes:
        begin_ns: when its ledger began.
        stays: when each began, and the state; ascending, and the last one goes on.
        end_ns: time of its exit; None while alive.
    """

    begin_ns: int
    stays: list[tuple[int, int]]
    end_ns: int | None

    def row(self, time_ns: int) -> dict[str, int]:
        """Return the columns of the thread at a time."""
        row = dict.fromkeys(FIELDS, 0)
        for (begin, state), (end, _) in zip(self.stays, self.stays[1:], strict=False):
            if end <= time_ns:
                row[STATE_FIELDS[state - 1]] += end - begin
        (since, state) = [stay for stay in self.stays if stay[0] <= time_ns][-1]
        row["cpu_run_ns"] = row[STATE_FIELDS[ON_CPU - 1]]
        return row | {STATE: state, SINCE: since}

    def states(self, time_ns: int) -> dict[str, int]:
        """Nanoseconds in each state up to a time; those of 0 are left out."""
        until = time_ns if self.end_ns is None else min(time_ns, self.end_ns)
        ns: Counter[str] = Counter()
        ends = [begin for begin, _ in self.stays[1:]] + [until]
        for (begin, state), end in zip(self.stays, ends, strict=True):
            ns[STATE_FIELDS[state - 1]] += max(0, min(end, until) - begin)
        return {name: value for name, value in ns.items() if value}


@dataclass
class LedgerStory:
    """Frames, and what is true.

    Attributes:
        frames: one an instant, with key frames every so often.
        times: times of the frames, nanoseconds since attach.
        lives: lives by thread ID.
        tables: content of the tables up to each instant, by time.
        said: by time and table, number of omitted rows at the last reading, and its time.
    """

    frames: list[bytes] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    lives: dict[int, Life] = field(default_factory=dict)
    tables: dict[int, Known] = field(default_factory=dict)
    said: dict[int, dict[str, tuple[int, int | None]]] = field(default_factory=dict)


class TableReader:
    """Follows the tables of frames as the page does.

    Attributes:
        known: the rows so far.
    """

    def __init__(self) -> None:
        self.known: Known = {}

    def read(self, frame: bytes) -> int:
        """Take a frame in; returns how many rows it had."""
        header, body = split(frame)
        if header.kind == "key":
            self.known = {}
        rows = 0
        for name, table in decode_tables(header, body).items():
            known = self.known.setdefault(name, {})
            keys = len(KEYS[name])
            for row in map(tuple, table.tolist()):
                if any(isinstance(value, int) and value for value in row[keys:]):
                    known[row[:keys]] = row[keys:]
                else:
                    known.pop(row[:keys], None)
            rows += len(table)
        return rows

    def copy(self) -> Known:
        """Current content of the tables."""
        return {name: dict(rows) for name, rows in self.known.items()}


def states_of(frames: list[bytes]) -> dict[int, dict[int, dict[str, int]]]:
    """Time of each frame to thread to nanoseconds in each state, as a page would know."""
    decoder = FrameDecoder()
    rows: dict[int, dict[str, int]] = {}
    found: dict[int, dict[int, dict[str, int]]] = {}
    for frame in frames:
        header, read = decoder.decode(frame)
        for event in header.events:
            if isinstance(event, ThreadExited):
                rows.pop(event.tid, None)
        if header.kind == "key":
            rows = {}
        for place, tid in enumerate(read.tid.tolist()):
            rows[tid] = {name: int(read.columns[name][place]) for name in FIELDS}
        found[header.time_ns] = {tid: full(row, header.time_ns) for tid, row in rows.items()}
    return found


def full(row: dict[str, int], time_ns: int) -> dict[str, int]:
    """Nanoseconds in each state by a row of a frame, at a time; those of 0 are left out."""
    (values,) = states_at(
        np.array([[row[name] for name in STATE_FIELDS]], np.uint64),
        np.array([row[STATE]], np.uint64),
        np.array([row[SINCE]], np.uint64),
        time_ns,
    ).tolist()
    return {name: value for name, value in zip(STATE_FIELDS, values, strict=True) if value}


def ledger_story(instants: int, seed: int = 0, key_every: int = 50) -> LedgerStory:
    """Make one: workers wait for a lock, main polls, one thread sleeps all the time.

    worker-3 (204) is born after a fifth of the time, and worker-2 (202) exits after three fifths.
    """
    chance = random.Random(seed)
    made = LedgerStory()
    end_ns = instants * STEP_NS
    for tid in NAMES:
        begin = end_ns // 5 - 40_000_000 if tid == 204 else 0
        made.lives[tid] = _life(chance, tid, begin, end_ns)
    made.lives[202].end_ns = exit_ns = end_ns * 3 // 5 - 30_000_000
    made.lives[202].stays = [stay for stay in made.lives[202].stays if stay[0] < exit_ns]
    encoder, reader = RowEncoder(FIELDS), TableReader()
    before: dict[int, dict[str, int]] = {}
    tables: dict[TableName, Table] = {}
    said: dict[str, tuple[int, int | None]] = {}
    for instant in range(1, instants + 1):
        time_ns = instant * STEP_NS
        key = instant % key_every == 1 or key_every == 1
        alive = {tid: life for tid, life in made.lives.items() if _lives(life, time_ns)}
        rows = {tid: life.row(time_ns) for tid, life in alive.items()}
        changed = {tid: row for tid, row in rows.items() if key or before.get(tid) != row}
        before = rows
        body = _rows(changed, made.lives if key else None)
        described, data = None, b""
        if key or instant % 10 == 5:
            newest = _tables(made.lives, time_ns)
            sent = newest if key else _changed(newest, tables)
            tables = newest
            described, data = encode_tables(sent, {"wakes": instant}, time_ns - READ_BEFORE_NS)
            said |= {one.name: (one.omitted, one.read_ns) for one in described}
        header = frame_header(
            seq=instant,
            kind="key" if key else "delta",
            rows=len(changed),
            time_ns=time_ns,
            events=_events(made.lives, time_ns),
        ).model_copy(update={"tables": described, "exited": _exited(made.lives, time_ns)})
        if instant % 10 == 1 or instant == instants:
            header = header.model_copy(update={"roles": _roles(made.lives, time_ns)})
        made.frames.append(join(header, encoder.encode(body), data))
        made.times.append(time_ns)
        reader.read(made.frames[-1])
        made.tables[time_ns] = reader.copy()
        made.said[time_ns] = dict(said)
    return made


def _life(chance: random.Random, tid: int, begin: int, end: int) -> Life:
    if NAMES[tid] == "idle":
        return Life(begin, [(begin, SLEEP)], None)
    waits = POLL if NAMES[tid] == "main" else FUTEX
    stays = []
    at = begin
    while at < end:
        for state, most in ((ON_CPU, 30_000_000), (waits, 900_000_000), (WOKEN, 500_000)):
            stays.append((at, state))
            at += chance.randrange(1_000, most)
    return Life(begin, stays, None)


def _lives(life: Life, time_ns: int) -> bool:
    return life.begin_ns <= time_ns and (life.end_ns is None or time_ns < life.end_ns)


def _rows(rows: dict[int, dict[str, int]], lives: dict[int, Life] | None) -> Rows:
    tids = sorted(rows)
    return Rows(
        np.array(tids, np.uint32),
        {name: np.array([rows[tid][name] for tid in tids], np.uint64) for name in FIELDS},
        {},
        None if lives is None else np.array([lives[tid].begin_ns for tid in tids], np.int64),
        None if lives is None else [NAMES[tid] for tid in tids],
    )


def _events(lives: dict[int, Life], time_ns: int) -> list[TargetEvent]:
    events: list[TargetEvent] = []
    for tid, life in lives.items():
        if life.begin_ns and time_ns - STEP_NS < life.begin_ns <= time_ns:
            events.append(ThreadBorn(tid=tid, start_ns=life.begin_ns, name=NAMES[tid]))
        if life.end_ns is not None and time_ns - STEP_NS < life.end_ns <= time_ns:
            events.append(
                ThreadExited(
                    tid=tid,
                    start_ns=life.begin_ns,
                    name=NAMES[tid],
                    totals=_totals(life, life.end_ns),
                    exact=True,
                    seen_alive=True,
                )
            )
    return events


def _totals(life: Life, time_ns: int) -> dict[str, int]:
    states = life.states(time_ns)
    totals = {name: states.get(name, 0) for name in STATE_FIELDS}
    return totals | {"cpu_run_ns": totals[STATE_FIELDS[ON_CPU - 1]]}


def _exited(lives: dict[int, Life], time_ns: int) -> ExitedTotals:
    dead = [one for one in lives.values() if one.end_ns is not None and one.end_ns <= time_ns]
    totals: Counter[str] = Counter()
    for one in dead:
        totals.update(_totals(one, time_ns))
    return ExitedTotals(threads=len(dead), inexact=0, totals=dict(totals))


def _roles(lives: dict[int, Life], time_ns: int) -> list[RoleTotals]:
    found = []
    for role, tids in ROLES.items():
        known = [lives[tid] for tid in tids if lives[tid].begin_ns <= time_ns]
        totals: Counter[str] = Counter()
        for one in known:
            totals.update(_totals(one, time_ns))
        live = sum(_lives(one, time_ns) for one in known)
        found.append(
            RoleTotals(role=role, live=live, exited=len(known) - live, totals=dict(totals))
        )
    return found


def _tables(lives: dict[int, Life], time_ns: int) -> dict[TableName, Table]:
    """Facts up to a time; those of threads that ended stand under thread 0."""
    stays: Counter[tuple[int, int, int]] = Counter()
    waits: Counter[int] = Counter()
    wait_ns: Counter[int] = Counter()
    for each, life in lives.items():
        tid = each if _lives(life, time_ns) else 0
        for (begin, state), (end, _) in zip(life.stays, life.stays[1:], strict=False):
            if end <= time_ns:
                stays[tid, state, min(23, max(0, (end - begin).bit_length() - 10))] += 1
                if state == FUTEX:
                    waits[tid] += 1
                    wait_ns[tid] += end - begin
    waiters = sorted(waits)
    tables: dict[TableName, Table] = {
        "stays": make_table(
            "stays",
            {
                **{
                    column: [key[place] for key in stays]
                    for place, column in enumerate(("tid", "state", "bucket"))
                },
                "count": list(stays.values()),
            },
        ),
        "locks": make_table(
            "locks",
            {
                "lock": [LOCK] * len(waiters),
                "tid": waiters,
                "wait_ns": [wait_ns[tid] for tid in waiters],
                "waits": [waits[tid] for tid in waiters],
                "wakes": [0] * len(waiters),
            },
        ),
        "wakes": make_table(
            "wakes",
            {
                "waker_tid": [200] * len(waiters),
                "waker_pid": [200] * len(waiters),
                "wakee_tid": waiters,
                "party": [0] * len(waiters),
                "waker_kernel": [0] * len(waiters),
                "count": [waits[tid] for tid in waiters],
                "blocked_ns": [wait_ns[tid] for tid in waiters],
                "delay_ns": [waits[tid] * 50_000 for tid in waiters],
                "waker_name": ["main"] * len(waiters),
            },
        ),
    }
    if waiters:
        facts = {"address": 4096, "name": "pool_mu", "kind": "lock", "source": "futex"}
        columns = {name: [value] for name, value in facts.items()}
        tables["lock_names"] = make_table(
            "lock_names", {"lock": [LOCK], "symbol_file": ["/srv/app"], **columns}
        )
    return tables


def _changed(
    newest: dict[TableName, Table], before: dict[TableName, Table]
) -> dict[TableName, Table]:
    found: dict[TableName, Table] = {}
    for name, table in newest.items():
        known = {tuple(row) for row in before[name].tolist()} if name in before else set()
        rows = [row for row in table.tolist() if tuple(row) not in known]
        keys = KEYS[name]
        there = {row[: len(keys)] for row in table.tolist()}
        for row in known:
            if row[: len(keys)] not in there:
                gone = [0 if isinstance(value, int) else value for value in row[len(keys) :]]
                rows.append((*row[: len(keys)], *gone))
        if rows:
            columns = zip(*rows, strict=True)
            found[name] = make_table(
                name, dict(zip(COLUMNS[name], map(list, columns), strict=True))
            )
    return found
