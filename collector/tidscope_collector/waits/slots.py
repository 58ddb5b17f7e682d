"""The slots in which the eBPF program keeps its ledgers, as arrays. Pure.

struct slot and struct control of bpf/waits.bpf.c stand here once more; a test compares them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidscope_collector.waits.states import State

SLOTS = 16384
CALLS = 1024
BUCKETS = 24
FIRST_BUCKET_BITS = 10
"""The first bucket is of stays below 2^10 ns; each further one reaches twice as far."""
STATES = len(State)
_STATE_BITS = 5

SLOT = np.dtype(
    [
        *(("tgid", "u4"), ("tid", "u4"), ("start_ns", "i8"), ("exit_ns", "i8")),
        *(("generation", "u8"), ("began_ns", "i8"), ("mark", "u8"), ("woken_ns", "i8")),
        *(("arrived_ns", "i8"), ("run_ns", "u8"), ("queued_ns", "u8")),
        *(("waker", "u4"), ("unseen", "u1"), ("pad", "u1", 3)),
        *(("ns", "u8", STATES), ("count", "u4", STATES)),
        ("histogram", "u4", (STATES, BUCKETS)),
    ],
    align=True,
)
CONTROL = np.dtype([("used", "u4"), ("pad", "u4"), ("threads_without_slot", "u8")])

Slots = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Ledgers:
    """Ledgers of n threads, all up to one instant.

    Attributes:
        tid: uint32[n].
        start_ns: int64[n], CLOCK_MONOTONIC.
        began_ns: int64[n], CLOCK_MONOTONIC since when each ledger is kept.
        ns: uint64[n, STATES], nanoseconds in each state; a row adds up to the time since it began.
        count: uint32[n, STATES], finished stays.
        histogram: uint32[n, STATES, BUCKETS] of finished stays.
        state: uint8[n], which one each is in.
        unseen: bool[n], whether a thread has not been switched to or from since: its state is that
            of a look at it.
    """

    tid: npt.NDArray[np.uint32]
    start_ns: npt.NDArray[np.int64]
    began_ns: npt.NDArray[np.int64]
    ns: npt.NDArray[np.uint64]
    count: npt.NDArray[np.uint32]
    histogram: npt.NDArray[np.uint32]
    state: npt.NDArray[np.uint8]
    unseen: npt.NDArray[np.bool_]


def consistent(slots: Slots) -> npt.NDArray[np.bool_]:
    """Which slots were copied in between updates: only then all states add up."""
    left = (slots["mark"] >> np.uint64(_STATE_BITS)).astype(np.int64)
    held: npt.NDArray[np.bool_] = slots["ns"].sum(axis=1).astype(np.int64) == (
        left - slots["began_ns"]
    )
    return held


def ledgers(slots: Slots, now_ns: int) -> Ledgers:
    """Ledgers of consistent copies of slots, with the stays that have not ended.

    Args:
        slots: structured array of SLOT.
        now_ns: CLOCK_MONOTONIC after they were copied; living threads are counted up to it.
    """
    ns = slots["ns"].copy()
    mark = slots["mark"]
    state = (mark & np.uint64((1 << _STATE_BITS) - 1)).astype(np.uint8)
    left = (mark >> np.uint64(_STATE_BITS)).astype(np.int64)
    end = np.where(slots["exit_ns"] == 0, np.maximum(now_ns, left), left)
    arrived = slots["arrived_ns"] >= left
    ran_from = np.where(arrived, np.minimum(slots["arrived_ns"], end), end)
    ran_from = np.where(state == State.ON_CPU, left, ran_from)
    woken = np.where(slots["woken_ns"] >= left, np.minimum(slots["woken_ns"], ran_from), ran_from)
    waits = state >= State.FUTEX
    queued_from = np.where(waits, woken, left)
    rows = np.arange(len(slots))
    queue = np.where(waits, np.uint8(State.WOKEN), np.uint8(State.PREEMPTED))
    ns[rows, state] += (queued_from - left).astype(np.uint64)
    ns[rows, queue] += (ran_from - queued_from).astype(np.uint64)
    ns[:, State.ON_CPU] += (end - ran_from).astype(np.uint64)
    state = np.where(queued_from < end, queue, state)
    state = np.where(ran_from < end, np.uint8(State.ON_CPU), state)
    return Ledgers(
        slots["tid"].copy(),
        slots["start_ns"].copy(),
        slots["began_ns"].copy(),
        ns,
        slots["count"].copy(),
        slots["histogram"].copy(),
        state,
        slots["unseen"].astype(np.bool_),
    )
