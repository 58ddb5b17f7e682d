"""Rates of each thread of a run, from the rows of samples. Pure."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.rates import rates_per_s

Life = tuple[int, int | None]
"""Thread id, and start in nanoseconds since attach."""


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
) -> Iterator[tuple[Life, Rates]]:
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
