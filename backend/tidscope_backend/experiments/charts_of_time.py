"""Charts of where the time of the threads went, beside each cell. Pure."""

from collections.abc import Sequence

from tidscope_wire.generated.models import ChartSeries, ExperimentCell, ExperimentChart

from tidscope_backend.experiments.chart_parts import Drawn, bare_point, figure_of
from tidscope_backend.state_groups import GROUPS

MAX_CHARTS = 6
"""One for each combination of the other axes."""
LEAST = 0.001
"""Groups of states with less of the time in all cells are left out."""


def charts_of_time(drawn: Sequence[Drawn], axis: str) -> list[ExperimentChart | None]:
    """Shares of time by state.

    Args:
        drawn: all cells.
        axis: whose values are the places; empty: each cell has a place.
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
        if any(point.mean >= LEAST for point in points):
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
