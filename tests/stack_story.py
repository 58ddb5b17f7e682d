"""A made-up target whose stacks are sampled: each stay is known to the nanosecond. For tests."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from builders import frame_header
from tidscope_wire.frame import RowEncoder, Rows, join
from tidscope_wire.frame_tables import Table, dtype_of, make_table
from tidscope_wire.generated.models import TableName
from tidscope_wire.table_streams import encode_tables

FIELDS = ("cpu_run_ns",)
STEP_NS = 100_000_000
READ_EVERY = 10
"""Frames between two readings of the tables."""
ON_CPU, FUTEX, POLL = 1, 4, 5
TIDS = (200, 201, 202, 203)
FUNCTIONS = ("main", "serve", "take_lock", "read_row", "slow_io")
NAMED_LATER_NS = 5_000_000_000
"""After how long a frame has its name."""


@dataclass(frozen=True)
class Stay:
    """A sampled stay.

    Attributes:
        sample: its number.
        row: its row of `stack_samples` once it has ended.
        end_ns: when it ends, the run-queue delay after it included; None: never.
    """

    sample: int
    row: tuple[int, ...]
    end_ns: int | None

    @property
    def begin_ns(self) -> int:
        """When it begins, nanoseconds since attach."""
        return self.row[5]

    def row_at(self, time_ns: int) -> tuple[int, ...]:
        """Return its row as it is known at a time."""
        if self.end_ns is not None and self.end_ns <= time_ns:
            return self.row
        return (*self.row[:6], 0, 0, self.row[8], 0, 0, 0)


@dataclass
class StackStory:
    """Frames, and what is true.

    Attributes:
        frames: one each `STEP_NS`, with key frames every so often.
        times: times of the frames, nanoseconds since attach.
        stays: all sampled stays, by number.
        names: `stack_frames` and `stack_nodes` at the end.
        read_ns: times of the readings of the tables.
    """

    frames: list[bytes] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)
    names: dict[TableName, Table] = field(default_factory=dict)
    read_ns: list[int] = field(default_factory=list)

    def between(self, from_ns: int, to_ns: int) -> list[Stay]:
        """Return the stays that touch a window, as the last reading knew them."""
        known_ns = self.read_ns[-1]
        return [
            stay
            for stay in self.stays
            if stay.begin_ns <= min(to_ns, known_ns)
            and (stay.end_ns is None or stay.end_ns > known_ns or stay.end_ns >= from_ns)
        ]


def stack_story(instants: int, seed: int = 0, key_every: int = 50, per_s: float = 8) -> StackStory:
    """Make one: threads wait for a lock, poll and run, some for seconds, one for ever.

    Args:
        instants: number of frames.
        seed: of the stays.
        key_every: frames from key frame to key frame.
        per_s: about so many sampled stays a second of each thread.
    """
    made = StackStory(stays=_stays(random.Random(seed), instants * STEP_NS, per_s))
    encoder, sent_ns = RowEncoder(FIELDS), -1
    before: dict[TableName, Table] = {}
    for instant in range(1, instants + 1):
        time_ns = instant * STEP_NS
        key = instant % key_every == 1 or key_every == 1
        tables: dict[TableName, Table] = {}
        if instant % READ_EVERY == 5:
            made.names = {"stack_frames": _frames(time_ns), "stack_nodes": _nodes()}
            tables = {
                name: table[~np.isin(table, before[name])] if name in before else table
                for name, table in made.names.items()
            }
            before = made.names
            tables["stack_samples"] = table_of(made.stays, sent_ns, time_ns)
            sent_ns = time_ns
            made.read_ns.append(time_ns)
        if key:
            tables |= before
        described, data = encode_tables({one: rows for one, rows in tables.items() if len(rows)})
        header = frame_header(
            seq=instant, kind="key" if key else "delta", rows=1, time_ns=time_ns
        ).model_copy(update={"tables": described or None})
        made.frames.append(join(header, encoder.encode(_row(instant, key=key)), data))
        made.times.append(time_ns)
    return made


def table_of(stays: Sequence[Stay], after_ns: int, until_ns: int) -> Table:
    """Return rows of `stack_samples` that begin or end after one time and until another."""
    rows = [
        stay.row_at(until_ns)
        for stay in stays
        if after_ns < stay.begin_ns <= until_ns
        or (stay.end_ns is not None and after_ns < stay.end_ns <= until_ns)
    ]
    return np.array(rows, dtype_of("stack_samples"))


def _stays(chance: random.Random, end_ns: int, per_s: float) -> list[Stay]:
    begun: list[tuple[int, int, int, int]] = []
    typical = int(1e9 / per_s)
    for tid in TIDS:
        at = chance.randrange(1, 1_000_000)
        while at < end_ns:
            state = chance.choice((ON_CPU, FUTEX, FUTEX, POLL))
            # Some last for a few parts of a run.
            longest = 40_000_000_000 if chance.random() < 0.16 / per_s else typical
            length = 0 if state == ON_CPU else chance.randrange(1_000, longest)
            begun.append((at, tid, state, length))
            at += length + chance.randrange(1, typical)
    begun.append((chance.randrange(end_ns // 3), 900, FUTEX, -1))
    return [_stay(chance, sample, *one) for sample, one in enumerate(sorted(begun), 1)]


def _stay(
    chance: random.Random, sample: int, begin_ns: int, tid: int, state: int, length: int
) -> Stay:
    node, weight = chance.randrange(len(FUNCTIONS) + 1), chance.choice((1, 1, 4))
    lock = 7 if state == FUTEX else 0
    if length <= 0:
        end_ns = begin_ns if state == ON_CPU else None
        return Stay(
            sample, (sample, tid, state, node, weight, begin_ns, 0, 0, lock, 0, 0, 0), end_ns
        )
    delay, waker = chance.randrange(200_000), chance.choice(TIDS)
    row = (sample, tid, state, node, weight, begin_ns, length, delay, lock, 100, waker, 1)
    return Stay(sample, row, begin_ns + length + delay)


def _frames(time_ns: int) -> Table:
    count = len(FUNCTIONS)
    named = [one if time_ns >= NAMED_LATER_NS else "" for one in FUNCTIONS]
    return make_table(
        "stack_frames",
        {
            "frame": range(1, count + 1),
            "kind": ["native"] * count,
            "function": named,
            "file": ["bank.c" if one else "" for one in named],
            "line": [place if one else 0 for place, one in enumerate(named, 10)],
            "module": ["bank"] * count,
            "address": [4096 + 16 * place for place in range(count)],
            "build_id": ["5d41402a"] * count,
            "inlined": [""] * count,
        },
    )


def _nodes() -> Table:
    count = len(FUNCTIONS)
    return make_table(
        "stack_nodes",
        {"node": range(1, count + 1), "parent": range(count), "frame": range(1, count + 1)},
    )


def _row(instant: int, *, key: bool) -> Rows:
    return Rows(
        np.array([TIDS[0]], np.uint32),
        {"cpu_run_ns": np.array([instant], np.uint64)},
        {},
        np.zeros(1, np.int64) if key else None,
        ["main"] if key else None,
    )
