"""Series and points of experiment charts. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from tidscope_wire.generated.models import (
    ChartKind,
    ChartPoint,
    ChartSeries,
    ExperimentCell,
    ExperimentChart,
    ExperimentFigure,
    FigureDifference,
    GroupFigure,
)

from tidscope_backend.experiments.figures import BY_NAME, THROUGHPUT
from tidscope_backend.experiments.matrix import Cell

Drawn = tuple[Cell, ExperimentCell]
X = TypeVar("X", int, float, str)


def lines_of(
    drawn: Sequence[Drawn], axis: str, name: str
) -> Iterator[tuple[str, dict[float, GroupFigure]]]:
    """Return a figure over the numbers of an axis, one line per combination of the other axes."""
    found: dict[str, dict[float, GroupFigure]] = {}
    for cell, own in drawn:
        rest = cell.without(axis)
        figure = figure_of(own, name)
        if axis in cell.values and figure is not None:
            step = float(cell.values[axis])
            found.setdefault(rest.key if rest.values else "", {})[step] = figure.figure
    yield from found.items()


def points_of(x: Sequence[X], figures: Mapping[X, GroupFigure]) -> list[ChartPoint]:
    """Return the points of a series; unknown values have no point."""
    return [
        mean_point(at, figures[one])
        for at, one in enumerate(x)
        if one in figures and figures[one].mean is not None
    ]


def mean_point(x: int, figure: GroupFigure, at: float | None = None) -> ChartPoint:
    """Return a mean with its interval and its repeats."""
    return ChartPoint(
        x=x,
        at=at,
        mean=figure.mean or 0.0,
        low=figure.low,
        high=figure.high,
        values=[value for value in figure.values if value is not None],
    )


def bare_point(x: int, mean: float) -> ChartPoint:
    """Return a point for a number without repeats."""
    return ChartPoint(x=x, at=None, mean=mean, low=None, high=None, values=[])


def figure_of(own: ExperimentCell, name: str) -> ExperimentFigure | None:
    """Return a figure of a cell, or None if unknown."""
    return next((one for one in own.figures if one.name == name), None)


def ends_in_percent(gain: FigureDifference) -> tuple[float, float] | None:
    """Return the interval of a gain, in percent of the baseline, or None if there is none."""
    if gain.low is None or gain.high is None:
        return None
    if not gain.absolute or gain.percent is None:
        return (0.0, 0.0) if gain.low == gain.high == 0 else None
    scale = gain.percent / gain.absolute
    return gain.low * scale, gain.high * scale


def chart_of(
    chart_id: str,
    name: str,
    unit: str,
    kind: ChartKind,
    x_label: str,
    x: Sequence[str],
    series: Sequence[ChartSeries],
    notes: Sequence[str],
) -> ExperimentChart | None:
    """Return the chart of a figure, or None if no value is above 0."""
    if not any(point.mean for one in series for point in one.points):
        return None
    figure = BY_NAME[name]
    is_rate = name == THROUGHPUT
    return ExperimentChart(
        id=chart_id,
        title=figure.label,
        kind=kind,
        x_label=x_label,
        x=list(x),
        y_label=f"{unit} a second" if is_rate else figure.label,
        unit="" if is_rate else figure.unit,
        reference=None,
        series=list(series),
        note=" ".join(notes),
    )


def number_text(value: float) -> str:
    """Format a step of an axis: 16, or 0.5."""
    return f"{value:.12g}"
