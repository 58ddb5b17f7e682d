"""Charts of an experiment, as numbers: the page and the report draw the same ones. Pure."""

from collections.abc import Mapping, Sequence

from tidscope_wire.generated.models import (
    ChartSeries,
    ExperimentCell,
    ExperimentChart,
    GroupFigure,
)

from tidscope_backend.experiments.chart_parts import (
    Drawn,
    chart_of,
    figure_of,
    lines_of,
    number_text,
    points_of,
)
from tidscope_backend.experiments.charts_of_ratios import gains, rait, rests_of, speed_up
from tidscope_backend.experiments.charts_of_targets import by_target, latency_curves, targets_of
from tidscope_backend.experiments.charts_of_time import charts_of_time
from tidscope_backend.experiments.figure_names import THROUGHPUT
from tidscope_backend.experiments.matrix import Cell
from tidscope_backend.experiments.ranks import degradation_point, stable_point

LATENCIES = ("p50_us", "p95_us", "deviation_us")
COSTS = (
    *("mean_cores", "ops_per_cpu_s", "cpu_delay", "net_bytes", "moved_bytes", "net_counted_share"),
    *("wakeups", "parks", "steals", "idle_wakeups"),
    *("ring_submissions", "ring_completions"),
)
ENERGY = ("power_w", "ops_per_j")
"""Where the machine counts energy."""


def charts_of(
    cells: Sequence[Cell],
    measured: Sequence[ExperimentCell],
    *,
    unit: str,
    waits: bool,
    speed: bool,
    rankings: Sequence[str],
) -> list[ExperimentChart]:
    """All charts for which there are numbers.

    Args:
        cells: of the matrix.
        measured: the same cells, with their figures.
        unit: of an operation, in the plural.
        waits: whether queue waits are measured.
        speed: whether more threads do the same work.
        rankings: sentences that say which policy did the most.
    """
    # What is the same in all cells tells none apart.
    same = [axis for axis in (cells[0].values if cells else ()) if _is_same(axis, cells)]
    short = [cell.without(*same) if len(cells) > 1 else cell for cell in cells]
    drawn = list(zip(short, measured, strict=True))
    sizes = sorted({cell.size for cell in cells if cell.size is not None})
    targets = targets_of(cells)

    def one(name: str) -> ExperimentChart | None:
        if targets:
            return by_target(drawn, targets, name, unit)
        return (
            _by_size(drawn, sizes, name, unit) if len(sizes) > 1 else _by_policy(drawn, name, unit)
        )

    found = [one(THROUGHPUT), gains(drawn, rankings)]
    if targets:
        found += latency_curves(drawn, targets, unit)
    elif len(sizes) > 1:
        found.append(speed_up(drawn, sizes) if speed else None)
        found.append(rait(drawn, sizes) if waits else None)
    found += [] if targets else [one(name) for name in LATENCIES]
    found += [one(name) for name in (*COSTS, *ENERGY)]
    axis = "target" if targets else "size" if len(sizes) > 1 else ""
    found += charts_of_time(drawn, axis)
    return [chart for chart in found if chart is not None]


def _is_same(axis: str, cells: Sequence[Cell]) -> bool:
    return axis not in ("policy", "size") and len({str(one.values[axis]) for one in cells}) == 1


def _by_size(
    drawn: Sequence[Drawn], sizes: Sequence[int], name: str, unit: str
) -> ExperimentChart | None:
    series, notes = [], []
    for text, of_size in lines_of(drawn, "size", name):
        if points := points_of(sizes, of_size):
            series.append(ChartSeries(name=text, points=points))
        if name == THROUGHPUT:
            notes.append(_points_note(text, of_size))
    x = list(map(str, sizes))
    return chart_of(f"{name}-by-size", name, unit, "lines", "size", x, series, notes)


def _points_note(text: str, of_size: Mapping[float, GroupFigure]) -> str:
    stable, worse = stable_point(of_size), degradation_point(of_size)
    of = f"{text}: " if text else ""
    point = "unknown" if stable is None else number_text(stable)
    degrades = "none is seen" if worse is None else number_text(worse)
    return f"{of}stable point {point}, degradation point {degrades}."


def _by_policy(drawn: Sequence[Drawn], name: str, unit: str) -> ExperimentChart | None:
    rests, policies = rests_of(drawn), list(dict.fromkeys(cell.policy for cell, _ in drawn))
    found = {
        (cell.policy, cell.without("policy").key): figure.figure
        for cell, own in drawn
        if (figure := figure_of(own, name)) is not None
    }
    if len(rests) == 1:
        # Nothing but policies differs: each has its place on the axis.
        of_policy = {policy: one for (policy, _), one in found.items()}
        points = points_of(policies, of_policy)
        series = [ChartSeries(name="", points=points)] if points else []
        return chart_of(f"{name}-by-policy", name, unit, "bars", "policy", policies, series, [])
    series = []
    for policy in policies:
        of_rest = {rest: found[policy, rest] for rest in rests if (policy, rest) in found}
        if points := points_of(rests, of_rest):
            series.append(ChartSeries(name=policy if len(policies) > 1 else "", points=points))
    return chart_of(f"{name}-by-policy", name, unit, "bars", "", rests, series, [])
