"""The whole comparison, put together."""

from collections.abc import Iterator, Mapping, Sequence

from tidscope_wire.generated.models import (
    AlignKind,
    ComparedGroup,
    ComparedMetric,
    ComparedRun,
    Comparison,
    MatchedRole,
)

from tidscope_backend.comparison.alignment import zero_of
from tidscope_backend.comparison.figures import (
    METRICS,
    Figures,
    Metric,
    figures_of_process,
    figures_of_role,
)
from tidscope_backend.comparison.matching import Correction, match_roles
from tidscope_backend.comparison.series import RunCurves, curves_of, series_of
from tidscope_backend.comparison.setup import setup_differences
from tidscope_backend.comparison.statistics import CONFIDENCE, difference, figure
from tidscope_backend.comparison.tables import ComparisonError, RunTables
from tidscope_backend.comparison.totals import Totals, totals_by_role, whole

FEWEST_RUNS = 2
MOST_RUNS = 8
MAX_ROLES = 48
"""Matched roles that are told, the busiest; the figures of the process hold all of them."""


def compare(
    groups: Sequence[Sequence[RunTables]],
    align: AlignKind = "start",
    mark: str | None = None,
    corrections: Sequence[Correction] = (),
) -> Comparison:
    """Compare runs.

    Figures are of whole runs, wherever these are aligned: alignment moves curves only.

    Args:
        groups: repeats together; the first group is what the others are held against.
        align: where times are laid over one another.
        mark: text of the mark to align at.
        corrections: what a person said about roles.

    Raises:
        ComparisonError: it cannot be done as asked.
    """
    runs = [run for group in groups for run in group]
    check_choice([[run.id for run in group] for group in groups], align, mark)
    by_role = [totals_by_role(run.threads) for run in runs]
    matched = match_roles([run.id for run in runs], [_weights(one) for one in by_role], corrections)
    told = matched[:MAX_ROLES]
    zeros = [zero_of(run, align, mark) for run in runs]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    curves = [
        RunCurves(run.id, zero, curves_of(run.signals), run.signals)
        for run, (zero, _) in zip(runs, zeros, strict=True)
    ]
    sizes = [len(group) for group in groups]
    return Comparison(
        align=align,
        mark=mark if align == "mark" else None,
        runs=[
            ComparedRun(
                run=run.id,
                name=run.manifest.name,
                group=number,
                zero_ns=zero,
                align_problem=problem,
                duration_ns=run.duration_ns,
                losses=run.manifest.losses,
            )
            for run, number, (zero, problem) in zip(runs, numbers, zeros, strict=True)
        ],
        groups=[
            ComparedGroup(label=label, runs=[run.id for run in group])
            for label, group in zip(_labels(groups), groups, strict=True)
        ],
        setup=setup_differences([run.manifest for run in runs]),
        roles=told,
        metrics=[*_of_process(runs, by_role, sizes), *_of_roles(runs, by_role, told, sizes)],
        series=series_of(curves, told),
        confidence=CONFIDENCE,
    )


def check_choice(groups: Sequence[Sequence[str]], align: AlignKind, mark: str | None) -> None:
    """See that so many runs can be compared, and so.

    Raises:
        ComparisonError: they cannot.
    """
    runs = [run for group in groups for run in group]
    if not FEWEST_RUNS <= len(runs) <= MOST_RUNS or not all(groups):
        raise ComparisonError(f"{FEWEST_RUNS} to {MOST_RUNS} runs are compared, not {len(runs)}")
    if len(set(runs)) < len(runs):
        raise ComparisonError("a run is named twice; each can be compared once")
    if align == "mark" and not mark:
        raise ComparisonError("to align at a mark, say which: mark=TEXT")


def _weights(by_role: Mapping[str, Totals]) -> dict[str, int]:
    """How busy roles are: by CPU time."""
    return {role: totals.fields.get("cpu_run_ns", 0) for role, totals in by_role.items()}


def _of_process(
    runs: Sequence[RunTables], by_role: Sequence[Mapping[str, Totals]], sizes: Sequence[int]
) -> Iterator[ComparedMetric]:
    figures = [
        figures_of_process(run, whole(totals)) for run, totals in zip(runs, by_role, strict=True)
    ]
    for metric in METRICS:
        yield _row(metric, None, figures, sizes)


def _of_roles(
    runs: Sequence[RunTables],
    by_role: Sequence[Mapping[str, Totals]],
    matched: Sequence[MatchedRole],
    sizes: Sequence[int],
) -> Iterator[ComparedMetric]:
    for role in matched:
        figures = [
            figures_of_role(None if own is None else totals[own], run.duration_ns)
            for run, totals, own in zip(runs, by_role, role.roles, strict=True)
        ]
        for metric in METRICS:
            if metric.by_role and any(one.get(metric.name) is not None for one in figures):
                yield _row(metric, role.label, figures, sizes)


def _row(
    metric: Metric, role: str | None, figures: Sequence[Figures], sizes: Sequence[int]
) -> ComparedMetric:
    """One metric of all groups."""
    values = iter([one.get(metric.name) for one in figures])
    groups = [figure([next(values) for _ in range(size)]) for size in sizes]
    return ComparedMetric(
        metric=metric.name,
        label=metric.label,
        unit=metric.unit,
        role=role,
        better=metric.better,
        groups=groups,
        differences=[difference(groups[0], other) for other in groups[1:]],
    )


def _labels(groups: Sequence[Sequence[RunTables]]) -> list[str]:
    """Names of groups, no two alike: what people called the repeats, or the first of them."""
    labels: list[str] = []
    for group in groups:
        called = {run.manifest.group for run in group}
        (only,) = called if len(called) == 1 else (None,)
        label = (only if len(group) > 1 else None) or group[0].manifest.name or group[0].id
        if len(group) > 1 and not only:
            label = f"{label} and {len(group) - 1} more"
        number = sum(1 for one in labels if one == label or one.startswith(f"{label} ("))
        labels.append(f"{label} ({number + 1})" if number else label)
    return labels
