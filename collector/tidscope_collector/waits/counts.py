"""What the program counts beside ledgers, as rows with the same key added up. Pure.

A row of each kind is one key with its sums; keys and sums are columns of uint64. The thread id 0
stands for threads that have ended.
"""

from dataclasses import dataclass, field, fields, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from tidscope_collector.waits.slots import Slots
from tidscope_collector.waits.sums import Keys, Values, sum_by

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one kind: columns, uint64[n] each.

    Attributes:
        are_summed: whether it is known that no two rows have the same key.
    """

    keys: Keys
    values: Values
    are_summed: bool = False


def no_rows(keys: int, values: int) -> Rows:
    """Rows of so many columns, none of them."""
    none = np.empty(0, np.uint64)
    return Rows((none,) * keys, (none,) * values)


def _joined(parts: tuple[Rows, ...]) -> Rows:
    parts = tuple(one for one in parts if len(one.keys[0])) or parts[:1]
    if len(parts) == 1 and parts[0].are_summed:
        return parts[0]
    keys = tuple(
        np.concatenate(column) for column in zip(*(one.keys for one in parts), strict=True)
    )
    values = tuple(
        np.concatenate(column) for column in zip(*(one.values for one in parts), strict=True)
    )
    return Rows(*sum_by(keys, values), are_summed=True)


@dataclass(frozen=True, slots=True)
class Counts:
    """Of the threads of one process, or of a group's.

    Attributes:
        stays: (tid, state, bucket) to (count).
        edges: (tid, waker, address, process) to (count, blocked_ns, delay_ns); the waker is its
            process id << 32, with its thread id if it is one of these threads, and 0 for an
            interrupt. The process is the waiter's, which the address belongs to; 0 without one.
        takers: (tid, process id << 1 | whether it is a kernel thread) to (ns).
        queued: (tid) to (ns), all the time in run queues.
        calls: (tid, call) to (count, ns).
        call_stays: (tid, call, bucket) to (count).
    """

    stays: Rows = field(default_factory=partial(no_rows, 3, 1))
    edges: Rows = field(default_factory=partial(no_rows, 4, 3))
    takers: Rows = field(default_factory=partial(no_rows, 2, 1))
    queued: Rows = field(default_factory=partial(no_rows, 1, 1))
    calls: Rows = field(default_factory=partial(no_rows, 2, 2))
    call_stays: Rows = field(default_factory=partial(no_rows, 3, 1))

    def with_all(self, *others: "Counts") -> "Counts":
        """These and others, added up."""
        parts = (self, *others)
        return Counts(
            **{
                one.name: _joined(tuple(getattr(part, one.name) for part in parts))
                for one in fields(Counts)
            }
        )


def counts_of_details(details: Slots, tids: Words, pids: Words, edges: Slots, ns: Words) -> Counts:
    """What stands in the slots' own tables.

    Args:
        details: structured array of DETAIL, n rows.
        tids: uint64[n]; 0 for threads that have ended.
        pids: uint64[n], their processes.
        edges: structured array of EDGE, n rows: those of the slots.
        ns: uint64[n, STATES], their ledgers: which states they have been in.
    """
    row, state = np.nonzero(ns)
    histogram = details["histogram"][row, state]
    at, bucket = np.nonzero(histogram)
    stays = Rows(
        (tids[row[at]], state[at].astype(np.uint64), bucket.astype(np.uint64)),
        (histogram[at, bucket].astype(np.uint64),),
    )
    takers = details["takers"]
    taken, at = np.nonzero(takers["ns"])
    takers = takers[taken, at]
    row, at = np.nonzero(edges["count"])
    return replace(
        counts_of_edges(tids[row], pids[row], edges[row, at]),
        stays=stays,
        takers=Rows((tids[taken], takers["who"]), (takers["ns"],)),
    )


def counts_of_edges(tids: Words, pids: Words, edges: Slots) -> Counts:
    """Of edges: tids and pids uint64[n], of who waited; structured array of EDGE."""
    values = (edges["count"], edges["blocked_ns"], edges["delay_ns"])
    process = np.where(edges["address"] != 0, pids, np.uint64(0))
    return Counts(edges=Rows((tids, edges["waker"], edges["address"], process), values))


def counts_of_calls(tids: Words, calls: Words, counts: Slots) -> Counts:
    """Of system calls: tids and calls uint64[n], structured array of CALL_COUNT."""
    row, bucket = np.nonzero(counts["histogram"])
    return Counts(
        calls=Rows((tids, calls), (counts["count"], counts["ns"])),
        call_stays=Rows(
            (tids[row], calls[row], bucket.astype(np.uint64)),
            (counts["histogram"][row, bucket].astype(np.uint64),),
        ),
    )
