"""Comparison of groups of runs: their figures, roles and setups."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from tidscope_wire.generated.limits import MAX_COMPARED_RUNS, MIN_COMPARED_RUNS
from tidscope_wire.generated.models import (
    AlignKind,
    CompareBasis,
    ComparedGroup,
    ComparedMetric,
    ComparedRun,
    CompareSplit,
    Comparison,
    GroupFigure,
    MatchedRole,
    RunManifest,
    RunPolicy,
    SetupDifference,
)

from tidscope_backend.comparison.figures import (
    Figure,
    Figures,
    Totals,
    compared_pools,
    figures_of_pool,
    figures_of_process,
    figures_of_role,
    metrics_of_pool,
    metrics_of_results,
    totals_by_role,
    whole,
)
from tidscope_backend.comparison.metrics import Metric, metrics_of
from tidscope_backend.comparison.series import RunCurves, curves_of, series_of
from tidscope_backend.comparison.sides import (
    ComparisonError,
    Correction,
    RunTables,
    match_roles,
    zero_of,
)
from tidscope_backend.comparison.statistics import (
    CONFIDENCE,
    OF_WINDOWS,
    Spread,
    difference,
    group_figure,
    window_figure,
)
from tidscope_backend.comparison.verdicts import Slices, judged, same_length
from tidscope_backend.hidden_arguments import COMMAND_ASPECT, HIDDEN
from tidscope_backend.store.folder import children_cpu_us, missing_text
from tidscope_backend.text import plural


def setup_differences(manifests: Sequence[RunManifest]) -> list[SetupDifference]:
    """Return differing properties as text, with one value per run."""
    found = []
    for what, tell in ASPECTS:
        values = [tell(manifest) for manifest in manifests]
        if len(set(values)) > 1:
            found.append(SetupDifference(what=what, values=values))
    return found


def _policy(manifest: RunManifest) -> str:
    return "; then ".join(_in_words(policy) for policy in manifest.policies) or "none"


def _in_words(policy: RunPolicy) -> str:
    shadow = " in shadow mode" if policy.shadow else ""
    return (
        f"{policy.policy}{shadow}, {policy.lower} to {policy.upper} "
        f"by {policy.knob} on {policy.signal}"
    )


def _command(manifest: RunManifest) -> str:
    return manifest.target.process.command or HIDDEN


def _cpu(manifest: RunManifest) -> str:
    return f"{manifest.host.cpus} x {manifest.host.cpu_model}"


def _runtime(manifest: RunManifest) -> str:
    process = manifest.target.process
    return process.runtime_version or process.runtime


def _gomaxprocs(manifest: RunManifest) -> str:
    size = manifest.target.gomaxprocs
    return "unknown" if size is None else str(size)


def _source(manifest: RunManifest) -> str:
    source = manifest.target.source
    return source.layout or source.kind


def _absent(manifest: RunManifest) -> str:
    return ", ".join(sorted(field.field for field in manifest.target.absent)) or "none"


def _energy(manifest: RunManifest) -> str:
    summed = [domain.name for domain in manifest.target.energy.domains if domain.summed]
    return ", ".join(summed) or "none"


def _losses(manifest: RunManifest) -> str:
    losses = manifest.losses
    coarser = [
        plural(count, what)
        for count, what in (
            (losses.coalesced, "coalesced frame"),
            (losses.deadlines_missed, "missed deadline"),
            (losses.clock_jumps, "clock jump"),
        )
        if count
    ]
    return ", ".join([*filter(None, [missing_text(losses)]), *coarser]) or "none"


def _end(manifest: RunManifest) -> str:
    return manifest.end or manifest.state


ASPECTS: Sequence[tuple[str, Callable[[RunManifest], str]]] = (
    ("policy", _policy),
    (COMMAND_ASPECT, _command),
    ("executable", lambda manifest: manifest.target.process.executable or "unknown"),
    ("runtime", _runtime),
    ("GOMAXPROCS at attach", _gomaxprocs),
    ("kernel", lambda manifest: manifest.host.kernel),
    ("host", lambda manifest: manifest.host.name),
    ("CPU", _cpu),
    ("memory", lambda manifest: f"{manifest.host.memory_bytes / 2**30:.1f} GiB"),
    ("user", lambda manifest: manifest.target.process.user),
    ("source of samples", _source),
    ("exit totals", lambda manifest: "received" if manifest.target.source.exits else "none"),
    ("source of network numbers", lambda manifest: manifest.target.source.network),
    ("source of energy", _energy),
    ("fields that are missing", _absent),
    ("samples a second", lambda manifest: f"{manifest.target.rate_hz:g}"),
    ("tidscope", lambda manifest: manifest.tidscope),
    ("losses", _losses),
    ("end", _end),
)
"""Properties by importance: those of the program's work, of the machine, and of the measurement."""


MAX_ROLES = 48
"""Matched roles in an answer, the busiest; figures of the process include all roles."""


def compare(
    groups: Sequence[Sequence[RunTables]],
    align: AlignKind = "start",
    mark: str | None = None,
    corrections: Sequence[Correction] = (),
    basis: CompareBasis = "rates",
    split: CompareSplit = "none",
    *,
    same_work: bool = False,
) -> Comparison:
    """Compare runs or windows of runs.

    Figures cover a complete run or window; alignment only moves the curves.

    Args:
        groups: groups of repeats; the first is the baseline.
        align: reference instant of the alignment.
        mark: text of the mark to align at.
        corrections: corrections of the matching of roles.
        basis: whether counters are compared as rates or as totals.
        split: meaning of the roles, as they were read.
        same_work: whether every run does the same work, so that totals of runs of different length
            can be judged.

    Raises:
        ComparisonError: the runs cannot be compared with these options.
    """
    runs = [run for group in groups for run in group]
    check_choice([[run.id for run in group] for group in groups], align, mark)
    by_role = [totals_by_role(run.threads) for run in runs]
    matched = match_roles([run.id for run in runs], [_weights(one) for one in by_role], corrections)
    roles = matched[:MAX_ROLES]
    zeros = [zero_of(run, align, mark) for run in runs]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    curves = [
        RunCurves(run.id, zero, curves_of(run.signals), run.signals)
        for run, (zero, _) in zip(runs, zeros, strict=True)
    ]
    sizes = [len(group) for group in groups]
    alike = same_work or same_length([run.duration_ns for run in runs])
    sliced = [Slices(run, basis) for run in runs]
    one_run = len({run.manifest.id for run in runs}) == 1
    metrics = (*metrics_of_results(runs), *metrics_of(basis))
    table = _Table(metrics, sizes, alike=alike, one_run=one_run)
    of_process = [
        slices.of_process(figures_of_process(run, whole(totals), basis))
        for run, totals, slices in zip(runs, by_role, sliced, strict=True)
    ]
    return Comparison(
        align=align,
        mark=mark if align == "mark" else None,
        basis=basis,
        split=split,
        several_processes=any(run.manifest.target.group is not None for run in runs),
        same_length=alike,
        runs=[
            ComparedRun(
                run=run.id,
                name=run.name,
                group=number,
                zero_ns=zero,
                started_unix_us=run.manifest.started_unix_us,
                align_problem=problem,
                duration_ns=run.duration_ns,
                losses=run.manifest.losses,
                children_cpu_us=children_cpu_us(run.manifest),
            )
            for run, number, (zero, problem) in zip(runs, numbers, zeros, strict=True)
        ],
        groups=[
            ComparedGroup(label=label, runs=[run.id for run in group])
            for label, group in zip(_labels(groups), groups, strict=True)
        ],
        setup=setup_differences([run.manifest for run in runs]),
        roles=roles,
        metrics=[
            *table.rows(None, of_process),
            *_rows_of_pools(runs, sliced, table, basis),
            *_rows_of_roles(table, runs, by_role, sliced, roles, basis),
        ],
        series=series_of(curves, roles),
        confidence=OF_WINDOWS if any(run.slices for run in runs) else CONFIDENCE,
    )


def check_choice(groups: Sequence[Sequence[str]], align: AlignKind, mark: str | None) -> None:
    """Check the number of runs and the alignment.

    Raises:
        ComparisonError: the runs cannot be compared with these options.
    """
    runs = [run for group in groups for run in group]
    if not MIN_COMPARED_RUNS <= len(runs) <= MAX_COMPARED_RUNS or not all(groups):
        raise ComparisonError(
            f"{MIN_COMPARED_RUNS} to {MAX_COMPARED_RUNS} runs can be compared, not {len(runs)}"
        )
    if len(set(runs)) < len(runs):
        raise ComparisonError("a run is named twice")
    if align == "mark" and not mark:
        raise ComparisonError("to align at a mark, give its text: mark=TEXT")


def _weights(by_role: Mapping[str, Totals]) -> dict[str, int]:
    """Return the CPU time of roles, as weights."""
    return {role: totals.fields.get("cpu_run_ns", 0) for role, totals in by_role.items()}


def _rows_of_roles(
    table: "_Table",
    runs: Sequence[RunTables],
    by_role: Sequence[Mapping[str, Totals]],
    sliced: Sequence[Slices],
    matched: Sequence[MatchedRole],
    basis: CompareBasis,
) -> Iterator[ComparedMetric]:
    for role in matched:
        figures = [
            slices.of_role(
                own,
                figures_of_role(None if own is None else totals[own], run.duration_ns, basis),
            )
            for run, totals, slices, own in zip(runs, by_role, sliced, role.roles, strict=True)
        ]
        yield from table.rows(role.label, figures)


def _rows_of_pools(
    runs: Sequence[RunTables], sliced: Sequence[Slices], table: "_Table", basis: CompareBasis
) -> Iterator[ComparedMetric]:
    """Return rows of pools, matched by name; rows that are unknown or always 0 are omitted."""
    for name in compared_pools([run.pools for run in runs]):
        figures = [
            slices.of_pool(name, figures_of_pool(name, run.pools.get(name), run.duration_ns, basis))
            for run, slices in zip(runs, sliced, strict=True)
        ]
        yield from table.of(metrics_of_pool(name, basis)).rows(None, figures)


class _Table:
    """Makes rows of the table of differences.

    Args:
        metrics: rows of the table.
        sizes: numbers of runs in each group.
        alike: whether all runs have the same length.
        one_run: whether all groups are windows of one run.
    """

    def __init__(
        self, metrics: Sequence[Metric], sizes: Sequence[int], *, alike: bool, one_run: bool
    ) -> None:
        self._metrics = metrics
        self._sizes = sizes
        self._alike = alike
        self._one_run = one_run

    def of(self, metrics: Sequence[Metric]) -> "_Table":
        """Return a table with other rows."""
        return _Table(metrics, self._sizes, alike=self._alike, one_run=self._one_run)

    def rows(self, role: str | None, figures: Sequence[Figures]) -> Iterator[ComparedMetric]:
        """Return the rows of a role for which any run has a figure; None for the whole process."""
        for metric in self._metrics:
            own = [one.get(metric.name, _UNKNOWN) for one in figures]
            if metric.rare and not any(one.value for one in own):
                continue
            if role is None or (metric.by_role and any(one.value is not None for one in own)):
                yield self._row(metric, role, own)

    def _row(self, metric: Metric, role: str | None, figures: Sequence[Figure]) -> ComparedMetric:
        left = iter(figures)
        groups = [[next(left) for _ in range(size)] for size in self._sizes]
        first, *others = groups
        means = [_group_figure(group) for group in groups]
        spreads = [_spread_of(group) for group in groups]
        return ComparedMetric(
            metric=metric.name,
            label=metric.label,
            unit=metric.unit,
            role=role,
            provenance=metric.provenance,
            better=metric.better,
            groups=means,
            differences=[
                judged(
                    metric,
                    first,
                    other,
                    difference(means[0], mean, (spreads[0], spread)),
                    alike=self._alike,
                    one_run=self._one_run,
                )
                for other, mean, spread in zip(others, means[1:], spreads[1:], strict=True)
            ],
        )


def _spread_of(group: Sequence[Figure]) -> Spread | None:
    """Return the uncertainty of the figure of a group that is one window."""
    return group[0].spread if len(group) == 1 else None


def _group_figure(group: Sequence[Figure]) -> GroupFigure:
    values = [one.value for one in group]
    return window_figure(values[0], _spread_of(group)) if len(group) == 1 else group_figure(values)


_UNKNOWN = Figure(None)


def _labels(groups: Sequence[Sequence[RunTables]]) -> list[str]:
    """Return unique names of groups, from the group of repeats or from its first run."""
    labels: list[str] = []
    for group in groups:
        named = {run.manifest.group for run in group}
        (only,) = named if len(named) == 1 else (None,)
        windows = {run.window for run in group}
        if len(group) > 1 and only:
            (window,) = windows if len(windows) == 1 else (None,)
            label = f"{only} {window.label}" if window else only
        else:
            label = group[0].name
        if len(group) > 1 and not only:
            label = f"{label} and {len(group) - 1} more"
        number = sum(1 for one in labels if one == label or one.startswith(f"{label} ("))
        labels.append(f"{label} ({number + 1})" if number else label)
    return labels
