"""Rates of each thread of a run, from the rows that its samples have. Pure."""

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
    """Steps: a value holds from its time on until the next one.

    Attributes:
        time_ns: ascending.
        values: field to its rate, units a second; nan where it is not known.
    """

    time_ns: npt.NDArray[np.int64]
    values: Mapping[str, npt.NDArray[np.float64]]


def rates_of(
    samples: pa.Table, instants: npt.NDArray[np.int64], fields: Sequence[str]
) -> Iterator[tuple[Life, Rates]]:
    """Rates of each life of a thread.

    A thread has a row at an instant only if its counters changed since the instant before. So
    between two rows that are further apart it did nothing until the last of the instants between.

    Args:
        samples: with `tid`, `start_ns`, `time_ns` and the fields, sorted by these three.
        instants: times at which there could be a row, ascending.
        fields: counters.
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
        yield (int(tid[low]), known), _steps(time_ns[rows], counters, instants)


def _floats(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy()
    return values


def _steps(
    time_ns: npt.NDArray[np.int64],
    counters: Mapping[str, npt.NDArray[np.float64]],
    instants: npt.NDArray[np.int64],
) -> Rates:
    # The instant before each row but the first: up to there the thread did nothing.
    before = instants[np.maximum(np.searchsorted(instants, time_ns[1:]) - 1, 0)]
    idle = before > time_ns[:-1]
    times = np.concatenate([time_ns, before[idle]])
    order = np.argsort(times, kind="stable")
    times = times[order]
    values = {}
    for name, column in counters.items():
        readings = np.concatenate([column, column[:-1][idle]])[order]
        # A rate belongs to the end of its interval, a step to its start; nothing follows the last.
        last = np.where(np.isnan(column[-1:]), np.nan, 0.0)
        values[name] = np.concatenate([rates_per_s(times, readings)[1:], last])
    return Rates(times, values)
