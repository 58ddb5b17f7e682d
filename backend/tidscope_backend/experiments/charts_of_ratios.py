"""Series and points of experiment charts, and charts of ratios: gains, speed-up, RAIT. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
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

from tidscope_backend.comparison.statistics import difference, group_figure
from tidscope_backend.experiments.matrix import BY_NAME, THROUGHPUT, WAIT, Cell
from tidscope_backend.experiments.settling import DEFAULT

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


ALL = "mean of all"
MIN_GAINS = 2
"""Number of gains up to which a mean has no interval."""


def rests_of(drawn: Sequence[Drawn]) -> list[str]:
    """Return combinations of all axes but the policy."""
    return list(dict.fromkeys(cell.without("policy").key for cell, _ in drawn))


def gains(drawn: Sequence[Drawn], rankings: Sequence[str]) -> ExperimentChart | None:
    """Return percentages over the default, with the intervals of the differences."""
    rests = rests_of(drawn)
    policies = [one for one in dict.fromkeys(cell.policy for cell, _ in drawn) if one != DEFAULT]
    series, several = [], len(rests) > 1
    for policy in policies:
        points = []
        for cell, own in drawn:
            figure = figure_of(own, THROUGHPUT)
            if cell.policy != policy or figure is None:
                continue
            gain = figure.gain
            if gain is None or gain.percent is None:
                continue
            low, high = ends_in_percent(gain) or (None, None)
            points.append(
                ChartPoint(
                    x=rests.index(cell.without("policy").key),
                    at=None,
                    mean=gain.percent,
                    low=low,
                    high=high,
                    values=[],
                )
            )
        if points and several:
            means = group_figure([one.mean for one in points])
            # An interval of two gains can have any width by chance.
            enough = len(points) > MIN_GAINS
            place = len(rests)
            points.append(
                mean_point(place, means) if enough else bare_point(place, means.mean or 0.0)
            )
        if points:
            series.append(ChartSeries(name=policy, points=points))
    if not series:
        return None
    return ExperimentChart(
        id="gains",
        title="Throughput over the default",
        kind="bars",
        x_label="",
        x=[*rests, *([ALL] if several else [])],
        y_label="gain",
        unit="%",
        reference=0.0,
        series=series,
        note=" ".join(
            [
                "Intervals of 95 % of the difference. One that holds 0 shows no difference.",
                *([f"{ALL}: over the gains beside it, each counts once."] if several else []),
                *rankings,
            ]
        ),
    )


def speed_up(drawn: Sequence[Drawn], sizes: Sequence[int]) -> ExperimentChart | None:
    def ratio(one: GroupFigure, size: GroupFigure) -> float:
        return (size.mean or 0.0) / (one.mean or 1.0)

    series = list(_ratios(drawn, sizes, THROUGHPUT, ratio))
    if not series:
        return None
    ideal = [bare_point(at, float(size)) for at, size in enumerate(sizes)]
    return _ratio_chart(
        "speed-up",
        "Speed-up",
        "T₁/Tₚ",
        sizes,
        [*series, ChartSeries(name="ideal", points=ideal)],
        "Mean throughput at a size, divided by that at size 1; the work is the same.",
    )


def rait(drawn: Sequence[Drawn], sizes: Sequence[int]) -> ExperimentChart | None:
    """Return the reciprocal of the average idle time, with its correlation with throughput."""

    def ratio(one: GroupFigure, size: GroupFigure) -> float:
        return (one.mean or 0.0) / size.mean if size.mean else 0.0

    series = list(_ratios(drawn, sizes, WAIT, ratio))
    if not series:
        return None
    notes = ["RAIT = AIT₁/AITᵢ: average queue wait at size 1, divided by that at a size."]
    throughput = dict(lines_of(drawn, "size", THROUGHPUT))
    for one in series:
        by_size = throughput.get(one.name, {})
        pairs = [
            (sizes[point.x], point.mean, mean)
            for point in one.points
            if sizes[point.x] in by_size and (mean := by_size[sizes[point.x]].mean) is not None
        ]
        stable = stable_point(by_size)
        # Beyond the degradation point throughput is equal, and its ranks are random.
        ranks = [
            spearman([a for _, a, _ in some], [b for _, _, b in some])
            for some in (pairs, [pair for pair in pairs if stable is None or pair[0] <= stable])
        ]
        if ranks[0] is not None:
            of = f"{one.name}: " if one.name else ""
            text = f"{of}rank correlation with throughput (Spearman) {ranks[0]:.2f}"
            if ranks[1] is not None:
                text += f", up to the stable point {ranks[1]:.2f}"
            notes.append(f"{text}.")
    title = "Reciprocal of the average idle time"
    return _ratio_chart("rait", title, "RAIT", sizes, series, " ".join(notes))


def _ratio_chart(
    chart_id: str,
    title: str,
    y_label: str,
    sizes: Sequence[int],
    series: Sequence[ChartSeries],
    note: str,
) -> ExperimentChart:
    return ExperimentChart(
        id=chart_id,
        title=title,
        kind="lines",
        x_label="size",
        x=[str(size) for size in sizes],
        y_label=y_label,
        unit="",
        reference=None,
        series=list(series),
        note=note,
    )


def _ratios(
    drawn: Sequence[Drawn],
    sizes: Sequence[int],
    name: str,
    ratio: Callable[[GroupFigure, GroupFigure], float],
) -> Iterator[ChartSeries]:
    """Yield ratios to size 1, without intervals."""
    for text, of_size in lines_of(drawn, "size", name):
        one = of_size.get(1)
        if one is None or not one.mean:
            continue
        points = [
            bare_point(at, ratio(one, of_size[size]))
            for at, size in enumerate(sizes)
            if size in of_size and of_size[size].mean is not None
        ]
        yield ChartSeries(name=text, points=points)


NEAR = 0.03
"""Tolerance: sizes within this share of the best throughput are equal, as in `tidscope sweep`."""


def spearman(first: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation; equal values share a rank. None if undefined."""
    a, b = _ranks(first), _ranks(other)
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(values: Sequence[float]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    found = np.asarray(values, dtype=np.float64)
    _, places, counts = np.unique(found, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: np.ndarray[tuple[int], np.dtype[np.float64]] = (2 * ends - counts + 1) / 2
    return means[places]


def stable_point(by_size: Mapping[float, GroupFigure]) -> float | None:
    """Return the smallest size whose mean is near the best mean, or None if unknown."""
    known = {size: one.mean for size, one in by_size.items() if one.mean is not None}
    if not known:
        return None
    best = max(known.values())
    return min(size for size, mean in known.items() if mean >= (1 - NEAR) * best)


def degradation_point(by_size: Mapping[float, GroupFigure]) -> float | None:
    """Return the smallest size above the best from which all sizes are shown to be worse.

    Worse means more than NEAR below the best. None if no size qualifies.
    """
    known = {size: one for size, one in sorted(by_size.items()) if one.mean is not None}
    if not known:
        return None
    best = max(known, key=lambda size: known[size].mean or 0.0)
    found = None
    for size in sorted((one for one in known if one > best), reverse=True):
        change = difference(known[best], known[size])
        bound = -NEAR * abs(known[best].mean or 0.0)
        if change.high is None or change.high >= 0 or (change.absolute or 0.0) > bound:
            break
        found = size
    return found
