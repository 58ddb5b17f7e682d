"""Charts of an experiment, as numbers, shared by page and report. Pure."""

from collections.abc import Mapping, Sequence

from tidscope_wire.generated.models import (
    ChartSeries,
    ExperimentCell,
    ExperimentChart,
    GroupFigure,
)

from tidscope_backend.experiments.charts_of_ratios import (
    Drawn,
    bare_point,
    chart_of,
    degradation_point,
    figure_of,
    gains,
    lines_of,
    mean_point,
    number_text,
    points_of,
    rait,
    rests_of,
    speed_up,
    stable_point,
)
from tidscope_backend.experiments.matrix import THROUGHPUT, Cell
from tidscope_backend.state_groups import GROUPS

LATENCIES = ("p50_us", "p95_us", "deviation_us")
COSTS = (
    *("mean_cores", "ops_per_cpu_s", "cpu_delay", "net_bytes", "moved_bytes", "net_counted_share"),
    *("wakeups", "parks", "steals", "idle_wakeups"),
    *("ring_submissions", "ring_completions"),
)
ENERGY = ("power_w", "ops_per_j")
"""Figures that need energy counters of the machine."""


def charts_of(
    cells: Sequence[Cell],
    measured: Sequence[ExperimentCell],
    *,
    unit: str,
    waits: bool,
    speed: bool,
    rankings: Sequence[str],
) -> list[ExperimentChart]:
    """Return all charts with data.

    Args:
        cells: cells of the matrix.
        measured: the same cells with their figures.
        unit: unit of an operation, in the plural.
        waits: whether queue waits are measured.
        speed: whether more threads do the same work.
        rankings: sentences that name the policy with the highest throughput.
    """
    # A value shared by all cells distinguishes none.
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
        # The cells differ only by policy: each policy has a place on the axis.
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


AXIS = "target"
"""Workload parameter: requested operations per second; 0 for as many as possible."""
KEPT = 0.95
"""Minimum achieved share of a target rate that counts as reached."""


def targets_of(cells: Sequence[Cell]) -> list[float]:
    """Return the targets of a matrix in order; empty if there is only one."""
    found = sorted({float(one.values[AXIS]) for one in cells if one.values.get(AXIS)})
    return found if len(found) > 1 else []


def by_target(
    drawn: Sequence[Drawn], targets: Sequence[float], name: str, unit: str
) -> ExperimentChart | None:
    """Return a figure by target; throughput includes the requested rate."""
    series, notes = [], []
    for text, of_target in lines_of(drawn, AXIS, name):
        if points := points_of(targets, of_target):
            series.append(ChartSeries(name=text, points=points))
        if name == THROUGHPUT:
            of = f"{text}: " if text else ""
            notes.append(f"{of}{_knee_note(of_target)}")
    if name == THROUGHPUT and series:
        asked = [bare_point(at, target) for at, target in enumerate(targets)]
        series.append(ChartSeries(name="asked for", points=asked))
        notes.append(f"A target is kept if {KEPT:.0%} of it is achieved.")
    x = list(map(number_text, targets))
    return chart_of(f"{name}-by-target", name, unit, "lines", AXIS, x, series, notes)


def _knee_note(of_target: Mapping[float, GroupFigure]) -> str:
    means = {target: one.mean for target, one in of_target.items() if target and one.mean}
    kept = [target for target, mean in means.items() if mean >= KEPT * target]
    if not kept:
        return "no target is kept."
    if max(kept) == max(means):
        return f"all targets up to {number_text(max(kept))} are kept: the knee is above."
    return f"targets are kept up to {number_text(max(kept))}: the knee."


def latency_curves(
    drawn: Sequence[Drawn], targets: Sequence[float], unit: str
) -> list[ExperimentChart | None]:
    """Return latencies over achieved throughput, one curve per combination of the other axes."""
    achieved = dict(lines_of(drawn, AXIS, THROUGHPUT))
    found = []
    for name in ("p50_us", "p95_us", "deviation_us"):
        series = []
        for text, of_target in lines_of(drawn, AXIS, name):
            means = {target: one.mean for target, one in achieved.get(text, {}).items()}
            points = [
                mean_point(at, of_target[target], means[target])
                for at, target in enumerate(targets)
                if target in of_target and means.get(target) is not None
            ]
            if points:
                series.append(ChartSeries(name=text, points=points))
        label = f"achieved {unit} a second"
        x = list(map(number_text, targets))
        chart_id = f"{name}-by-throughput"
        found.append(chart_of(chart_id, name, unit, "curve", label, x, series, []))
    return found


MAX_CHARTS = 6
"""One chart for each combination of the other axes."""
MIN_SHARE = 0.001
"""Minimum share of time, in any cell, of a displayed group of states."""


def charts_of_time(drawn: Sequence[Drawn], axis: str) -> list[ExperimentChart | None]:
    """Return shares of time by state.

    Args:
        drawn: all displayed cells.
        axis: axis with the places; empty: each cell has a place.
    """
    if not axis:
        return [_chart("time", "", "", [(one.key, own) for one, own in drawn])]
    by_rest: dict[str, list[Drawn]] = {}
    for cell, own in drawn:
        rest = cell.without(axis)
        by_rest.setdefault(rest.key if rest.values else "", []).append((cell, own))
    found = []
    for at, (text, cells) in enumerate(list(by_rest.items())[:MAX_CHARTS]):
        ordered = sorted(cells, key=lambda one: float(one[0].values.get(axis, 0)))
        places = [(str(cell.values.get(axis, "")), own) for cell, own in ordered]
        found.append(_chart(f"time-{at}" if text else "time", text, axis, places))
    return found


def _chart(
    chart_id: str, rest: str, axis: str, places: Sequence[tuple[str, ExperimentCell]]
) -> ExperimentChart | None:
    series = []
    for group in GROUPS:
        points = [
            bare_point(at, figure.figure.mean)
            for at, (_, own) in enumerate(places)
            if (figure := figure_of(own, f"share_{group.id}")) is not None
            and figure.figure.mean is not None
        ]
        if any(point.mean >= MIN_SHARE for point in points):
            series.append(ChartSeries(name=group.label, points=points))
    if not series:
        return None
    return ExperimentChart(
        id=chart_id,
        title=f"Where the time went: {rest}" if rest else "Where the time went",
        kind="stacked",
        x_label=axis,
        x=[text for text, _ in places],
        y_label="share of the threads' time",
        unit="",
        reference=None,
        series=series,
        note="All threads that were there, idle ones as well; means of the repeats.",
    )
