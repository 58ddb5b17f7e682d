"""The slots in which the eBPF program keeps its ledgers, as arrays. Pure.

The structs of bpf/waits.bpf.c stand here once more; a test compares them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidscope_collector.waits.states import State

SLOTS = 16384
CALLS = 1024
BUCKETS = 24
EDGES = 8
TAKERS = 8
FIRST_BUCKET_BITS = 10
"""The first bucket is of stays below 2^10 ns; each further one reaches twice as far."""
STATES = len(State)
_STATE_BITS = 5
_NEVER = np.iinfo(np.int64).max

SLOT = np.dtype(
    [
        *(("tgid", "u4"), ("tid", "u4"), ("start_ns", "i8"), ("exit_ns", "i8")),
        *(("generation", "u8"), ("mark", "u8"), ("woken_ns", "i8"), ("arrived_ns", "i8")),
        *(("began_ns", "i8"), ("run_ns", "u8"), ("queued_ns", "u8")),
        *(("address", "u8"), ("waker", "u8"), ("early_waker", "u8")),
        *(("index", "u4"), ("foreigner", "u4"), ("call", "u4")),
        *(("unseen", "u2"), ("waits_in", "u2")),
        *(("call_ns", "i8"), ("moved_ns", "u8")),
        *(("bucket", "u4"), ("spare", "u4")),
        ("ns", "u8", STATES),
        ("more", "u8", 5),
    ],
    align=True,
)
EDGE = np.dtype([(name, "u8") for name in ("waker", "address", "count", "blocked_ns", "delay_ns")])
TAKER = np.dtype([("who", "u8"), ("ns", "u8")])
DETAIL = np.dtype(
    [
        ("histogram", "u4", (STATES, BUCKETS)),
        ("edges", EDGE, EDGES),
        ("takers", TAKER, TAKERS),
    ]
)
CONTROL = np.dtype(
    [
        *(("used", "u4"), ("pad", "u4")),
        *((name, "u8") for name in ("threads_without_slot", "changes")),
        *((name, "u8") for name in ("more_edges", "more_takers")),
        *((name, "u8") for name in ("lost_edges", "lost_takers", "lost_calls")),
    ]
)
EDGE_KEY = np.dtype([("index", "u4"), ("generation", "u4"), ("waker", "u8"), ("address", "u8")])
TAKER_KEY = np.dtype([("index", "u4"), ("generation", "u4"), ("who", "u8")])
CALL_KEY = np.dtype([("index", "u4"), ("generation", "u4"), ("call", "u4"), ("pad", "u4")])
CALL_COUNT = np.dtype([("count", "u8"), ("ns", "u8"), ("histogram", "u4", BUCKETS)])
NAME = np.dtype([("comm", "S16"), ("kernel", "u4")])
CALL_ADDRESS = np.uint64(1 << 63)
"""In place of an address: the thread waited in the system call of the number that is added."""
HEAD_BYTES = 64
"""What changes with a ledger stands in so many bytes at the beginning of its slot."""

Slots = npt.NDArray[np.void]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Ledgers:
    """Ledgers of n threads, ascending by id; those of threads that have ended come first of an id.

    Attributes:
        tid: uint32[n].
        start_ns: int64[n], CLOCK_MONOTONIC.
        began_ns: int64[n], CLOCK_MONOTONIC since when each ledger is kept.
        ns: uint64[n, STATES], nanoseconds of finished stays in each state.
        state: uint8[n], the State each thread is in; ENDED for one that has ended.
        since_ns: int64[n], CLOCK_MONOTONIC since when; up to there a row of `ns` adds up to the
            time since the ledger began.
        unseen: bool[n], whether a thread has not been switched to or from since: its state is that
            of a look at it.
        changed: uint32[n], the number of the read that found each row different from before.
        number: of this read.
    """

    tid: npt.NDArray[np.uint32]
    start_ns: npt.NDArray[np.int64]
    began_ns: npt.NDArray[np.int64]
    ns: npt.NDArray[np.uint64]
    state: npt.NDArray[np.uint8]
    since_ns: npt.NDArray[np.int64]
    unseen: npt.NDArray[np.bool_]
    changed: npt.NDArray[np.uint32]
    number: int

    def at(self, now_ns: int) -> npt.NDArray[np.uint64]:
        """Nanoseconds in each state with the stays under way, uint64[n, STATES].

        Args:
            now_ns: CLOCK_MONOTONIC; living threads are counted up to it.
        """
        ns = self.ns.copy()
        open_ns = np.maximum(now_ns - self.since_ns, 0).astype(np.uint64)
        living = np.flatnonzero(self.state != State.ENDED)
        ns[living, self.state[living]] += open_ns[living]
        return ns

    def find(self, tids: npt.NDArray[np.uint32]) -> Indices:
        """The row of each thread, the latest that had its id: intp[n], -1 for one without."""
        if not len(self.tid):
            return np.full(len(tids), -1, np.intp)
        at = np.searchsorted(self.tid, tids, "right") - 1
        return np.where(self.tid[at] == tids, at, -1)


def consistent(slots: Slots) -> npt.NDArray[np.bool_]:
    """Which slots were copied in between updates: only then all states add up."""
    left = (slots["mark"] >> np.uint64(_STATE_BITS)).astype(np.int64)
    held: npt.NDArray[np.bool_] = slots["ns"].sum(axis=1).astype(np.int64) == (
        left - slots["began_ns"]
    )
    return held


def settle(
    slots: Slots,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """What consistent copies of slots say: finished stays, also those of the round under way.

    Args:
        slots: structured array of SLOT, one dimension.

    Returns:
        As in `Ledgers`: ns, state, since_ns.
    """
    ns, mark = slots["ns"].copy(), slots["mark"]
    state = (mark & np.uint64((1 << _STATE_BITS) - 1)).astype(np.uint8)
    left = (mark >> np.uint64(_STATE_BITS)).astype(np.int64)
    waits = state >= State.FUTEX
    runs = (slots["arrived_ns"] >= left) & (state > State.ON_CPU)
    arrived = np.where(runs, slots["arrived_ns"], _NEVER)
    woken = np.where(slots["woken_ns"] >= left, slots["woken_ns"], _NEVER)
    # Where no wake-up was seen the switch to it tells that there was one.
    queued = np.where(waits, np.minimum(woken, arrived), left)
    awake = waits & (queued < _NEVER)
    queue = np.where(state == State.PREEMPTED, np.uint8(State.PREEMPTED), np.uint8(State.WOKEN))
    rows = np.arange(len(slots))
    ns[rows, state] += np.where(awake, queued - left, 0).astype(np.uint64)
    ns[rows, queue] += np.where(runs, arrived - queued, 0).astype(np.uint64)
    since = np.where(runs, arrived, np.where(awake, queued, left))
    now = np.where(runs, np.uint8(State.ON_CPU), np.where(awake, queue, state))
    return ns, now, since
