"""Flame graphs and places of a source. All functions block."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tidscope_wire.generated.models import (
    LockPlaces,
    StackCounts,
    StackGraph,
    StackPlaces,
    ThreadNow,
)
from tidscope_wire.role import RoleRule

from tidscope_backend.stacks.frame_facts import CountReader, LockReader, LockWaits
from tidscope_backend.stacks.graphs import MAX_NODES, Flame, flame, nodes_of, place_of
from tidscope_backend.stacks.ledger import Stay, TableReader, Wanted, WindowTimes, read_ledger
from tidscope_backend.stacks.selection import STATES, Chosen, Selection, Window
from tidscope_backend.stacks.sources import StackSource
from tidscope_backend.stacks.tables import StackTables
from tidscope_backend.stacks.trees import Stacks
from tidscope_backend.stacks.units import (
    TOLERANCE_NS,
    Account,
    Sampling,
    account_of_lock,
    account_of_states,
)
from tidscope_backend.stacks.unseen_code import note_of
from tidscope_backend.stacks.wakers import Meanwhile, releasers

MAX_LOCKS = 64
"""Maximum locks with places; those with the longest waits are included."""
MAX_THREADS = 2_000
"""Maximum threads with their last stack."""
NOW_FRAMES = 8
"""Maximum frames of a thread's last stack."""
NO_FRAMES = "There are no frames in this window. Choose a later one, or attach to the target."
NO_LEDGER = (
    "Times in states are not measured for this target, so stacks have no time to divide. Doctor "
    "says what ledgers of states need."
)
NO_STACKS = "No stacks were taken in this window. Take some, or choose a window that has them."
NO_TIME = "The selected threads spent no time in the selected states."


class View(NamedTuple):
    """Samples, exact times and names of a target or a run, within one window of time.

    Attributes:
        from_ns: begin of the window, since attach.
        to_ns: end of the window.
        tables: stacks of the window.
        stacks: the same stacks, by node.
        parts: parts of the window in which stays were sampled.
        whole: exact times of the window; None without frames.
        locks: waits for locks in the window; None if unknown, or not asked for.
        lock_names: names of locks; empty if not asked for.
        names: names of threads.
        counts: what became of stacks.
        has_ledger: whether times in states are measured.
    """

    from_ns: int
    to_ns: int
    tables: StackTables
    stacks: Stacks
    parts: Sequence[Sampling]
    whole: WindowTimes | None
    locks: LockWaits | None
    lock_names: dict[int, str]
    names: dict[int, str]
    counts: StackCounts
    has_ledger: bool


def view(source: StackSource, window: Window, *, locks: bool) -> View:
    """Read a window.

    Args:
        source: the source.
        window: the window; without an end it ends with the last known stacks.
        locks: whether to read waits for locks.
    """
    first, last = source.span() or (0, 0)
    end = min(source.known_ns() or last if window.to_ns is None else window.to_ns, last)
    begin = max(end - window.last_ns if window.from_ns is None else window.from_ns, first)
    tables = source.stacks(begin, end)
    wanted = [Wanted(begin, end, 0), *tables.sampled(begin, end)]
    lock_reader, counts = LockReader(wanted), CountReader(begin, end)
    readers: list[TableReader] = [counts, lock_reader] if locks else [counts]
    frames, fields = source.frames(begin, end)
    times = read_ledger(frames, fields, wanted, readers)
    (whole, *sampled), (waits, *part_waits) = times.windows, lock_reader.close()
    parts = [
        Sampling(one.since_ns, window, of_locks)
        for one, window, of_locks in zip(wanted[1:], sampled, part_waits, strict=True)
        if window is not None and window.to_ns > window.from_ns
    ]
    return View(
        begin if whole is None else whole.from_ns,
        max(begin, end) if whole is None else whole.to_ns,
        tables,
        tables.stacks,
        parts,
        whole,
        waits,
        lock_reader.names,
        times.names,
        counts.counts(),
        times.has_ledger,
    )


def rules_of(source: StackSource) -> list[RoleRule]:
    """Return the rules for roles of a source's target."""
    return [RoleRule(one.pattern, one.role) for one in source.target.role_rules or ()]


def account(found: View, selection: Selection, rules: Sequence[RoleRule]) -> Account | None:
    """Return samples and exact times of a selection; None if no times are known.

    Raises:
        ProblemError: no lock has the selected name.
    """
    if found.whole is None or not found.has_ledger:
        return None
    chosen = selection.chosen(found.names, rules)
    samples, parts = found.tables.samples, found.parts
    lock = selection.lock_number(found.lock_names)
    if lock is not None:
        waits = account_of_lock(samples, parts, found.locks, chosen, lock)
    else:
        waits = account_of_states(samples, parts, found.whole, chosen, selection.state_numbers)
    if selection.side == "threads":
        return waits
    if selection.side == "releasers":
        return releasers(samples, waits)
    return _meanwhile(found).holders(waits)


def _meanwhile(found: View) -> Meanwhile:
    if found.whole is None:
        raise ValueError("a window without frames")
    states = frozenset(range(1, len(STATES) + 1))
    samples, every = found.tables.samples, Chosen(None, None)
    return Meanwhile(samples, account_of_states(samples, found.parts, found.whole, every, states))


def why_not(source: StackSource, found: View, made: Flame | None) -> str:
    """Return why there is no flame graph; empty if there is one."""
    if found.whole is None:
        return NO_FRAMES
    if made is None:
        return NO_LEDGER
    if made.samples:
        return ""
    if made.exact_ns <= 0:
        return NO_TIME
    sampling = source.sampling
    return sampling.reason if sampling is not None and sampling.reason else NO_STACKS


def flame_of(source: StackSource, selection: Selection) -> tuple[View, Flame | None]:
    """Return the window and the flame graph of a selection; None if no times are known."""
    with_locks = selection.lock is not None
    found = view(source, selection.window, locks=with_locks)
    made = account(found, selection, rules_of(source))
    return found, None if made is None else flame(made, found.stacks)


def graph(source: StackSource, selection: Selection) -> StackGraph:
    """Return the flame graph of a selection."""
    found, made = flame_of(source, selection)
    frames, nodes, omitted = ([], [], 0) if made is None else nodes_of(made, MAX_NODES)
    return StackGraph(
        from_ns=found.from_ns,
        to_ns=found.to_ns,
        side=selection.side,
        exact_ns=0 if made is None else made.exact_ns,
        unseen_ns=0 if made is None else made.unseen_ns,
        samples=0 if made is None else made.samples,
        frames=frames,
        nodes=nodes,
        omitted_nodes=omitted,
        counts=found.counts,
        sampling=source.sampling,
        reason=why_not(source, found, made),
        note=" ".join(filter(None, (source.naming, "" if made is None else note_of(made)))),
    )


def places(source: StackSource, window: Window) -> StackPlaces:
    """Return the code of locks and threads in a window."""
    found = view(source, window, locks=True)
    return StackPlaces(
        from_ns=found.from_ns,
        to_ns=found.to_ns,
        locks=_locks(found),
        threads=_threads(found),
    )


def _locks(found: View) -> list[LockPlaces]:
    if found.whole is None or found.locks is None or not len(found.tables.samples):
        return []
    waited: dict[int, int] = {}
    for (lock, _), ns in found.locks.wait_ns.items():
        waited[lock] = waited.get(lock, 0) + ns
    sampled = set(np.unique(found.tables.samples["lock"]).tolist())
    longest = sorted((one for one in waited if one in sampled), key=lambda one: -waited[one])
    meanwhile = _meanwhile(found)
    samples, stacks = found.tables.samples, found.stacks
    answer = []
    for lock in longest[:MAX_LOCKS]:
        waits = account_of_lock(samples, found.parts, found.locks, Chosen(None, None), lock)
        if len(waits.row):
            answer.append(
                LockPlaces(
                    lock=lock,
                    waits=place_of(waits, stacks),
                    releases=place_of(releasers(samples, waits), stacks),
                    holds=place_of(meanwhile.holders(waits), stacks),
                )
            )
    return answer


def _threads(found: View) -> list[ThreadNow]:
    if found.whole is None:
        return []
    samples = found.tables.samples
    known = samples[(samples["node"] > 0) & (samples["begin_ns"] <= found.to_ns)]
    known = known[np.argsort(known["begin_ns"], kind="stable")][::-1]
    _, newest = np.unique(known["tid"], return_index=True)
    last = {int(row["tid"]): row for row in known[newest]}
    alive = sorted((tid, stay) for tid, stay in found.whole.stays.items() if tid in last)
    return [_now(last[tid], stay, found) for tid, stay in alive[:MAX_THREADS]]


def _now(row: np.void, stay: Stay, found: View) -> ThreadNow:
    codes = [code for code in found.stacks.stack(int(row["node"])) if code.kind != "kernel"]
    state = int(row["state"])
    return ThreadNow(
        tid=int(row["tid"]),
        state=STATES[state - 1] if 0 < state <= len(STATES) else "",
        at_ns=int(row["begin_ns"]),
        ended=stay.state != state or stay.since_ns > int(row["begin_ns"]) + TOLERANCE_NS,
        frames=[code.model() for code in codes[:NOW_FRAMES]],
    )
