"""Slices of thread states and rates for trace viewers, made from the rows of samples. Pure.

A row has its thread's state and the state's start, and is valid until the next row. States between
two rows are unknown, so the time between is in no slice.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.rates import rates_per_s
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS


@dataclass(frozen=True)
class Rates:
    """Step function of rates: a value is valid until the next one.

    Attributes:
        time_ns: times, ascending.
        values: rate by field, in units per second; NaN if unknown.
    """

    time_ns: npt.NDArray[np.int64]
    values: Mapping[str, npt.NDArray[np.float64]]


def rates_of(
    samples: pa.Table, frames_ns: npt.NDArray[np.int64], fields: Sequence[str]
) -> Iterator[tuple[tuple[int, int | None], Rates]]:
    """Yield rates of each life of a thread.

    A thread has a row in a frame only if its counters changed since the previous frame. Between two
    distant rows, the thread was therefore idle until the last frame in between.

    Args:
        samples: columns `tid`, `start_ns`, `time_ns` and the fields, sorted by the first three.
        frames_ns: times of all frames, ascending.
        fields: names of counters.
    """
    tid = samples["tid"].to_numpy().astype(np.int64)
    start = pc.fill_null(samples["start_ns"], np.iinfo(np.int64).min).to_numpy()
    time_ns = samples["time_ns"].to_numpy().astype(np.int64)
    columns = {name: _floats(samples[name]) for name in fields}
    edges = np.flatnonzero((np.diff(tid) != 0) | (np.diff(start) != 0)) + 1
    bounds = [0, *edges.tolist(), len(tid)] if len(tid) else []
    for low, high in itertools.pairwise(bounds):
        rows = slice(low, high)
        known = None if start[low] == np.iinfo(np.int64).min else int(start[low])
        counters = {name: column[rows] for name, column in columns.items()}
        yield (int(tid[low]), known), _steps(time_ns[rows], counters, frames_ns)


def _floats(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy()
    return values


def _steps(
    time_ns: npt.NDArray[np.int64],
    counters: Mapping[str, npt.NDArray[np.float64]],
    frames_ns: npt.NDArray[np.int64],
) -> Rates:
    # Frame before each row except the first; until then the thread was idle.
    before = frames_ns[np.maximum(np.searchsorted(frames_ns, time_ns[1:]) - 1, 0)]
    idle = before > time_ns[:-1]
    times = np.concatenate([time_ns, before[idle]])
    order = np.argsort(times, kind="stable")
    times = times[order]
    values = {}
    for name, column in counters.items():
        readings = np.concatenate([column, column[:-1][idle]])[order]
        # A rate is stored at the end of its interval, a step at its start; threads are idle after
        # the last row.
        last = np.where(np.isnan(column[-1:]), np.nan, 0.0)
        values[name] = np.concatenate([rates_per_s(times, readings)[1:], last])
    return Rates(times, values)


Life = tuple[int, int]
"""Thread ID, and start in nanoseconds since attach."""

Ints = npt.NDArray[np.int64]


class StateSlice(NamedTuple):
    """A stay observed by samples.

    Attributes:
        field: field of the state.
        from_ns: start since attach, or the start of the thread's presence in the run.
        to_ns: last instant at which the stay was observed.
    """

    field: str
    from_ns: int
    to_ns: int


def state_slices(
    samples: pa.Table, frames_ns: Ints, threads: pa.Table
) -> Iterator[tuple[Life, list[StateSlice]]]:
    """Return slices of each life of a thread, in order and without nesting.

    Args:
        samples: columns `tid`, `start_ns`, `time_ns` and the gauges of states, sorted by the first
            three.
        frames_ns: times of all frames of the samples' level, ascending.
        threads: the run's thread table.
    """
    columns = zip(
        *(threads[name].to_pylist() for name in ("tid", "start_ns", "from_ns", "to_ns")),
        threads["exited"].to_pylist(),
        strict=True,
    )
    lives = {(tid, start): ends for tid, start, *ends in columns}
    known = pc.field("start_ns").is_valid() & pc.field(STATE).is_valid()
    samples = samples.filter(known)
    tid, start, time_ns, state, since = (
        samples[name].to_numpy().astype(np.int64)
        for name in ("tid", "start_ns", "time_ns", STATE, SINCE)
    )
    edges = np.flatnonzero((np.diff(tid) != 0) | (np.diff(start) != 0)) + 1
    bounds = [0, *edges.tolist(), len(tid)] if len(tid) else []
    for low, high in itertools.pairwise(bounds):
        life = int(tid[low]), int(start[low])
        if life not in lives:
            continue
        from_ns, to_ns, exited = lives[life]
        rows = slice(low, high)
        # A row is valid until the last frame before the next row or the exit.
        side: Literal["left", "right"] = "left" if exited else "right"
        end = int(frames_ns[max(0, np.searchsorted(frames_ns, to_ns, side=side) - 1)])
        before = frames_ns[np.maximum(np.searchsorted(frames_ns, time_ns[rows][1:]) - 1, 0)]
        until = np.maximum(np.append(before, end), time_ns[rows])
        yield life, _slices(state[rows], since[rows], until, from_ns)


def _slices(state: Ints, since: Ints, until: Ints, from_ns: int) -> list[StateSlice]:
    # Consecutive rows of one stay: the first row has its start, the last row its end.
    again = (np.diff(state) == 0) & (np.diff(since) == 0)
    firsts = np.flatnonzero(np.append(True, ~again))
    lasts = np.append(firsts[1:], len(state)) - 1
    found: list[StateSlice] = []
    behind = from_ns
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        begin, end = max(int(since[first]), behind), int(until[last])
        if 0 < state[first] <= len(STATE_FIELDS) and end > begin:
            found.append(StateSlice(STATE_FIELDS[state[first] - 1], begin, end))
            behind = end
    return found
