"""Locks for which the threads of a run waited.

Locks that runtimes make for each wait or each thread are summed, by the rules of the page:
frontend/src/stream/facts/lockNames.ts.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tidscope_backend.store.reader import RunReader, table_growth

_IN_MEMORY = re.compile(r"(heap|stack|shared memory) #\d+(?: in (.*?)(?: \d+)?)?")
"""Name of a lock of which only the memory is known, in a group with its process."""
_SUMMED_KINDS = ("lock", "condition", "unknown")
_OWN_SHARE = 0.8
"""Share of the waiting at a lock of one thread, from which the lock is that thread's own."""
_OWN_LOCKS, _MANY_LOCKS = 3, 8
"""Minimum number of locks that are summed: own ones of threads, or any of which none stands out."""
_STANDS_OUT = 0.25
_AMONG_THEM = 0.8
"""Minimum share of wake-ups by threads that also wait: typical of a lock, not of a queue."""


class RunLock(NamedTuple):
    """A lock, or several that are one to a reader.

    Attributes:
        name: name, as far as known.
        kind: kind as in the table `lock_names`.
        wait_ns: total wait time.
        waits: number of waits.
        waiters: number of threads that waited.
    """

    name: str
    kind: str
    wait_ns: int
    waits: int
    waiters: int


@dataclass(frozen=True)
class _Waits:
    """Wait time, waits and wake-ups at one lock or several, by thread ID."""

    wait_ns: Counter[int] = field(default_factory=Counter)
    waits: Counter[int] = field(default_factory=Counter)
    wakes: Counter[int] = field(default_factory=Counter)

    def add(self, other: "_Waits") -> None:
        for sums, more in zip(vars(self).values(), vars(other).values(), strict=True):
            sums.update(more)

    def as_lock(self, name: str, kind: str) -> RunLock:
        waiters = sum(count > 0 for count in self.waits.values())
        return RunLock(name, kind, self.wait_ns.total(), self.waits.total(), waiters)


class ThreadRoles(NamedTuple):
    """Roles of threads by ID, and those of main threads."""

    roles: Mapping[int, str]
    main: Collection[str]


def run_locks(reader: RunReader) -> list[RunLock]:
    """Return the locks of a run by wait time, longest first; none without a ledger."""
    rows = table_growth(reader.parts, "locks").to_pylist()
    if not rows:
        return []
    names = {
        row["lock"]: (row["name"], row["kind"])
        for row in table_growth(reader.parts, "lock_names").to_pylist()
    }
    return summed_locks(rows, names, _roles(reader))


def summed_locks(
    rows: Iterable[Mapping[str, int]],
    names: Mapping[int, tuple[str, str]],
    threads: ThreadRoles,
) -> list[RunLock]:
    """Return locks by wait time, longest first.

    Args:
        rows: of the table `locks`, with the growth within the run.
        names: name and kind by number.
        threads: roles of the threads.
    """
    by_lock: dict[int, _Waits] = defaultdict(_Waits)
    for row in rows:
        waits, tid = by_lock[row["lock"]], row["tid"]
        waits.wait_ns[tid] += row["wait_ns"]
        waits.waits[tid] += row["waits"]
        waits.wakes[tid] += row["wakes"]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for lock, waits in by_lock.items():
        name, kind = names.get(lock, ("", "unknown"))
        memory = _IN_MEMORY.fullmatch(name) if kind in _SUMMED_KINDS else None
        role = threads.roles.get(_longest(waits.wait_ns) or 0)
        if memory is not None and role is not None:
            place, process = memory.groups()
            groups[f"{place} of {process}" if process else place, role].append(lock)
    found = []
    for (place, role), locks in groups.items():
        chosen = _summable(locks, by_lock)
        if not chosen:
            continue
        whole = _Waits()
        for lock in chosen:
            whole.add(by_lock.pop(lock))
        only_conditions = all(names[lock][1] == "condition" for lock in chosen)
        among = not only_conditions and _are_among(whole, role, threads)
        what = "conditions" if only_conditions else "locks"
        kind = "lock" if among else "condition"
        found.append(whole.as_lock(f"{what} in {place}, waited for by {role}", kind))
    found += [waits.as_lock(*names.get(lock, ("", "unknown"))) for lock, waits in by_lock.items()]
    return sorted(found, key=lambda lock: (-lock.wait_ns, lock.name))


def _roles(reader: RunReader) -> ThreadRoles:
    table = reader.threads()
    columns = [one for one in ("tid", "role", "pid") if one in table.column_names]
    threads = table.sort_by("start_ns").select(columns).to_pylist()
    # Main threads have the ID of their process; without process IDs, the oldest thread counts.
    main = {one["role"] for one in threads if one.get("pid") == one["tid"]}
    if "pid" not in columns:
        main = {one["role"] for one in threads[:1]}
    return ThreadRoles({one["tid"]: one["role"] for one in threads}, main)


def _summable(locks: Sequence[int], by_lock: Mapping[int, _Waits]) -> list[int]:
    """Return locks of a role's waiting that become one; none if each matters by itself."""
    totals = {lock: by_lock[lock].wait_ns.total() for lock in locks}
    own = [
        lock
        for lock in locks
        if max(by_lock[lock].wait_ns.values(), default=0) >= _OWN_SHARE * totals[lock]
    ]
    if len(own) < _OWN_LOCKS:
        return _alike(totals)
    return own + _alike({lock: total for lock, total in totals.items() if lock not in own})


def _alike(totals: Mapping[int, int]) -> list[int]:
    """Return locks without those that stand out; none if few are left."""
    most = sorted(totals, key=lambda lock: -totals[lock])
    left = sum(totals.values())
    while most and totals[most[0]] > _STANDS_OUT * left:
        left -= totals[most.pop(0)]
    return most if len(most) >= _MANY_LOCKS else []


def _are_among(waits: _Waits, role: str, threads: ThreadRoles) -> bool:
    """Return True if threads that wait release the locks: those of the role.

    If the main thread is of that role, as of threads without names of their own, only those that
    wait count.
    """
    named = role not in threads.main
    among = sum(
        count
        for tid, count in waits.wakes.items()
        if waits.wait_ns[tid] > 0 or (named and threads.roles.get(tid) == role)
    )
    return waits.wakes.total() > 0 and among >= _AMONG_THEM * waits.wakes.total()


def _longest(wait_ns: Counter[int]) -> int | None:
    return max(wait_ns, key=lambda tid: wait_ns[tid], default=None)
