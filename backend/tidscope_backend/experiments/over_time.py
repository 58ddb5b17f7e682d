"""Size and throughput of a pool by second of a measurement, as figure 6.8 of Xu's thesis. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tidscope_wire.generated.models import ChartSeries, ExperimentChart

from tidscope_backend.comparison.statistics import group_figure
from tidscope_backend.experiments.charts_of_ratios import bare_point
from tidscope_backend.experiments.matrix import THROUGHPUT, Cell

SIZE = "size"
Seconds = Mapping[str, Sequence[float | None]]
"""SIZE and THROUGHPUT by second of a measurement; None if unknown."""
MAX_SECONDS = 600
MAX_CHARTS = 6
"""Maximum combinations of the other axes with charts."""


def seconds_of(
    readings: Sequence[Mapping[str, Any]], from_ns: int
) -> dict[str, list[float | None]]:
    """Return size and throughput of the pool that finished most jobs, by second of its run.

    Args:
        readings: readings of all pools, by time, as of `pool_readings`.
        from_ns: start of the run, nanoseconds since attach.

    Returns:
        Empty without a pool that counts jobs. The size is the last one read in a second, the
        throughput that between two readings.
    """
    counted = [row for row in readings if row["finished"] is not None and row["size"] is not None]
    if not counted:
        return {}
    pool = max(counted, key=lambda row: int(row["finished"]))["pool"]
    rows = [row for row in counted if row["pool"] == pool]
    places = [math.floor((row["read_ns"] - from_ns) / 1e9) for row in rows]
    length = min(max(places) + 1, MAX_SECONDS)
    if length < 1:
        return {}
    sizes: list[float | None] = [None] * length
    rates: list[float | None] = [None] * length
    for place, row in zip(places, rows, strict=True):
        if 0 <= place < length:
            sizes[place] = float(row["size"])
    for (before, after), place in zip(pairwise(rows), places[1:], strict=True):
        elapsed_ns = after["read_ns"] - before["read_ns"]
        if 0 <= place < length and before["read_ns"] >= from_ns and elapsed_ns > 0:
            rates[place] = max(0, after["finished"] - before["finished"]) * 1e9 / elapsed_ns
    return {SIZE: sizes, THROUGHPUT: rates}


def charts_over_time(
    cells: Sequence[Cell], measured: Mapping[str, Sequence[Seconds]], unit: str
) -> Iterator[ExperimentChart]:
    """Yield size and throughput over time for each combination of the axes but policy and size.

    Nothing is drawn for a combination in which no size changed.

    Args:
        cells: cells of the matrix.
        measured: repeats of each cell, by the cell's name.
        unit: unit of an operation, in the plural.
    """
    same = [
        axis
        for axis in (cells[0].values if cells else ())
        if len({str(cell.values[axis]) for cell in cells}) == 1
    ]
    drawn = ("policy", SIZE)
    others = [axis for axis in (cells[0].values if cells else ()) if axis not in drawn]
    rests: dict[str, list[Cell]] = {}
    for cell in cells:
        other = cell.without(*drawn, *same)
        rests.setdefault(other.key if other.values else "", []).append(cell)
    moving = {
        rest: own
        for rest, own in rests.items()
        if any(_changes(each) for cell in own for each in measured.get(cell.key, ()))
    }
    for at, (rest, own) in enumerate(list(moving.items())[:MAX_CHARTS]):
        for name, title, label in (
            (SIZE, "Size over time", "workers"),
            (THROUGHPUT, "Throughput over time", f"{unit} a second"),
        ):
            series = []
            for cell in own:
                shown = cell.without(*same, *others)
                found = measured.get(cell.key, ())
                if name == SIZE and not any(map(_changes, found)):
                    continue
                means = _means([one.get(name, ()) for one in found])
                points = [bare_point(x, mean) for x, mean in means.items()]
                if points:
                    series.append(
                        ChartSeries(name=shown.key if len(own) > 1 else "", points=points)
                    )
            last = max((point.x for one in series for point in one.points), default=0)
            yield ExperimentChart(
                id=f"{name}-over-time-{at}",
                title=f"{title}: {rest}" if rest else title,
                kind="lines",
                x_label="seconds of the measurement",
                x=[str(second) for second in range(last + 1)],
                y_label=label,
                unit="",
                reference=None,
                series=series,
                note="Means of the repeats; read once a second.",
            )


def _changes(found: Seconds) -> bool:
    return len({one for one in found.get(SIZE, ()) if one is not None}) > 1


def _means(repeats: Sequence[Sequence[float | None]]) -> dict[int, float]:
    """Return the mean of the repeats by second, where one is known."""
    found = {}
    for second in range(max(map(len, repeats), default=0)):
        mean = group_figure([one[second] for one in repeats if second < len(one)]).mean
        if mean is not None:
            found[second] = mean
    return found
