"""`tidscope compare`: a comparison of runs in a terminal."""

import argparse
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from tidscope_wire.generated.models import (
    AlignKind,
    CompareBasis,
    ComparedMetric,
    CompareSplit,
    Comparison,
    FigureDifference,
    GroupFigure,
)

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.server_options import add_runs_dir_option, chosen_runs_directory
from tidscope_backend.comparison.sides import ComparisonError
from tidscope_backend.store.directory import RunNotFoundError, find_run
from tidscope_backend.store.folder import children_text, missing_text
from tidscope_backend.text import plural

UNITS = {
    "ns": (1e9, "s"),
    "us": (1e6, "s"),
    "bytes": (2**20, "MiB"),
    "ns/s": (1e9, "s/s"),
    "us/s": (1e6, "s/s"),
    "bytes/s": (2**20, "MiB/s"),
    "count/s": (1.0, "1/s"),
    "share": (0.01, "%"),
}
"""Display units by catalogue unit: divisor and name."""
CORES = ("cpu_run_ns", "user_cpu_us", "system_cpu_us")
"""Time fields whose rate is a number of cores."""
LABEL_WIDTH = 38
CELL_WIDTH = 26


def _run(options: argparse.Namespace) -> int:
    """Compare and print."""
    runs = chosen_runs_directory(options)
    from tidscope_backend.comparison.from_folders import compare_folders
    from tidscope_backend.comparison.sides import find_sides

    try:
        groups = [find_sides(runs, group) for group in options.groups]
        match = [_with_id(runs, text) for text in options.match]
        align: AlignKind = "mark" if options.mark else options.align
        basis: CompareBasis = "totals" if options.totals else "rates"
        split: CompareSplit = "process" if options.by_process else "none"
        found = compare_folders(groups, align, options.mark, match, basis, split)
    except (RunNotFoundError, ComparisonError) as error:
        raise CommandError(str(error)) from None
    except (OSError, ValueError) as error:
        raise CommandError(f"a run cannot be read: {error}") from None
    if options.json:
        print_lines(found.model_dump_json())
    else:
        print_lines(*_lines(found, roles=options.roles or options.by_process))
    return 0


def _with_id(runs: Path, text: str) -> str:
    """Resolve a run or window in a correction, as on the command line."""
    from tidscope_backend.comparison.sides import Side, split_window

    called, colon, rest = text.partition(":")
    if not colon:
        return text
    run, window = split_window(called)
    return f"{Side(find_run(runs, run), window).id}:{rest}"


def _lines(found: Comparison, *, roles: bool) -> list[str]:
    lines = [
        f"incomplete: {run.name or run.run}: {missing} missing"
        for run in found.runs
        if (missing := missing_text(run.losses))
    ]
    lines += [
        f"{run.name or run.run}: {missing}"
        for run in found.runs
        if (missing := children_text(run.children_cpu_us))
    ]
    lines.append(_row("", [group.label for group in found.groups]))
    lines.append(_row("runs", [str(len(group.runs)) for group in found.groups]))
    if found.setup:
        lines.append("setup differences:")
        lines += [f"  {one.what}: {_runs_of(one.values)}" for one in found.setup]
    for run in found.runs:
        if run.align_problem is not None:
            lines.append(f"  {run.name or run.run} is aligned at its start: {run.align_problem}")
    notes: list[str] = []
    role: str | None = None
    for metric in found.metrics:
        if metric.role is not None and not roles:
            break
        if not any(group.mean for group in metric.groups):
            continue
        if metric.role != role:
            role = metric.role
            lines.append(f"threads {role}:")
        lines += metric_lines(metric, notes)
    lines += [f"({number}) {note}" for number, note in enumerate(notes, 1)]
    if found.basis == "totals" and not found.same_length:
        lines.append("Totals of runs of different length have no verdict; leave out --totals.")
    zeros = [metric.label for metric in found.metrics if metric.role is None and _is_zero(metric)]
    if zeros:
        lines.append(f"Zero in all runs: {', '.join(zeros)}.")
    return [*lines, found.confidence]


def _is_zero(metric: ComparedMetric) -> bool:
    means = [group.mean for group in metric.groups if group.mean is not None]
    return bool(means) and not any(means)


def metric_lines(metric: ComparedMetric, notes: list[str]) -> list[str]:
    """Return lines with means and intervals, followed by differences and intervals.

    Args:
        metric: a row of the comparison.
        notes: caveats, to which new ones are added.
    """
    scale, unit = _unit(metric)
    shown = "" if unit in ("", "count") else f" ({unit})"
    provenance = "" if metric.provenance == "exact" else f", {metric.provenance}"
    means = [_mean(group, scale) for group in metric.groups]
    lines = [_row(f"{metric.label}{shown}{provenance}", means)]
    changes = [_change(one, metric.groups[0], scale, notes) for one in metric.differences]
    if any(changes):
        lines.append(_row("", ["", *changes]))
    return lines


def _unit(metric: ComparedMetric) -> tuple[float, str]:
    scale, unit = UNITS.get(metric.unit, (1.0, metric.unit))
    return scale, "cores" if unit == "s/s" and metric.metric in CORES else unit


def _mean(group: GroupFigure, scale: float) -> str:
    if group.mean is None:
        return "n/a"
    text = _number(group.mean / scale, 4)
    if group.high is not None:
        text += f" ± {_number((group.high - group.mean) / scale, 2)}"
    return text


def _number(value: float, digits: int) -> str:
    """Format significant digits, without an exponent for large numbers."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text


def _runs_of(values: Sequence[str]) -> str:
    """Return the values of all runs; repeats are reduced to one value."""
    runs = [(value, len(list(same))) for value, same in groupby(values)]
    return " | ".join(f"{value} ({plural(count, 'run')})" for value, count in runs)


def _change(
    difference: FigureDifference, baseline: GroupFigure, scale: float, notes: list[str]
) -> str:
    """Return the difference with interval, verdict and note number."""
    if difference.absolute is None:
        return ""
    if baseline.mean:
        scale = abs(baseline.mean) / 100
        text = f"{difference.absolute / scale:+.1f} %"
        digits = "+.1f"
    else:
        text = f"{difference.absolute / scale:+.4g}"
        digits = "+.4g"
    if difference.low is not None and difference.high is not None:
        low, high = difference.low / scale, difference.high / scale
        text += f" [{low:{digits}}, {high:{digits}}]"
    text += f" {difference.verdict}"
    if difference.caveat is not None:
        if difference.caveat not in notes:
            notes.append(difference.caveat)
        text += f" ({notes.index(difference.caveat) + 1})"
    return text


def _row(label: str, cells: Sequence[str]) -> str:
    return (f"{label:{LABEL_WIDTH}}" + "".join(f" {cell:>{CELL_WIDTH}}" for cell in cells)).rstrip()


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "groups",
        metavar="RUNS",
        nargs="+",
        help="a run, a group, or several joined by commas; RUN@FROM-TO is a window of a run, in "
        "seconds from its start",
    )
    parser.add_argument(
        "--align",
        choices=("start", "policy"),
        default="start",
        help="align the runs at their start or at the first decision of a policy (%(default)s)",
    )
    parser.add_argument("--mark", metavar="TEXT", help="align the runs at the mark with this text")
    parser.add_argument(
        "--match",
        action="append",
        default=[],
        metavar="RUN:ROLE=LABEL",
        help="give roles of different runs one label, to compare them (repeatable)",
    )
    parser.add_argument(
        "--totals",
        action="store_true",
        help="compare totals over the whole runs instead of rates per second; only for runs of "
        "the same length",
    )
    parser.add_argument("--roles", action="store_true", help="also compare each thread role")
    parser.add_argument(
        "--by-process",
        action="store_true",
        help="of runs of groups: compare roles apart by the names of their processes",
    )
    add_runs_dir_option(parser)
    parser.add_argument("--json", action="store_true", help="print the whole comparison as JSON")


COMMAND = Command(
    name="compare",
    help="compare runs, or groups of repeated runs",
    description="Compare two to eight runs. Each argument is a run, the name of a group of "
    "repeats, or several of them joined by commas; the first argument is the baseline. A run is "
    "named by its id, its name, or the start of either; run:NAME and group:NAME tell a run from a "
    "group of the same name. RUN@FROM-TO is a window of a run, in seconds from its start, so that "
    "two windows of one run can be compared. Counters are compared as mean rates per second, so "
    "runs may differ in length. better, worse, more and less: the 95 % confidence interval of the "
    "difference excludes 0; unclear: it includes 0, or the measurement does not allow a verdict.",
    epilog="examples: tidscope compare before after; tidscope compare work@0-30 work@30-60; "
    "tidscope compare before-1,before-2,before-3 after-1,after-2,after-3",
    add_arguments=_add_arguments,
    run=_run,
)
