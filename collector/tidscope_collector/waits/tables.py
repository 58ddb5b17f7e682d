"""Tables of what is counted beside ledgers, by thread and something else. Pure."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.watched import Whose, are_of
from tidscope_collector.waits.counts import Counts, Rows
from tidscope_collector.waits.sums import sum_by

INTERRUPT = "interrupt"
IDLE = "idle"
UNKNOWN = "unknown"

STAYS = np.dtype([("tid", "u4"), ("state", "u4"), ("bucket", "u4"), ("count", "u8")])
WAKES = np.dtype(
    [
        *(("waker_tid", "u4"), ("waker_pid", "u4"), ("wakee_tid", "u4"), ("waker_kernel", "u4")),
        *(("count", "u8"), ("blocked_ns", "u8"), ("delay_ns", "u8"), ("waker_name", "S16")),
    ]
)
LOCKS = np.dtype(
    [
        *(("address", "u8"), ("process", "u4"), ("tid", "u4")),
        *((name, "u8") for name in ("wait_ns", "waits", "wakes")),
    ]
)
TAKERS = np.dtype([("tid", "u4"), ("pid", "u4"), ("kernel", "u4"), ("ns", "u8"), ("name", "S16")])
CALLS = np.dtype([("tid", "u4"), ("call", "u4"), ("count", "u8"), ("ns", "u8"), ("name", "S32")])
CALL_STAYS = np.dtype([("tid", "u4"), ("call", "u4"), ("bucket", "u4"), ("count", "u8")])

Table = npt.NDArray[np.void]
NameOf = Callable[[int], tuple[str, bool]]
"""Of a process id: the process' name, and whether it is a kernel thread."""

_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)
_ONE = np.uint64(1)


def tables_of(
    counts: Counts,
    whose: Whose,
    name_of: NameOf,
    taker_name: Callable[[int], str],
    calls: dict[int, str],
) -> Iterator[dict[str, Table]]:
    """The tables of processes, one by one.

    Args:
        counts: of their threads.
        whose: the processes.
        name_of: names of processes that woke them.
        taker_name: name of a process that ran while threads were queued.
        calls: names of system calls.

    Yields:
        Structured arrays STAYS, WAKES, LOCKS, TAKERS, CALLS and CALL_STAYS by name, the last two
        where calls were counted. The thread id 0 stands for threads that have ended, and the wakers
        0 of other processes for any thread.
    """
    yield {"stays": _plain(counts.stays, STAYS)}
    yield {"wakes": _wakes(counts.edges, name_of)}
    yield {"locks": _locks(counts.edges, whose)}
    yield {"takers": _takers(counts.takers, counts.queued, taker_name)}
    if len(counts.calls.keys[0]):
        yield {"calls": _calls(counts.calls, calls)}
        yield {"call_stays": _plain(counts.call_stays, CALL_STAYS)}


def _plain(rows: Rows, table: np.dtype[np.void]) -> Table:
    made = np.zeros(len(rows.keys[0]), table)
    for name, column in zip(table.names or (), (*rows.keys, *rows.values), strict=True):
        made[name] = column
    return made


def _wakes(edges: Rows, name_of: NameOf) -> Table:
    tid, waker, _, _ = edges.keys
    (waker, tid), values = sum_by((waker, tid), edges.values)
    made = np.zeros(len(tid), WAKES)
    made["waker_tid"], made["waker_pid"], made["wakee_tid"] = waker & _LOW, waker >> _HIGH, tid
    made["count"], made["blocked_ns"], made["delay_ns"] = values
    for process in np.unique(made["waker_pid"]).tolist():
        rows = made["waker_pid"] == process
        name, kernel = name_of(process) if process else (INTERRUPT, False)
        made["waker_name"][rows], made["waker_kernel"][rows] = name.encode(), kernel
    return made


def _locks(edges: Rows, whose: Whose) -> Table:
    """Waits by who waited, and wake-ups by who gave them."""
    futex = edges.keys[2] != 0
    tid, waker, address, process = (column[futex] for column in edges.keys)
    count, blocked, _ = (column[futex] for column in edges.values)
    none = np.zeros(len(tid), np.uint64)
    own = np.flatnonzero(are_of((waker >> _HIGH).astype(np.uint32), whose))
    keys = (
        np.concatenate([address, address[own]]),
        np.concatenate([process, process[own]]),
        np.concatenate([tid, waker[own] & _LOW]),
    )
    values = (
        np.concatenate([blocked, none[own]]),
        np.concatenate([count, none[own]]),
        np.concatenate([none, count[own]]),
    )
    return _plain(Rows(*sum_by(keys, values)), LOCKS)


def _takers(takers: Rows, queued: Rows, name_of: Callable[[int], str]) -> Table:
    """With what is not known of the time in run queues as the process 0 that is not the kernel's.

    A thread's rows never add up to more than its time in run queues: clocks of run queues differ
    from ours by nanoseconds, which its greatest row makes up for.
    """
    (tid, who), (ns,) = takers.keys, takers.values
    known, (sums,) = sum_by((tid,), (ns,))
    at = np.searchsorted(known[0], queued.keys[0])
    at = np.minimum(at, max(len(known[0]) - 1, 0))
    total = np.zeros(len(queued.keys[0]), np.uint64)
    if len(known[0]):
        total = np.where(known[0][at] == queued.keys[0], sums[at], total)
    rest = queued.values[0].astype(np.int64) - total.astype(np.int64)
    ns = ns.copy()
    for row in np.flatnonzero(rest < 0).tolist():
        mine = np.flatnonzero(tid == queued.keys[0][row])
        greatest = mine[np.argmax(ns[mine])]
        ns[greatest] -= min(ns[greatest], np.uint64(-rest[row]))
    more = np.flatnonzero(rest > 0)
    made = np.zeros(len(tid) + len(more), TAKERS)
    made["tid"] = np.concatenate([tid, queued.keys[0][more]])
    made["pid"][: len(tid)], made["kernel"][: len(tid)] = who >> _ONE, who & _ONE
    made["ns"] = np.concatenate([ns, rest[more].astype(np.uint64)])
    for process in np.unique(made["pid"]).tolist():
        rows = made["pid"] == process
        made["name"][rows] = name_of(process).encode() if process else IDLE.encode()
    made["name"][len(tid) :] = UNKNOWN.encode()
    return made


def _calls(rows: Rows, names: dict[int, str]) -> Table:
    tid, call = rows.keys
    made = np.zeros(len(tid), CALLS)
    made["tid"], made["call"] = tid, call
    made["count"], made["ns"] = rows.values
    for number in np.unique(made["call"]).tolist():
        made["name"][made["call"] == number] = names.get(number, f"call {number}").encode()
    return made
