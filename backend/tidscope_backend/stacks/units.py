"""Samples of a selection, and the exact times that they divide. Pure."""

from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table

from tidscope_backend.stacks.estimate import Ints, Strata, Units
from tidscope_backend.stacks.frame_facts import LockWaits
from tidscope_backend.stacks.intervals import Floats
from tidscope_backend.stacks.ledger import Times, WindowTimes, merged
from tidscope_backend.stacks.selection import FUTEX, ON_CPU, STATES, WOKEN

TOLERANCE_NS = 1_000_000
"""Maximum difference between the begins of a stay in a sample and in the ledger."""
_BITS = 6
"""Bits of a state in the code of a stratum."""


class Sampling(NamedTuple):
    """A part of a window in which stays were sampled.

    Attributes:
        since_ns: stays that began before this time have no sample.
        times: exact times of the part.
        locks: waits for locks that ended in it; None if unknown.
    """

    since_ns: int
    times: WindowTimes
    locks: LockWaits | None = None


class Account(NamedTuple):
    """Samples and exact times of a selection.

    Attributes:
        units: the samples; their nodes are numbers of the table `stack_nodes`, 0 for unknown.
        strata: exact times in which stays were sampled.
        exact_ns: time of the selection, sampled or not.
        row: [n], row of each sample in the table of samples.
        begin_ns: [n], begin of the time that it stands for.
        end_ns: [n], end.
        first_stage: see `estimate`.
    """

    units: Units
    strata: Strata
    exact_ns: float
    row: Ints
    begin_ns: Floats
    end_ns: Floats
    first_stage: float = np.inf


class _Spans(NamedTuple):
    """Times of samples: row, state, begin and end. A sample on a CPU has no length."""

    row: Ints
    state: Ints
    begin_ns: Floats
    end_ns: Floats


def account_of_states(
    samples: Table,
    parts: Sequence[Sampling],
    whole: WindowTimes,
    chosen: Container[int],
    states: frozenset[int],
) -> Account:
    """Return the time of threads in states.

    Args:
        samples: rows of `stack_samples`, the last of each sample.
        parts: parts of the window in which stays were sampled, in order.
        whole: times of the whole window.
        chosen: selected threads.
        states: numbers of the selected states.
    """
    columns = [state - 1 for state in sorted(states)]
    exact = sum(float(times[columns].sum()) for tid, times in whole.total.items() if tid in chosen)
    sampled = merged(part.times.sampled for part in parts)
    codes, times = _strata(sampled, chosen, states)
    spans = _spans(samples, parts)
    value = np.zeros(len(spans.row))
    begin, end = spans.begin_ns.copy(), spans.end_ns.copy()
    for part in parts:
        low, high = part.times.from_ns, part.times.to_ns
        inside = (samples["begin_ns"][spans.row] >= part.since_ns) & (spans.begin_ns <= high)
        begin[inside] = np.maximum(spans.begin_ns[inside], low)
        end[inside] = np.minimum(spans.end_ns[inside], high)
        value[inside] = np.maximum(end - begin, 0)[inside]
        seen = inside & (spans.state == ON_CPU) & (spans.begin_ns >= low)
        value[seen] = 1
    code = (samples["tid"][spans.row].astype(np.int64) << _BITS) | spans.state
    place, found = _places(codes, code)
    kept = (value > 0) & found
    row = spans.row[kept]
    units = _units(samples, row, value[kept], spans.state[kept], place[kept])
    pools = codes & ((1 << _BITS) - 1)
    return Account(units, Strata(times, pools), exact, row, begin[kept], end[kept])


def account_of_lock(
    samples: Table,
    parts: Sequence[Sampling],
    whole: LockWaits | None,
    chosen: Container[int],
    lock: int,
) -> Account:
    """Return the waits for a lock that ended in a window, with their whole length.

    Args:
        samples: rows of `stack_samples`, the last of each sample.
        parts: parts of the window in which stays were sampled, in order.
        whole: waits of the whole window; None if unknown.
        chosen: selected threads. Waits of threads that have exited belong to no thread, and are
            included if every thread is selected (thread 0 is).
        lock: number of the lock.
    """
    exact = {} if whole is None else whole.of(lock)
    waits: dict[int, int] = {}
    end_ns = samples["begin_ns"].astype(np.float64) + samples["wait_ns"]
    value = np.zeros(len(samples))
    of_lock = (samples["lock"] == lock) & (samples["wait_ns"] > 0)
    for part in parts:
        if part.locks is None:
            continue
        for tid, ns in part.locks.of(lock).items():
            waits[tid] = waits.get(tid, 0) + ns
        inside = (end_ns > part.locks.from_ns) & (end_ns <= part.locks.to_ns)
        inside &= of_lock & (samples["begin_ns"] >= part.since_ns)
        value[inside] = samples["wait_ns"][inside]
    tids = np.array(sorted(tid for tid in waits if tid in chosen), np.int64)
    times = np.array([waits[tid] for tid in tids.tolist()], np.float64)
    code = samples["tid"].astype(np.int64)
    # Samples of exited threads divide the waits that belong to no thread.
    code[~np.isin(code, list(waits))] = 0
    place, found = _places(tids, code)
    row = np.flatnonzero((value > 0) & found)
    state = np.full(len(row), FUTEX, np.int64)
    return Account(
        _units(samples, row, value[row], state, place[row]),
        Strata(times, np.zeros(len(tids), np.int64)),
        float(sum(ns for one, ns in exact.items() if one in chosen)),
        row,
        samples["begin_ns"][row].astype(np.float64),
        end_ns[row],
    )


def _places(codes: Ints, wanted: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the places of values among ascending codes, and which are there."""
    if not len(codes):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return place.astype(np.int64), codes[place] == wanted


def _strata(
    sampled: dict[int, Times], chosen: Container[int], states: frozenset[int]
) -> tuple[Ints, Floats]:
    """Return codes of threads in states, ascending, and their exact times."""
    numbers = np.array(sorted(states), np.int64)
    tids = np.array(sorted(tid for tid in sampled if tid in chosen), np.int64)
    times = np.array([sampled[tid][numbers - 1] for tid in tids.tolist()])
    codes = (tids[:, None] << _BITS) | numbers
    there = times.reshape(codes.shape) > 0
    return codes[there], times.reshape(codes.shape)[there]


def _spans(samples: Table, parts: Sequence[Sampling]) -> _Spans:
    """Return the times of samples: stays, and the run-queue delays after them."""
    begin = samples["begin_ns"].astype(np.float64)
    wait = samples["wait_ns"].astype(np.float64)
    state = samples["state"].astype(np.int64)
    on_cpu = state == ON_CPU
    ended = on_cpu | (wait > 0)
    end = np.where(ended, begin + wait, np.inf)
    lasts = ended | _under_way(samples, ended, parts)
    known = np.flatnonzero(lasts & (state > 0) & (state <= len(STATES)))
    delayed = np.flatnonzero((samples["delay_ns"] > 0) & (wait > 0))
    woken = np.full(len(delayed), WOKEN, np.int64)
    return _Spans(
        np.concatenate([known, delayed]),
        np.concatenate([state[known], woken]),
        np.concatenate([begin[known], end[delayed]]),
        np.concatenate([end[known], (end + samples["delay_ns"])[delayed]]),
    )


def _under_way(
    samples: Table, ended: npt.NDArray[np.bool_], parts: Sequence[Sampling]
) -> npt.NDArray[np.bool_]:
    """Return which samples are of stays that the ledger has under way at the end of their part.

    The end of any other stay is not known yet, or was lost.
    """
    found = np.zeros(len(samples), np.bool_)
    for row in np.flatnonzero(~ended).tolist():
        tid, state, begin_ns = (int(samples[row][name]) for name in ("tid", "state", "begin_ns"))
        for part in parts:
            stay = part.times.stays.get(tid)
            if stay is not None and part.since_ns <= begin_ns <= part.times.to_ns:
                same = abs(stay.since_ns - begin_ns) <= TOLERANCE_NS
                found[row] = stay.state == state and same
    return found


def _units(samples: Table, row: Ints, value: Floats, state: Ints, stratum: Ints) -> Units:
    weight = np.maximum(samples["weight"][row].astype(np.float64), 1)
    factor = np.where(state == ON_CPU, 1.0, 1 - 1 / weight)
    return Units(samples["node"][row].astype(np.int64), value * weight, factor, stratum)
