"""Charts of an experiment, as numbers: the page and the report draw the same ones. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar

from tidscope_wire.generated.models import (
    ChartPoint,
    ChartSeries,
    ExperimentCell,
    ExperimentChart,
    ExperimentFigure,
    GroupFigure,
)

from tidscope_backend.comparison.statistics import group_figure
from tidscope_backend.experiments.definition import DEFAULT
from tidscope_backend.experiments.figure_names import BY_NAME, THROUGHPUT, WAIT
from tidscope_backend.experiments.matrix import Cell
from tidscope_backend.experiments.ranks import degradation_point, spearman, stable_point

SHOWN = (THROUGHPUT, "p50_us", "p95_us", "deviation_us", "mean_cores", "cpu_delay", "net_bytes")
"""Figures that have a chart; and operations per joule, where the machine counts energy."""
ENERGY = ("power_w", "ops_per_j")
ALL = "mean of all"
Drawn = tuple[Cell, ExperimentCell]
X = TypeVar("X", int, str)


def charts_of(
    cells: Sequence[Cell],
    measured: Sequence[ExperimentCell],
    *,
    unit: str,
    waits: bool,
    speed: bool,
) -> list[ExperimentChart]:
    """All charts for which there are numbers.

    Args:
        cells: of the matrix.
        measured: the same cells, with their figures.
        unit: of an operation, in the plural.
        waits: whether queue waits are measured.
        speed: whether more threads do the same work.
    """
    # What is the same in all cells tells none apart.
    same = [axis for axis in (cells[0].values if cells else ()) if _is_same(axis, cells)]
    short = [cell.without(*same) if len(cells) > 1 else cell for cell in cells]
    drawn = list(zip(short, measured, strict=True))
    sizes = sorted({cell.size for cell in cells if cell.size is not None})
    by_size = len(sizes) > 1
    found: list[ExperimentChart | None] = []
    for name in (*SHOWN, *ENERGY):
        if by_size:
            found.append(_by_size(drawn, sizes, name, unit))
        else:
            found.append(_by_policy(drawn, name, unit))
        if name == THROUGHPUT:
            found.append(_gains(drawn))
            if by_size and speed:
                found.append(_speed_up(drawn, sizes))
            if by_size and waits:
                found.append(_rait(drawn, sizes))
    return [one for one in found if one is not None]


def _is_same(axis: str, cells: Sequence[Cell]) -> bool:
    return axis not in ("policy", "size") and len({str(one.values[axis]) for one in cells}) == 1


def _by_size(
    drawn: Sequence[Drawn], sizes: Sequence[int], name: str, unit: str
) -> ExperimentChart | None:
    series = [
        ChartSeries(name=text, points=points)
        for text, of_size in _lines(drawn, name)
        if (points := _points(sizes, of_size))
    ]
    notes = []
    if name == THROUGHPUT:
        for text, of_size in _lines(drawn, name):
            notes.append(_points_note(text, of_size))
    return _chart(f"{name}-by-size", name, unit, "lines", "size", sizes, series, notes)


def _by_policy(drawn: Sequence[Drawn], name: str, unit: str) -> ExperimentChart | None:
    rests, policies = _rests(drawn), list(dict.fromkeys(cell.policy for cell, _ in drawn))
    found = {
        (cell.policy, cell.without("policy").key): figure.figure
        for cell, own in drawn
        if (figure := _figure(own, name)) is not None
    }
    if len(rests) == 1:
        # Nothing but policies differs: each has its place on the axis.
        of_policy = {policy: one for (policy, _), one in found.items()}
        points = _points(policies, of_policy)
        series = [ChartSeries(name="", points=points)] if points else []
        return _chart(f"{name}-by-policy", name, unit, "bars", "policy", policies, series, [])
    series = []
    for policy in policies:
        of_rest = {rest: found[policy, rest] for rest in rests if (policy, rest) in found}
        if points := _points(rests, of_rest):
            series.append(ChartSeries(name=policy if len(policies) > 1 else "", points=points))
    return _chart(f"{name}-by-policy", name, unit, "bars", "", rests, series, [])


def _rests(drawn: Sequence[Drawn]) -> list[str]:
    """Combinations of all axes but the policy."""
    return list(dict.fromkeys(cell.without("policy").key for cell, _ in drawn))


def _gains(drawn: Sequence[Drawn]) -> ExperimentChart | None:
    """Per cent over the default, with the intervals of the differences."""
    rests = _rests(drawn)
    policies = [one for one in dict.fromkeys(cell.policy for cell, _ in drawn) if one != DEFAULT]
    baselines = {own.key: _figure(own, THROUGHPUT) for _, own in drawn}
    series, several = [], len(rests) > 1
    for policy in policies:
        points = []
        for cell, own in drawn:
            figure = _figure(own, THROUGHPUT)
            base = baselines.get(own.baseline or "")
            if cell.policy != policy or figure is None or base is None:
                continue
            gain, mean = figure.gain, base.figure.mean
            if gain is None or gain.percent is None or not mean:
                continue
            scale = 100 / abs(mean)
            points.append(
                ChartPoint(
                    x=rests.index(cell.without("policy").key),
                    mean=gain.percent,
                    low=None if gain.low is None else gain.low * scale,
                    high=None if gain.high is None else gain.high * scale,
                    values=[],
                )
            )
        if points and several:
            points.append(_mean_point(len(rests), group_figure([one.mean for one in points])))
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
        note="Intervals of 95 % of the difference. One that holds 0 shows no difference."
        + (f" {ALL}: over the gains beside it, each counts once." if several else ""),
    )


def _speed_up(drawn: Sequence[Drawn], sizes: Sequence[int]) -> ExperimentChart | None:
    def ratio(one: GroupFigure, size: GroupFigure) -> float:
        return (size.mean or 0.0) / (one.mean or 1.0)

    series = list(_ratios(drawn, sizes, THROUGHPUT, ratio))
    if not series:
        return None
    ideal = [
        ChartPoint(x=at, mean=float(size), low=None, high=None, values=[])
        for at, size in enumerate(sizes)
    ]
    return ExperimentChart(
        id="speed-up",
        title="Speed-up",
        kind="lines",
        x_label="size",
        x=[str(size) for size in sizes],
        y_label="T₁/Tₚ",
        unit="",
        reference=None,
        series=[*series, ChartSeries(name="ideal", points=ideal)],
        note="Mean throughput at a size, divided by that at size 1; the work is the same.",
    )


def _rait(drawn: Sequence[Drawn], sizes: Sequence[int]) -> ExperimentChart | None:
    """The reciprocal of the average idle time, and how it goes with throughput."""

    def ratio(one: GroupFigure, size: GroupFigure) -> float:
        return (one.mean or 0.0) / size.mean if size.mean else 0.0

    series = list(_ratios(drawn, sizes, WAIT, ratio))
    if not series:
        return None
    notes = ["RAIT = AIT₁/AITᵢ: average queue wait at size 1, divided by that at a size."]
    throughput = dict(_lines(drawn, THROUGHPUT))
    for one in series:
        means = {size: figure.mean for size, figure in throughput.get(one.name, {}).items()}
        pairs = [
            (point.mean, mean)
            for point in one.points
            if (mean := means.get(sizes[point.x])) is not None
        ]
        rank = spearman([a for a, _ in pairs], [b for _, b in pairs])
        if rank is not None:
            of = f"{one.name}: " if one.name else ""
            notes.append(f"{of}rank correlation with throughput (Spearman) {rank:.2f}.")
    return ExperimentChart(
        id="rait",
        title="Reciprocal of the average idle time",
        kind="lines",
        x_label="size",
        x=[str(size) for size in sizes],
        y_label="RAIT",
        unit="",
        reference=None,
        series=series,
        note=" ".join(notes),
    )


def _ratios(
    drawn: Sequence[Drawn],
    sizes: Sequence[int],
    name: str,
    ratio: Callable[[GroupFigure, GroupFigure], float],
) -> Iterator[ChartSeries]:
    """Ratios to size 1, without intervals."""
    for text, of_size in _lines(drawn, name):
        one = of_size.get(1)
        if one is None or not one.mean:
            continue
        points = [
            ChartPoint(x=at, mean=ratio(one, of_size[size]), low=None, high=None, values=[])
            for at, size in enumerate(sizes)
            if size in of_size and of_size[size].mean is not None
        ]
        yield ChartSeries(name=text, points=points)


def _lines(drawn: Sequence[Drawn], name: str) -> Iterator[tuple[str, dict[int, GroupFigure]]]:
    """For each combination of the other axes: a figure by size."""
    found: dict[str, dict[int, GroupFigure]] = {}
    for cell, own in drawn:
        rest = cell.without("size")
        figure = _figure(own, name)
        if cell.size is not None and figure is not None:
            found.setdefault(rest.key if rest.values else "", {})[cell.size] = figure.figure
    yield from found.items()


def _points_note(text: str, of_size: Mapping[int, GroupFigure]) -> str:
    stable, worse = stable_point(of_size), degradation_point(of_size)
    of = f"{text}: " if text else ""
    degrades = "none is seen" if worse is None else str(worse)
    return f"{of}stable point {stable}, degradation point {degrades}."


def _points(x: Sequence[X], figures: Mapping[X, GroupFigure]) -> list[ChartPoint]:
    return [
        _mean_point(at, figures[one])
        for at, one in enumerate(x)
        if one in figures and figures[one].mean is not None
    ]


def _mean_point(at: int, figure: GroupFigure) -> ChartPoint:
    return ChartPoint(
        x=at,
        mean=figure.mean or 0.0,
        low=figure.low,
        high=figure.high,
        values=[value for value in figure.values if value is not None],
    )


def _figure(own: ExperimentCell, name: str) -> ExperimentFigure | None:
    return next((one for one in own.figures if one.name == name), None)


def _chart(
    chart_id: str,
    name: str,
    unit: str,
    kind: Literal["lines", "bars"],
    x_label: str,
    x: Sequence[int] | Sequence[str],
    series: Sequence[ChartSeries],
    notes: Sequence[str],
) -> ExperimentChart | None:
    if not any(point.mean for one in series for point in one.points):
        return None
    figure = BY_NAME[name]
    is_rate = name == THROUGHPUT
    return ExperimentChart(
        id=chart_id,
        title=figure.label,
        kind=kind,
        x_label=x_label,
        x=[str(one) for one in x],
        y_label=f"{unit} a second" if is_rate else figure.label,
        unit="" if is_rate else figure.unit,
        reference=None,
        series=list(series),
        note=" ".join(notes),
    )
