"""`tidscope experiment`: workloads under a matrix of settings, until the numbers are precise."""

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidscope_wire.generated.models import Experiment
from tidscope_wire.loading import loading

from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, UntrustedError
from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.experiment_run import carry_out
from tidscope_backend.cli.server_options import add_backend_options, user_runs_directory
from tidscope_backend.cli.variants_inside import inside_lines
from tidscope_backend.experiments.definition import Definition, Preset, read_definition
from tidscope_backend.experiments.matrix import THROUGHPUT
from tidscope_backend.experiments.report import Bound, Decision, decide, parse_bound
from tidscope_backend.experiments.workload import (
    ExperimentError,
    read_workload,
    workload_names,
    workloads_folder,
)
from tidscope_backend.settings import BROWSER_VARIABLE

BOUND_EXCEEDED, CELL_FAILED = 2, 3
_BACKEND = Path(__file__).resolve().parents[1]
PLACES = (_BACKEND / "sources" / "experiments", _BACKEND.parents[1] / "experiments")
"""Folder of the ready files: installed, or in a checkout."""


def _run(options: argparse.Namespace) -> int:
    """Run the experiment and write its report."""
    try:
        places = workloads_folder()
        if options.workloads:
            print_lines(*_workload_lines(places))
            return 0
        if options.requests_of is not None:
            print_lines(*_requests(options).splitlines())
            return 0
        if options.file is None:
            raise CommandError(f"name an experiment file, or one of {', '.join(ready_names())}")
        bounds = [parse_bound(text) for text in options.fail_if]
        preset: Preset = "quick" if options.quick else "short" if options.short else "full"
        definition = read_definition(_file(options.file), places, preset=preset)
        return _carry_out(definition, bounds, options)
    except ExperimentError as error:
        raise CommandError(str(error)) from None
    except (RefusedError, UntrustedError, UnavailableError) as error:
        raise CommandError(f"{error}; continue with --resume") from None
    except KeyboardInterrupt:
        _say("interrupted; continue with --resume")
        return 128 + signal.SIGINT


def _requests(options: argparse.Namespace) -> str:
    """Return the trace of the requests of a run or of spans."""
    with loading():
        from tidscope_backend.exchange.formats import pool_readings
        from tidscope_backend.experiments.requests import (
            requests_of_pool,
            requests_of_spans,
            trace_text,
        )
        from tidscope_backend.store.directory import RunNotFoundError, find_run
        from tidscope_backend.store.reader import RunReader

    source = Path(options.requests_of)
    try:
        if source.is_file():
            found = requests_of_spans(source.read_text("utf-8"))
        else:
            folder = (
                source
                if source.is_dir()
                else find_run(user_runs_directory(os.environ), str(source))
            )
            found = requests_of_pool(pool_readings(RunReader(folder)).to_pylist(), options.pool)
    except (OSError, UnicodeDecodeError, RunNotFoundError) as error:
        raise CommandError(f"{source}: {error}") from None
    return trace_text(found, options.free_workload)


def _carry_out(definition: Definition, bounds: Sequence[Bound], options: argparse.Namespace) -> int:
    done = carry_out(definition, options)
    found = done.found
    print_lines(*([found.model_dump_json()] if options.json else result_lines(found)), flush=True)
    if found.verdicts and not options.json:
        print_lines(*inside_lines(done), flush=True)
    _say(f"report: {done.report[0]}")
    return exit_code(found, decide(found, bounds) if bounds else ())


def result_lines(found: Experiment) -> list[str]:
    """Return the result as a table of a terminal."""
    from tidscope_backend.experiments.report import gain_text

    width = max(len(cell.key) for cell in found.cells)
    lines = [found.summary.title, *(one.text for one in found.verdicts)]
    lines += [f"  {text}" for text in found.warnings]
    for cell in found.cells:
        own = next((one for one in cell.figures if one.name == THROUGHPUT), None)
        if own is None or own.figure.mean is None:
            lines.append(
                f"{cell.key:{width}}  no result: {'; '.join(dict.fromkeys(cell.failures))}"
            )
            continue
        mean, high = own.figure.mean, own.figure.high
        half = "" if high is None else f" ± {high - mean:,.3g}"
        lines.append(
            f"{cell.key:{width}}  {mean:>12,.6g}{half} {found.unit}/s  "
            f"{own.figure.n} repeats, {cell.standing}  {gain_text(own)}".rstrip()
        )
    return [*lines, found.confidence]


def exit_code(found: Experiment, decisions: Sequence[Decision]) -> int:
    """Print results of the bounds and return the exit code."""
    for one in decisions:
        what = "exceeded" if one.fails else "not decided" if one.is_open else ""
        if what:
            _say(f"{one.bound.text}: {what}: {one.cell}: {one.low:+.1f} % to {one.high:+.1f} %")
    if any(one.fails for one in decisions):
        return BOUND_EXCEEDED
    return CELL_FAILED if any(cell.standing == "failed" for cell in found.cells) else 0


def _file(text: str) -> Path:
    """Return a file, or a shipped file by name."""
    path = Path(text)
    if path.exists() or "/" in text or text.endswith(".toml"):
        return path
    for place in PLACES:
        if (place / f"{text}.toml").is_file():
            return place / f"{text}.toml"
    raise CommandError(f"there is no file {text}; ready ones: {', '.join(ready_names())}")


def ready_names() -> list[str]:
    """Return names of the ready files."""
    return sorted(path.stem for place in PLACES for path in place.glob("*.toml"))


def _workload_lines(places: Path) -> Iterator[str]:
    for name in workload_names(places):
        spec = read_workload(places / name).spec
        yield f"{name}: {spec.about} Size: {spec.knob}."
        for parameter, one in spec.parameters.items():
            values = ", ".join(one.choices or ())
            if one.is_path or one.text:
                values = "a folder" if one.folder else "a text" if one.text else "a file"
            elif one.choices is None:
                values = f"{one.least:g} to {one.most:g}"
            default = "" if one.default is None else f" ({one.default})"
            yield f"  {parameter:16}{one.about}: {values}{default}"


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 10_000:
        raise ValueError
    return value


def _say(text: str) -> None:
    print_lines(f"tidscope experiment: {text}", file=sys.stderr, flush=True)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="an experiment file, or the name of a ready one"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--quick", action="store_true", help="short and few repeats: to see whether it works"
    )
    length.add_argument(
        "--short",
        action="store_true",
        help="the file's [short]: fewer and shorter repeats, whose report says so",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the last unfinished experiment of this file"
    )
    parser.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="BOUND",
        help="exit with 2 if the whole 95 %% interval of a difference from the default is beyond a "
        "bound, such as 'throughput < -3%%' (repeatable)",
    )
    parser.add_argument(
        "--workloads", action="store_true", help="list the workloads and their parameters"
    )
    parser.add_argument(
        "--requests-of",
        metavar="SOURCE",
        help="write the requests of a recorded run with a pool, or of a file of OTLP/JSON spans, "
        "as a trace for the workload pool-trace, and do nothing else",
    )
    parser.add_argument(
        "--pool", default="", metavar="NAME", help="of the run; default: the one with the most jobs"
    )
    parser.add_argument(
        "--free-workload",
        type=_share,
        default=0.0,
        metavar="F",
        help="how many times its execution time each request of the trace is to sleep (0)",
    )
    add_backend_options(parser)
    parser.add_argument("--json", action="store_true", help="print the result as a line of JSON")
    parser.set_defaults(verb="experiment")


COMMAND = Command(
    name="experiment",
    help="repeat workloads under a matrix of settings until the numbers stand",
    description="Carry out an experiment: every combination of its matrix is repeated, in random "
    "order, until the standard deviation of the repeats is within the bound. Each repeat is a run. "
    f"Uses a running tidscope of the same user, or the one whose token {BROWSER_VARIABLE} holds, "
    "else one of its own. Exits with 0 if all is done, 2 if a bound of --fail-if is exceeded, 3 if "
    "a cell failed.",
    add_arguments=_add_arguments,
    run=_run,
)
