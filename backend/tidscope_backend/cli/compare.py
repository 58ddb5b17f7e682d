"""`tidscope compare`: runs side by side, in a terminal."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tidscope_wire.generated.models import AlignKind, ComparedMetric, Comparison

from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.runs_directory import add_runs_dir_option, chosen_runs_directory
from tidscope_backend.comparison.tables import ComparisonError
from tidscope_backend.store.lookup import RunNotFoundError, find_run

SCALES = {"ns": (1e9, "s"), "us": (1e6, "s"), "bytes": (2**20, "MiB")}
"""How a terminal shows units of the catalogue."""
LABEL_WIDTH = 30
CELL_WIDTH = 28


def _run(options: argparse.Namespace) -> int:
    """Compare and print."""
    runs = chosen_runs_directory(options)
    from tidscope_backend.comparison.from_folders import compare_folders

    try:
        groups = [
            [find_run(runs, called) for called in group.split(",")] for group in options.groups
        ]
        match = [_with_id(runs, text) for text in options.match]
        align: AlignKind = "mark" if options.mark else options.align
        found = compare_folders(groups, align, options.mark, match)
    except (RunNotFoundError, ComparisonError) as error:
        raise CommandError(str(error)) from None
    except (OSError, ValueError) as error:
        raise CommandError(f"a run cannot be read: {error}") from None
    if options.json:
        print(found.model_dump_json())
    else:
        print("\n".join(_lines(found, roles=options.roles)))
    return 0


def _with_id(runs: Path, text: str) -> str:
    """A correction may call its run as the command line does."""
    called, colon, rest = text.partition(":")
    return f"{find_run(runs, called).name}:{rest}" if colon else text


def _lines(found: Comparison, *, roles: bool) -> list[str]:
    lines = [_row("", [group.label for group in found.groups])]
    lines.append(_row("runs", [str(len(group.runs)) for group in found.groups]))
    if found.setup:
        lines.append("what differs in the set-up, a value a run:")
        lines += [f"  {one.what}: {' | '.join(one.values)}" for one in found.setup]
    for run in found.runs:
        if run.align_problem is not None:
            lines.append(f"  {run.name or run.run} stands at its start: {run.align_problem}")
    role: str | None = None
    for metric in found.metrics:
        if metric.role is not None and not roles:
            break
        if all(group.mean is None for group in metric.groups):
            continue
        if metric.role != role:
            role = metric.role
            lines.append(f"threads {role}:")
        lines.append(_row(*_cells(metric)))
    return [*lines, found.confidence]


def _cells(metric: ComparedMetric) -> tuple[str, list[str]]:
    scale, unit = SCALES.get(metric.unit, (1.0, metric.unit))
    shown = "" if unit == "count" else f" ({unit})"
    cells = []
    for group, difference in zip(metric.groups, [None, *metric.differences], strict=True):
        cell = "unknown" if group.mean is None else f"{group.mean / scale:.4g}"
        if group.std_dev is not None:
            cell += f" ± {group.std_dev / scale:.2g}"
        if difference is not None and difference.percent is not None:
            cell += f" ({difference.percent:+.1f} %{_surely(difference.low, difference.high)})"
        cells.append(cell)
    return f"{metric.label}{shown}", cells


def _surely(low: float | None, high: float | None) -> str:
    """A star where the 95 % interval of the difference leaves out 0."""
    return "*" if low is not None and high is not None and (low > 0 or high < 0) else ""


def _row(label: str, cells: Sequence[str]) -> str:
    return f"{label:{LABEL_WIDTH}}" + "".join(f" {cell:>{CELL_WIDTH}}" for cell in cells)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "groups", metavar="RUN[,RUN...]", nargs="+", help="two to eight runs in all"
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
    parser.add_argument("--roles", action="store_true", help="also compare each thread role")
    add_runs_dir_option(parser)
    parser.add_argument("--json", action="store_true", help="print the whole comparison as JSON")


COMMAND = Command(
    name="compare",
    help="compare runs, or groups of repeated runs",
    description="Compare runs. Each argument is a run, or repeats joined by commas; the first is "
    "the baseline. A run is named by its id, its name, or the start of either. A star: the 95 % "
    "confidence interval of the difference excludes 0.",
    epilog="example: tidscope compare before-1,before-2,before-3 after-1,after-2,after-3",
    add_arguments=_add_arguments,
    run=_run,
)
