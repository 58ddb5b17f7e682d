"""Analysis of an experiment's repeats: figures of cells, and gains over the baseline. Pure.

Means, intervals and verdicts follow the comparison of runs. Gains pair repeats of one round, so
drift between rounds affects neither a gain nor its interval.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tidscope_wire.generated.models import (
    Experiment,
    ExperimentCell,
    ExperimentFigure,
    ExperimentState,
    ExperimentSummary,
    FigureDifference,
    NamedText,
)

from tidscope_backend.comparison.figures import Figure
from tidscope_backend.comparison.metrics import Metric
from tidscope_backend.comparison.statistics import (
    Difference,
    group_figure,
    holm,
    paired_difference,
    paired_p,
)
from tidscope_backend.comparison.verdicts import judged
from tidscope_backend.experiments.charts import charts_of
from tidscope_backend.experiments.conditions import UNKNOWN
from tidscope_backend.experiments.difference import sequential_difference
from tidscope_backend.experiments.journal import (
    Began,
    Begins,
    Ended,
    Entry,
    Failed,
    Recorded,
    Repeated,
    began,
    experiment_folders,
    is_carried_out,
    read_journal,
)
from tidscope_backend.experiments.matrix import (
    BY_NAME,
    FIGURES,
    THROUGHPUT,
    Attempts,
    Cell,
    FigureName,
    attempts_of,
    baseline_of,
    pairs_of,
    values_of,
)
from tidscope_backend.experiments.over_time import charts_over_time
from tidscope_backend.experiments.plan import plan_of
from tidscope_backend.experiments.verdicts import verdicts_of
from tidscope_backend.experiments.workload import ExperimentError
from tidscope_backend.text import plural

SIGNIFICANT = 0.05
"""Corrected p-value up to which a difference is shown."""


def rankings(cells: Sequence[Cell], attempts: Mapping[str, Attempts]) -> Iterator[str]:
    """Return a sentence for each combination of the other axes with three or more policies.

    Args:
        cells: cells of the matrix.
        attempts: attempts of each cell by the cell's name, one per round.
    """
    families: dict[str, list[Cell]] = {}
    for cell in cells:
        families.setdefault(cell.without("policy").key, []).append(cell)
    for rest, members in families.items():
        found = [
            (mean, cell.policy, attempts[cell.key])
            for cell in members
            if (mean := group_figure(values_of(THROUGHPUT, attempts[cell.key])).mean) is not None
        ]
        if len(found) < 3:
            continue
        _, best, most = max(found, key=lambda one: one[0])
        pairs = {
            policy: pairs_of(THROUGHPUT, most, own) for _, policy, own in found if policy != best
        }
        p_values = holm([1.0 if (p := paired_p(one)) is None else p for one in pairs.values()])
        below, others = list[str](), list[str]()
        for (policy, own_pairs), p in zip(pairs.items(), p_values, strict=True):
            difference = paired_difference(own_pairs).absolute
            shown = p <= SIGNIFICANT and difference is not None and difference < 0
            (below if shown else others).append(policy)
        of = f"{rest}: " if len(families) > 1 else ""
        yield (
            f"{of}{best} did the most; shown to be below it: {', '.join(below) or 'none'}"
            + (f"; not shown: {', '.join(others)}." if others else ".")
        )


CONFIDENCE = (
    "Intervals are 95 % confidence intervals, assuming independent, normally distributed repeats: "
    "of a mean (±) by Student's t, of a gain by Student's t of the differences within rounds "
    "(paired). Each interval is of one comparison; p is corrected for all comparisons of a figure "
    "(Holm)."
)

OF_VARIANTS = (
    "Intervals of differences are 95 % intervals of proof mode: they hold together at all times, "
    "so stopping as soon as they decide is no error. They assume independent rounds; values of one "
    "round are paired. Intervals of a mean (±) are by Student's t."
)


def summarise(entries: Sequence[Entry], *, carried_out: bool) -> ExperimentSummary:
    """Return the progress of an experiment.

    Args:
        entries: entries of the experiment's journal.
        carried_out: whether a process is running the experiment.
    """
    first, plan = began(entries), plan_of(entries)
    least, most = plan.least_left, plan.most_left
    done = [one for one in entries if isinstance(one, Repeated)]
    times = [one.elapsed_s for one in entries if isinstance(one, Repeated | Failed)]
    last = entries[-1]
    now = last if carried_out and isinstance(last, Begins) else None
    ended = isinstance(last, Ended) and not last.interrupted
    complete = ended or plan.step is None
    state: ExperimentState = "complete" if complete else "running" if carried_out else "interrupted"
    left_s = None
    if state == "running":
        left_s = least * (sum(times) / len(times) if times else first.repeat_s)
    return ExperimentSummary(
        id=first.id,
        name=first.name,
        title=first.title,
        preset=first.preset,
        state=state,
        started_unix_us=first.unix_us,
        workloads=first.workloads,
        cells=len(plan.standings),
        cells_done=sum(one != "open" for one in plan.standings.values()),
        repeats=len(done),
        least_left=least,
        most_left=most,
        left_s=left_s,
        cell=None if now is None else now.cell,
        targets=[] if now is None else now.targets,
    )


def analyse(entries: Sequence[Entry], *, carried_out: bool) -> Experiment:
    """Return figures, gains and charts of an experiment. Arguments as of `summarise`."""
    first = began(entries)
    cells = [Cell(values) for values in first.cells]
    attempts = attempts_of(entries)
    stand = plan_of(entries).standings
    names = figure_names(first)
    found = []
    for cell in cells:
        baseline, own = baseline_of(cell, cells), attempts[cell.key]
        repeats = _done(own)
        recorded = [one for one in entries if isinstance(one, Recorded) and one.cell == cell.key]
        found.append(
            ExperimentCell(
                key=cell.key,
                values=[NamedText(name=k, value=str(value)) for k, value in cell.values.items()],
                standing=stand[cell.key],
                baseline=None if baseline is None else baseline.key,
                runs=[*_runs(repeats), *_runs(recorded)],
                figures=[
                    _of_program(one, first.workloads)
                    for one in _figures(
                        names,
                        own,
                        None if baseline is None else attempts[baseline.key],
                        None if first.difference is None else len(cells) - 1,
                    )
                ],
                failures=[one.reason for one in own if isinstance(one, Failed)],
                warnings=_counted(repeats),
            )
        )
    return Experiment(
        summary=summarise(entries, carried_out=carried_out),
        unit=first.unit,
        least=first.least,
        most=first.most,
        deviation=first.deviation,
        setup=[NamedText(name=name, value=value) for name, value in first.setup.items()],
        cells=_corrected(found),
        verdicts=list(verdicts_of(entries)),
        charts=[
            *charts_of(
                cells,
                found,
                unit=first.unit,
                waits=first.waits,
                speed=first.speed_up,
                rankings=list(rankings(cells, attempts)),
            ),
            *charts_over_time(
                cells,
                {key: [one.seconds for one in _done(own)] for key, own in attempts.items()},
                first.unit,
            ),
        ],
        warnings=list(_warnings(first, entries, found)),
        confidence=CONFIDENCE if first.difference is None else OF_VARIANTS,
    )


def figure_names(first: Began) -> Sequence[FigureName]:
    """Return all figures of an experiment, with the one that variants are compared by."""
    rules = first.difference
    if rules is None or rules.figure in BY_NAME:
        return FIGURES
    return (*FIGURES, FigureName(rules.figure, rules.label, rules.unit, rules.better, "result"))


def _figures(
    names: Sequence[FigureName],
    own: Attempts,
    baseline: Attempts | None,
    comparisons: int | None,
) -> Iterator[ExperimentFigure]:
    """Return the known figures of a cell, with gains over a baseline.

    Args:
        names: figures of the experiment.
        own: repeats of the cell.
        baseline: repeats of the baseline, or None.
        comparisons: number of variants that are compared; None for a matrix of settings.
    """
    for one in names:
        figure = group_figure([each.figures.get(one.name) for each in _done(own)])
        if not figure.n:
            continue
        gain, p = None, None
        if baseline is not None and (pairs := pairs_of(one.name, baseline, own)):
            gain = _gain(
                one,
                pairs,
                paired_difference(pairs)
                if comparisons is None
                else sequential_difference(pairs, comparisons),
            )
            p = paired_p(pairs) if comparisons is None else None
        yield ExperimentFigure(
            name=one.name,
            label=one.label,
            unit=one.unit,
            figure=figure,
            gain=gain,
            adjusted_p=p,
            comparisons=0 if p is None else 1,
        )


def _corrected(cells: Sequence[ExperimentCell]) -> list[ExperimentCell]:
    """Correct the p-values of each figure for the number of its comparisons."""
    single = dict[str, list[float]]()
    for cell in cells:
        for one in cell.figures:
            if one.adjusted_p is not None:
                single.setdefault(one.name, []).append(one.adjusted_p)
    left = {name: iter(holm(p_values)) for name, p_values in single.items()}
    return [
        cell.model_copy(
            update={
                "figures": [
                    one
                    if one.adjusted_p is None
                    else one.model_copy(
                        update={
                            "adjusted_p": next(left[one.name]),
                            "comparisons": len(single[one.name]),
                        }
                    )
                    for one in cell.figures
                ]
            }
        )
        for cell in cells
    ]


def _runs(entries: Sequence[Repeated] | Sequence[Recorded]) -> list[str]:
    return [run for one in entries for run in one.runs]


def _of_program(one: ExperimentFigure, workloads: Sequence[str]) -> ExperimentFigure:
    """Label a program's throughput with the name of its workload; other figures are unchanged."""
    for at, workload in enumerate(workloads, 1):
        if one.name == f"{THROUGHPUT}_{at}":
            return one.model_copy(update={"label": f"Throughput of {workload}"})
    return one


def _done(attempts: Attempts) -> list[Repeated]:
    return [one for one in attempts if isinstance(one, Repeated)]


def _gain(
    one: FigureName, pairs: Sequence[tuple[float, float]], difference: Difference
) -> FigureDifference:
    return judged(
        Metric(one.name, one.label, one.unit, one.better, by_role=False),
        [Figure(before) for before, _ in pairs],
        [Figure(after) for _, after in pairs],
        difference,
        alike=True,
    )


def _counted(repeats: Sequence[Repeated]) -> list[str]:
    """Return the last warning of each kind."""
    counts = Counter(warning.partition(" ")[0] for one in repeats for warning in one.warnings)
    latest = {text.partition(" ")[0]: text for one in repeats for text in one.warnings}
    return [
        f"{latest[kind]} ({'' if count == 1 else 'the last of '}{plural(count, 'repeat')})"
        for kind, count in counts.items()
    ]


def _warnings(
    first: Began, entries: Sequence[Entry], cells: Sequence[ExperimentCell]
) -> Iterator[str]:
    if first.quick:
        yield "This is the quick variant: its repeats are too short and too few to stand."
    if first.short:
        yield (
            "This is the short variant: fewer and shorter repeats than the file's own, and "
            "perhaps fewer cells. It says nothing of effects that need longer."
        )
    governor = first.setup.get("frequency governor", UNKNOWN)
    if governor == UNKNOWN:
        yield "The frequency governor of this machine is unknown: clock rates may have changed."
    elif governor != "performance":
        yield f"The frequency governor is {governor}: clock rates may have changed."
    measured = [one.figures for one in entries if isinstance(one, Repeated)]
    if first.difference is None and measured and not any("power_w" in one for one in measured):
        yield "This machine counts no energy (RAPL): operations per watt are unknown."
    maximum = [one for one in cells if one.standing == "maximum"]
    if maximum and first.difference is None:
        yield (
            f"In {plural(len(maximum), 'cell')} the standard deviation of the repeats stayed above "
            f"{first.deviation:.0%} of their mean: {', '.join(one.key for one in maximum)}."
        )
    failed = [one for one in cells if one.standing == "failed"]
    if failed:
        yield f"{plural(len(failed), 'cell')} failed: {', '.join(one.key for one in failed)}."
    disturbed = [one for one in entries if isinstance(one, Repeated) and one.warnings]
    if disturbed:
        yield f"Disturbed repeats: {len(disturbed)} of {_repeats(entries)}; see the cells."
    if any(isinstance(one, Ended) and one.interrupted for one in entries):
        yield "It was interrupted, and resumed later: the machine may have changed in between."


def _repeats(entries: Sequence[Entry]) -> int:
    return sum(isinstance(one, Repeated) for one in entries)


MAX_LISTED = 200


def listed(runs: Path | None) -> tuple[list[ExperimentSummary], list[str]]:
    """Return the newest experiments, and folders whose journal cannot be read.

    Args:
        runs: the runs directory, or None if runs are not stored.
    """
    experiments, damaged = list[ExperimentSummary](), list[str]()
    for folder in experiment_folders(runs)[:MAX_LISTED]:
        try:
            experiments.append(summarise(read_journal(folder), carried_out=is_carried_out(folder)))
        except (ExperimentError, ValueError, KeyError) as error:
            damaged.append(f"{folder.name}: {error}")
    return experiments, damaged


def found(folder: Path) -> Experiment:
    """Return one experiment. Raises ExperimentError if the journal is missing or damaged."""
    entries = read_journal(folder)
    try:
        return analyse(entries, carried_out=is_carried_out(folder))
    except (ValueError, KeyError) as error:
        raise ExperimentError(f"{folder.name}: its journal is damaged: {error}") from None
