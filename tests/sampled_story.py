"""A made-up target with a ledger and sampled stacks: where its time went is known. For tests."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from ledger_story import (
    FIELDS,
    FUTEX,
    LOCK,
    NAMES,
    ON_CPU,
    POLL,
    SLEEP,
    WOKEN,
    LedgerStory,
    Life,
    ledger_story,
)
from tidscope_backend.stream.frames import StoredFrame, parse_frame
from tidscope_wire.frame import join, row_bytes, split
from tidscope_wire.frame_tables import Table, dtype_of, make_table
from tidscope_wire.generated.models import TableName
from tidscope_wire.table_streams import encode_tables, table_parts

__all__ = [
    "FIELDS",
    "FUTEX",
    "LOCK",
    "NAMES",
    "NODES",
    "ON_CPU",
    "PATHS",
    "POLL",
    "SLEEP",
    "WOKEN",
    "SampledStory",
    "Stay",
    "overlap",
    "sampled_story",
]

TICK_NS = 20_408_163
"""Between two looks at a CPU."""
READ_EVERY = 10
FRAMES: Sequence[tuple[int, str, str, int, str, str]] = (
    # frame, function, file, line, module, inlined
    (1, "main", "bank.c", 90, "bank", ""),
    (2, "serve", "bank.c", 70, "bank", ""),
    (3, "update_account", "bank.c", 41, "bank", ""),
    (4, "update_account", "bank.c", 47, "bank", ""),
    (5, "pthread_mutex_lock", "", 0, "libc.so.6", ""),
    (6, "futex_wait_queue", "", 0, "", ""),
    (7, "do_poll", "", 0, "", ""),
    (8, "next_request", "net.c", 12, "bank", ""),
    (9, "compute", "bank.c", 20, "bank", "round\tbank.c\t8\nscale\tmath.h\t3"),
    (10, "slow_io", "bank.c", 55, "bank", ""),
    (11, "unlock_all", "bank.c", 33, "bank", ""),
)
KERNEL = frozenset({6, 7})
NODES: Sequence[tuple[int, int, int]] = (
    # node, parent, frame
    (1, 0, 1),
    (2, 1, 2),
    (3, 2, 3),
    (4, 2, 4),
    (5, 3, 5),
    (6, 4, 5),
    (7, 5, 6),
    (8, 6, 6),
    (9, 1, 8),
    (10, 9, 7),
    (11, 2, 9),
    (12, 2, 10),
    (13, 12, 5),
    (14, 13, 6),
    (15, 2, 11),
)
PATHS: dict[int, tuple[str, ...]] = {
    0: (),
    7: ("main", "serve", "update_account", "pthread_mutex_lock", "futex_wait_queue"),
    8: ("main", "serve", "update_account", "pthread_mutex_lock", "futex_wait_queue"),
    10: ("main", "next_request", "do_poll"),
    11: ("main", "serve", "compute", "round", "scale"),
    12: ("main", "serve", "slow_io"),
    14: ("main", "serve", "slow_io", "pthread_mutex_lock", "futex_wait_queue"),
    15: ("main", "serve", "unlock_all"),
}
"""Functions of stacks by innermost node, the outermost first."""
LEAVES = {FUTEX: (7, 7, 8, 14), POLL: (10,), SLEEP: (10,), ON_CPU: (11, 11, 12)}
RELEASE = 15


@dataclass(frozen=True)
class Stay:
    """One stay of a thread, sampled or not.

    Attributes:
        tid: thread.
        state: number of its state.
        begin_ns: when it began.
        end_ns: when it ended; None: it lasts.
        node: its innermost node.
        delay_ns: run-queue delay behind it.
        waker: thread that ended it; 0: none.
    """

    tid: int
    state: int
    begin_ns: int
    end_ns: int | None
    node: int
    delay_ns: int
    waker: int


@dataclass
class SampledStory:
    """Frames, and what is true.

    Attributes:
        frames: frames with stacks.
        ledger: the target without stacks.
        stays: all stays, by thread and time.
        samples: rows of `stack_samples` at the end.
        period: when stacks were taken.
    """

    frames: list[bytes]
    ledger: LedgerStory
    stays: list[Stay]
    samples: Table
    period: tuple[int, int]
    sampled: list[Stay] = field(default_factory=list)

    def stored(self) -> list[StoredFrame]:
        """Return the frames as a history has them."""
        stored: list[StoredFrame] = []
        for data in self.frames:
            stored.append(parse_frame(data, stored[-1].fields if stored else None))
        return stored

    def truth(
        self,
        from_ns: int,
        to_ns: int,
        chosen: Callable[[Stay], bool],
        path: Callable[[Stay], Sequence[str]] = lambda stay: PATHS[stay.node],
    ) -> Counter[tuple[str, ...]]:
        """Return nanoseconds below each path of functions in a window."""
        spent: Counter[tuple[str, ...]] = Counter()
        for stay in filter(chosen, self.stays):
            ns = overlap(stay, from_ns, to_ns)
            functions = path(stay)
            for depth in range(1, len(functions) + 1):
                spent[tuple(functions[:depth])] += ns
        return Counter({key: ns for key, ns in spent.items() if ns})


def overlap(stay: Stay, from_ns: int, to_ns: int) -> int:
    """Nanoseconds of a stay in a window."""
    end = to_ns if stay.end_ns is None else min(stay.end_ns, to_ns)
    return max(0, end - max(stay.begin_ns, from_ns))


def sampled_story(
    instants: int,
    seed: int = 0,
    *,
    weights: Sequence[int] = (1,),
    period: tuple[float, float] = (0.0, 1e9),
    key_every: int = 50,
    unknown: float = 0.0,
) -> SampledStory:
    """Make one.

    Args:
        instants: number of frames, one each 100 ms.
        seed: of stays and samples.
        weights: one of so many stays is sampled; they take turns.
        period: when stacks are taken, in seconds since attach.
        key_every: frames from key frame to key frame.
        unknown: share of samples without a known stack.
    """
    chance = random.Random(seed)
    ledger = ledger_story(instants, seed, key_every)
    stays = [stay for tid, life in ledger.lives.items() for stay in _stays(chance, tid, life)]
    end_ns = ledger.times[-1]
    begin, stop = (int(edge * 1e9) for edge in period)
    rows: list[tuple[int, Stay, tuple[int, ...]]] = []
    weight_of = itertools.cycle(weights)
    for stay in sorted(stays, key=lambda one: one.begin_ns):
        weight = next(weight_of)
        node = 0 if chance.random() < unknown else stay.node
        if stay.state == ON_CPU:
            until = end_ns if stay.end_ns is None else stay.end_ns
            ticks = range(-(-stay.begin_ns // TICK_NS) * TICK_NS, until, TICK_NS)
            for tick in ticks:
                if begin <= tick < stop:
                    rows.append((tick, stay, (stay.tid, ON_CPU, node, 1, tick, *[0] * 6)))
        elif stay.state != WOKEN and begin <= stay.begin_ns < stop and chance.random() < 1 / weight:
            lock = LOCK if stay.state == FUTEX else 0
            release = RELEASE if stay.waker else 0
            length = 0 if stay.end_ns is None else stay.end_ns - stay.begin_ns
            facts = (length, stay.delay_ns, lock, 100 if stay.waker else 0, stay.waker, release)
            rows.append(
                (stay.begin_ns, stay, (stay.tid, stay.state, node, weight, stay.begin_ns, *facts))
            )
    rows.sort(key=lambda one: one[0])
    made = SampledStory([], ledger, stays, _table(rows, end_ns + 1, 0), (begin, min(stop, end_ns)))
    made.sampled = [stay for _, stay, _ in rows]
    sent_ns = -1
    for frame, time_ns in zip(ledger.frames, ledger.times, strict=True):
        tables: dict[TableName, Table] = {}
        header, _ = split(frame)
        if header.kind == "key" or header.seq % READ_EVERY == 5:
            tables = _names(begin, stop if stop <= time_ns else 0)
            tables["stack_samples"] = _table(rows, time_ns, sent_ns)
            sent_ns = time_ns
        made.frames.append(_with(frame, tables, time_ns))
    return made


def _stays(chance: random.Random, tid: int, life: Life) -> list[Stay]:
    made: list[Stay] = []
    ends = [begin for begin, _ in life.stays[1:]] + [life.end_ns]
    for place, ((begin, state), end) in enumerate(zip(life.stays, ends, strict=True)):
        delay = 0
        following = life.stays[place + 1 : place + 3]
        if len(following) == 2 and following[0][1] == WOKEN:
            delay = following[1][0] - following[0][0]
        waker = chance.choice((200, 201)) if state == FUTEX and end is not None else 0
        leaf = made[-1].node if state == WOKEN and made else chance.choice(LEAVES.get(state, (10,)))
        made.append(Stay(tid, state, begin, end, leaf, delay, waker))
    return made


def _table(rows: Sequence[tuple[int, Stay, tuple[int, ...]]], time_ns: int, sent_ns: int) -> Table:
    """Return rows that are new or completed at a reading, numbered from 1."""
    found = []
    for number, (begin_ns, stay, row) in enumerate(rows, 1):
        if begin_ns > time_ns:
            break
        done_ns = None if stay.end_ns is None else stay.end_ns + stay.delay_ns
        seen = stay.state == ON_CPU or (done_ns is not None and done_ns <= time_ns)
        newly_done = seen and stay.state != ON_CPU and done_ns is not None and done_ns > sent_ns
        if begin_ns > sent_ns or newly_done:
            found.append((number, *(row if seen else (*row[:5], 0, 0, row[7], 0, 0, 0))))
    return np.array(found, dtype_of("stack_samples"))


def _names(begin_ns: int, end_ns: int) -> dict[TableName, Table]:
    frame, function, file, line, module, inlined = zip(*FRAMES, strict=True)
    count = len(FRAMES)
    node, parent, of = zip(*NODES, strict=True)
    return {
        "stack_frames": make_table(
            "stack_frames",
            {
                **{"frame": frame, "function": function, "file": file, "line": line},
                "kind": ["kernel" if one in KERNEL else "native" for one in frame],
                **{"module": module, "address": [16 * one for one in frame]},
                **{"build_id": ["5d41402a"] * count, "inlined": inlined},
            },
        ),
        "stack_nodes": make_table("stack_nodes", {"node": node, "parent": parent, "frame": of}),
        "stack_periods": make_table(
            "stack_periods", {"period": [1], "begin_ns": [begin_ns], "end_ns": [end_ns]}
        ),
        "stack_counts": make_table("stack_counts", {"what": [1, 2], "count": [5, 1]}),
    }


def _with(frame: bytes, tables: dict[TableName, Table], time_ns: int) -> bytes:
    """Add tables to a frame."""
    if not tables:
        return frame
    header, body = split(frame)
    rows = bytes(body[: row_bytes(header, body)])
    before = b"".join(bytes(data) for _, data in table_parts(header, body))
    described, data = encode_tables(tables, None, time_ns)
    more = header.model_copy(update={"tables": [*(header.tables or ()), *described]})
    return join(more, rows, before + data)
