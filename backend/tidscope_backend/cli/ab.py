"""`tidscope ab`: two commands, environments, folders or revisions against each other."""

import argparse
import json
import re
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidscope_wire.generated.models import Experiment, ExperimentCell
from tidscope_wire.redaction import redact_arguments

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.experiment_run import CarriedOut, carry_out
from tidscope_backend.cli.server_options import (
    add_backend_options,
    duration,
    percent,
    positive_number,
)
from tidscope_backend.cli.variants_inside import inside_lines, insides
from tidscope_backend.experiments.definition import checked_definition
from tidscope_backend.experiments.variants import MAX_RECORDED, compared_figure
from tidscope_backend.experiments.workload import ExperimentError, workloads_folder

OTHER = "::"
"""Separates the two commands."""
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
NAMES = ("old", "new")
"""Default names of the variants."""
WORSE, CELL_FAILED = 2, 3
PLACE = Path("tidscope ab")
"""Place of mistakes, as a file's name is that of mistakes in a file."""


def _run(options: argparse.Namespace) -> int:
    """Compare, and print the verdict."""
    try:
        text = definition_text(options, options.commands)
        definition = checked_definition(Path.cwd() / PLACE, text, workloads_folder())
        # The journal keeps this text: arguments that look like secrets are replaced in it.
        kept = definition_text(options, [redact_arguments(one) for one in options.commands])
        done = carry_out(replace(definition, text=kept), options)
    except ExperimentError as error:
        raise CommandError(str(error).replace(f"{Path.cwd() / PLACE}: ", "")) from None
    except KeyboardInterrupt:
        print_lines("tidscope ab: interrupted", file=sys.stderr, flush=True)
        return 128 + signal.SIGINT
    if options.json:
        print_lines(json.dumps(_as_json(done, options)), flush=True)
    else:
        print_lines(*_lines(done.found), *inside_lines(done), flush=True)
        print_lines(f"tidscope ab: report: {done.report[0]}", file=sys.stderr, flush=True)
    (verdict,) = done.found.verdicts
    if any(cell.standing == "failed" for cell in done.found.cells):
        return CELL_FAILED
    return WORSE if options.fail_if_worse and verdict.verdict == "worse" else 0


def _lines(found: Experiment) -> list[str]:
    """Return the verdict, and the figures of both."""
    (verdict,) = found.verdicts
    lines = [verdict.text, *(f"  {text}" for text in found.warnings), ""]
    before, after = found.cells
    for one in before.figures:
        other = next((own for own in after.figures if own.name == one.name), None)
        if other is None or one.figure.mean is None or other.figure.mean is None:
            continue
        gain = other.gain
        change = "" if gain is None or gain.percent is None else f"{gain.percent:+.1f} %"
        values = [quantity(own.figure.mean or 0.0, one.unit) for own in (one, other)]
        lines.append(f"{one.label:32}{values[0]:>14}{values[1]:>14}{change:>12}")
    return lines


def quantity(value: float, unit: str) -> str:
    """Format a value with its unit, for people."""
    if unit == "s":
        for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
            if abs(value) >= factor or name == "µs":
                return f"{value / factor:.4g} {name}"
    if unit == "bytes":
        return f"{value / 2**20:.4g} MiB"
    if unit == "share":
        return f"{100 * value:.3g} %"
    return f"{value:.4g} {unit}".rstrip()


def _as_json(done: CarriedOut, options: argparse.Namespace) -> dict[str, Any]:
    """Return the answer as JSON values; see docs/experiments.md."""
    (verdict,) = done.found.verdicts
    return {
        "verdict": verdict.verdict,
        "difference_percent": verdict.difference_percent,
        "interval": verdict.interval,
        "confidence": 0.95,
        "metric": options.metric,
        "label": verdict.label,
        "unit": verdict.unit,
        "better": verdict.better,
        "margin_percent": verdict.margin_percent,
        "pairs": verdict.pairs,
        "reason": verdict.reason,
        "text": verdict.text,
        "seed": options.seed,
        "variants": [_variant(cell, verdict.figure) for cell in done.found.cells],
        "inside": next((one.as_json() for one in insides(done)), None),
        "experiment": done.found.summary.id,
        "folder": str(done.folder),
        "warnings": done.found.warnings,
    }


def _variant(cell: ExperimentCell, figure: str) -> dict[str, Any]:
    own = next((one.figure for one in cell.figures if one.name == figure), None)
    return {
        "name": cell.values[0].value,
        "mean": None if own is None else own.mean,
        "std_dev": None if own is None else own.std_dev,
        "values": 0 if own is None else own.n,
        "runs": cell.runs,
        "failures": cell.failures,
    }


def split_commands(words: Sequence[str]) -> list[list[str]]:
    """Split `A :: B`, or return the only command twice.

    Raises:
        ValueError: a command is empty, or there are more than two.
    """
    commands: list[list[str]] = [[]]
    for word in words:
        if word == OTHER:
            commands.append([])
        else:
            commands[-1].append(word)
    if len(commands) > 2:
        raise ValueError(f"there are {len(commands)} commands; for more than two, write a file")
    if not all(_assignments(one)[1] for one in commands):
        raise ValueError("a command is missing: -- COMMAND :: COMMAND")
    return commands if len(commands) == 2 else commands * 2


def _assignments(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the variables that precede a command, as in a shell, and the command."""
    variables: dict[str, str] = {}
    for number, word in enumerate(words):
        found = ASSIGNMENT.fullmatch(word)
        if found is None:
            return variables, list(words[number:])
        variables[found[1]] = found[2]
    return variables, []


def definition_text(options: argparse.Namespace, commands: Sequence[Sequence[str]]) -> str:
    """Return the experiment file of the two commands."""
    difference = {
        "metric": options.metric,
        "margin": options.margin,
        "precision": options.precision,
        "most_s": options.time,
        "timeout_s": options.timeout,
        "recorded": options.recorded,
        "seed": options.seed,
    }
    names = options.name or list(NAMES)
    title = f"{names[1]} against {names[0]}"
    lines = ["version = 1", 'name = "ab"', f"title = {_value(title[:120])}"]
    for number, words in enumerate(commands):
        environment, command = _assignments(words)
        lines += ["", "[[variant]]", *_keys(_variant_keys(options, names, number, command))]
        if environment:
            pairs = ", ".join(f"{_value(k)} = {_value(v)}" for k, v in environment.items())
            lines.append(f"environment = {{ {pairs} }}")
    return "\n".join([*lines, "", "[difference]", *_keys(difference), ""])


def _variant_keys(
    options: argparse.Namespace, names: Sequence[str], number: int, command: Sequence[str]
) -> dict[str, object]:
    def of(values: Sequence[str]) -> str | None:
        return values[number] if len(values) > number else None

    return {
        "name": names[number],
        "command": list(command),
        "directory": of(options.directory),
        "revision": of(options.revision),
        "prepare": options.prepare,
    }


def _keys(values: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in values.items() if value is not None]


def _value(value: object) -> str:
    # JSON strings, numbers and arrays of strings are TOML, except for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _metric(text: str) -> str:
    try:
        compared_figure(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    if not words:
        raise argparse.ArgumentTypeError("is empty; write a command")
    return words


def _recorded(text: str) -> int:
    if not text.isdecimal() or int(text) > MAX_RECORDED:
        raise argparse.ArgumentTypeError(f"{text!r}: use a whole number from 0 to {MAX_RECORDED}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: use a whole number from 0 on")
    return int(text)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        type=_metric,
        default="wall",
        help="the figure to compare: wall, wall-p50, wall-p99, cpu, user, system, rss, go-bench; "
        "NAME:less=/REGEX/ or NAME:more=/REGEX/ for a number in the output (see tidscope record "
        "--help); prometheus:PORT:PATH#NAME for the rate of a counter that it serves; of recorded "
        "runs lock:NAME, or a figure of tidscope compare such as cpu_delay_ns (%(default)s)",
    )
    parser.add_argument(
        "--margin",
        type=percent,
        default=2.0,
        metavar="PERCENT",
        help="greatest difference that counts as the same (%(default)g)",
    )
    parser.add_argument(
        "--precision",
        type=positive_number,
        metavar="POINTS",
        help="measure until the interval is at most this many percentage points to either side "
        "(default: until the verdict stands)",
    )
    parser.add_argument(
        "--time",
        type=duration,
        metavar="SECONDS",
        help="time for measuring (default: 120, or what eight pairs take if that is longer)",
    )
    parser.add_argument(
        "--timeout",
        type=duration,
        default=600.0,
        metavar="SECONDS",
        help="a run that takes longer fails (%(default)g)",
    )
    parser.add_argument(
        "--recorded",
        type=_recorded,
        default=3,
        metavar="N",
        help="runs of each that are recorded afterwards, to say what changed inside; 0 to "
        f"{MAX_RECORDED} (%(default)s)",
    )
    parser.add_argument(
        "--seed", type=_seed, default=1, metavar="N", help="of the random order (%(default)s)"
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        help=f"names of the two, in this order (default: {' and '.join(NAMES)})",
    )
    parser.add_argument(
        "--directory",
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder that it runs in; given twice: of the first and of the second",
    )
    parser.add_argument(
        "--revision",
        action="append",
        default=[],
        metavar="REVISION",
        help="git revision that is checked out for it, in a temporary folder; given once: of the "
        "first, and the second is the folder as it is",
    )
    parser.add_argument(
        "--prepare",
        type=_words,
        metavar="COMMAND",
        help="run once in each folder before, such as a build; words as a shell has them, without "
        "a shell",
    )
    parser.add_argument(
        "--fail-if-worse", action="store_true", help="exit with 2 if the verdict is worse"
    )
    add_backend_options(parser)
    parser.add_argument("--json", action="store_true", help="print the result as a line of JSON")
    parser.set_defaults(verb="ab", resume=False)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; everything after -- is the two commands."""
    own, words = list(arguments), list[str]()
    if "--" in own:
        place = own.index("--")
        own, words = own[:place], own[place + 1 :]
    options = parser.parse_args(own)
    try:
        options.commands = split_commands(words)
    except ValueError as error:
        parser.error(str(error))
    if options.name and len(options.name) != len(NAMES):
        parser.error("--name is for both: give it twice, or not at all")
    for name in ("directory", "revision"):
        if len(getattr(options, name)) > len(NAMES):
            parser.error(f"--{name} may be given twice")
    if len(options.directory) == 1:
        options.directory *= 2
    return options


COMMAND = Command(
    name="ab",
    help="compare two commands or revisions: better, worse or same",
    usage="tidscope ab [options] -- [NAME=VALUE ...] COMMAND [ARGUMENT ...] "
    "[:: [NAME=VALUE ...] COMMAND [ARGUMENT ...]]",
    description="Run two variants of a program in turn, in random order, until the difference of a "
    "metric is known or the time is up. One command is for both if only the environment, the "
    "folder or the revision differs. Afterwards some runs are recorded, and what changed inside is "
    "shown. Commands run without a shell and without input. Exits with 0 for any verdict, 2 if "
    "--fail-if-worse is given and it is worse, 3 if runs failed too often, 1 if it cannot be done.",
    epilog="examples: tidscope ab -- ./old :: ./new; tidscope ab -- GOGC=50 ./app :: GOGC=200 "
    "./app; tidscope ab --revision main --prepare 'go build ./cmd/app' -- ./app",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)
