"""Sampled stays of a run with their stacks, as slices for trace viewers.

A thread's stacks have a track of their own below the thread's: a stay is named by the program's
code, and has the whole stack in its details. A thread seen on a CPU is an instant.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from tidscope_wire.frame_tables import Table, empty_table

from tidscope_backend.stacks.code import Code
from tidscope_backend.stacks.program_code import own_code
from tidscope_backend.stacks.selection import ON_CPU, STATES
from tidscope_backend.stacks.trees import Stacks
from tidscope_backend.store.log_parts import NOT_ENDED, stays_of
from tidscope_backend.store.reader import RunReader

MAX_SLICES = 100_000
"""Maximum slices and instants of a trace. The longest stays are kept."""
TRACK_OFFSET = 1 << 24
"""Added to a thread ID for the number of its track; greater than any thread ID (PID_MAX_LIMIT)."""
UNKNOWN = "unknown stack"

Event = dict[str, object]


def stack_slices(
    reader: RunReader, threads: pa.Table, pid_of: Callable[[int, int], int]
) -> Iterator[Event]:
    """Yield names of tracks, slices and instants.

    Args:
        reader: reader of the run.
        threads: the run's thread table.
        pid_of: returns the process of a thread, by its ID and start.
    """
    first, last = reader.manifest.from_ns, reader.manifest.to_ns
    samples = _longest(
        np.concatenate([empty_table("stack_samples"), *reader.log("stack_samples", first, last)])
    )
    if not len(samples):
        return
    lives = _Lives(threads)
    texts = _Texts(
        Stacks(reader.names("stack_frames", first, last), reader.names("stack_nodes", first, last))
    )
    named = set[int]()
    begin_ns, end_ns = stays_of(samples)
    for row, begin, end in zip(samples, begin_ns.tolist(), end_ns.tolist(), strict=True):
        tid = int(row["tid"])
        start, name = lives.at(tid, begin)
        pid = pid_of(tid, start)
        track = TRACK_OFFSET + tid
        if tid not in named:
            named.add(tid)
            title = {"name": f"{name} stacks ({tid})"}
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": track, "args": title}
        event: Event = {"pid": pid, "tid": track, "cat": "stack", "name": texts.name(row)}
        args = texts.details(row)
        if row["state"] == ON_CPU:
            yield {**event, "ph": "i", "s": "t", "ts": begin / 1000, "args": args}
            continue
        since = max(begin, first)
        until = last if end == NOT_ENDED else min(end - int(row["delay_ns"]), last)
        if until > since:
            dur = (until - since) / 1000
            yield {**event, "ph": "X", "ts": since / 1000, "dur": dur, "args": args}


def _longest(samples: Table) -> Table:
    """Return the longest stays within the bound, in their order."""
    if len(samples) <= MAX_SLICES:
        return samples
    begin_ns, end_ns = stays_of(samples)
    kept = np.argsort(begin_ns - end_ns, kind="stable")[:MAX_SLICES]
    return samples[np.sort(kept)]


class _Lives:
    """Starts and names of threads by ID and time."""

    def __init__(self, threads: pa.Table) -> None:
        self._lives: dict[int, list[tuple[int, int, str]]] = {}
        columns = ("tid", "from_ns", "start_ns", "name")
        rows = zip(*(threads[name].to_pylist() for name in columns), strict=True)
        for tid, from_ns, start_ns, name in rows:
            self._lives.setdefault(tid, []).append((from_ns, start_ns, name or "thread"))
        for lives in self._lives.values():
            lives.sort()

    def at(self, tid: int, time_ns: int) -> tuple[int, str]:
        """Return start and name of the thread that had an ID at a time."""
        lives = self._lives.get(tid, [(0, 0, "thread")])
        begun = [life for life in lives if life[0] <= time_ns]
        _, start, name = begun[-1] if begun else lives[0]
        return start, name


class _Texts:
    """Names and details of samples."""

    def __init__(self, stacks: Stacks) -> None:
        self._stacks = stacks
        self._known: dict[int, tuple[str, str]] = {0: (UNKNOWN, "")}

    def name(self, row: np.void) -> str:
        """Return the name of a sample: the program's own code."""
        return self._of(int(row["node"]))[0]

    def details(self, row: np.void) -> dict[str, object]:
        """Return the stack of a sample, the outermost function first, and its other facts."""
        state = int(row["state"])
        facts: dict[str, object] = {
            "state": STATES[state - 1] if 0 < state <= len(STATES) else str(state),
            "stack": self._of(int(row["node"]))[1],
            "weight": int(row["weight"]),
        }
        for column in ("lock", "delay_ns", "waker_tid"):
            if row[column]:
                facts[column] = int(row[column])
        if row["waker_node"]:
            facts["released_by"] = self._of(int(row["waker_node"]))[1]
        return facts

    def _of(self, node: int) -> tuple[str, str]:
        known = self._known.get(node)
        if known is None:
            stack = self._stacks.stack(node)
            own = own_code(stack) or (stack[0] if stack else None)
            text = "; ".join(map(_code_text, reversed(stack)))
            known = self._known[node] = (UNKNOWN if own is None else own.function, text)
        return known


def _code_text(code: Code) -> str:
    line = f":{code.line}" if code.line else ""
    return f"{code.function} ({code.file}{line})" if code.file else code.function
