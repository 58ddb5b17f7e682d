"""Charts of what was asked for against what was achieved: latency, and the knee. Pure."""

from collections.abc import Mapping, Sequence

from tidscope_wire.generated.models import ChartSeries, ExperimentChart, GroupFigure

from tidscope_backend.experiments.chart_parts import (
    Drawn,
    bare_point,
    chart_of,
    lines_of,
    mean_point,
    number_text,
    points_of,
)
from tidscope_backend.experiments.figure_names import THROUGHPUT
from tidscope_backend.experiments.matrix import Cell

AXIS = "target"
"""Parameter of workloads: operations a second that are asked for; 0: as many as there can be."""
KEPT = 0.95
"""A target is kept if so much of it is achieved."""


def targets_of(cells: Sequence[Cell]) -> list[float]:
    """Targets of a matrix, if it has several; in order."""
    found = sorted({float(one.values[AXIS]) for one in cells if one.values.get(AXIS)})
    return found if len(found) > 1 else []


def by_target(
    drawn: Sequence[Drawn], targets: Sequence[float], name: str, unit: str
) -> ExperimentChart | None:
    """A figure by target; throughput beside what was asked for."""
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
    """Latencies against achieved throughput, a curve for each combination of the other axes."""
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
