"""`tidscope locks`: critical sections of a Go program, their waiters, and possible remedies."""

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.server_options import add_runs_dir_option, chosen_runs_directory
from tidscope_backend.locks.findings import LockUse, Measured, hints_of, lock_uses, measured
from tidscope_backend.locks.report import Finding, LockReport, choose_program, write_experiment
from tidscope_backend.locks.toolchain import ToolchainError, analyze
from tidscope_backend.locks.waits import ProfileError, fetch, is_address

THRESHOLD_PERCENT = 1.0
WATCH_SECONDS = 10.0


def _run(options: argparse.Namespace) -> int:
    """Analyse and print. Raises CommandError."""
    answer = _answer(options)
    known = measured(answer, options.seconds)
    threshold = options.threshold / 100
    uses = lock_uses(answer)
    shown = [use for use in uses if _is_shown(use, known, threshold, everything=options.all)]
    report = LockReport(
        answer=answer,
        measured=known,
        threshold=threshold,
        findings=[_finding(use, known, answer, options) for use in shown],
        below=len(uses) - len(shown),
        source=options.profile or f"run {options.run_name}",
    )
    if options.json:
        print_lines(*json.dumps(report.as_json(), indent=2).split("\n"))
    else:
        print_lines(*report.lines())
    return 0


def _answer(options: argparse.Namespace) -> dict[str, Any]:
    here = Path.cwd()
    try:
        with tempfile.TemporaryDirectory(prefix="tidscope-") as folder:
            profile = None if options.profile is None else Path(options.profile)
            if options.profile is not None and is_address(options.profile):
                profile = Path(folder) / "profile"
                fetch(options.profile, options.seconds or WATCH_SECONDS, profile)
            elif profile is not None and not profile.is_file():
                raise CommandError(f"there is no file {profile}")
            answer = analyze(here, options.packages, profile and profile.absolute(), os.environ)
    except (ToolchainError, ProfileError) as error:
        raise CommandError(str(error)) from error
    if options.run_name is not None:
        _add_run(answer, options)
    return answer


def _add_run(answer: dict[str, Any], options: argparse.Namespace) -> None:
    from tidscope_backend.locks.waits import add_waits
    from tidscope_backend.store.directory import RunNotFoundError, find_run

    try:
        runs = chosen_runs_directory(options)
        add_waits(answer, find_run(runs, options.run_name))
    except (RunNotFoundError, OSError, ValueError) as error:
        raise CommandError(str(error)) from error


def _is_shown(use: LockUse, known: Measured | None, threshold: float, *, everything: bool) -> bool:
    if everything or known is None:
        return True
    return use.wait_ns is not None and known.share(use.wait_ns) >= threshold


def _finding(
    use: LockUse, known: Measured | None, answer: dict[str, Any], options: argparse.Namespace
) -> Finding:
    hints = hints_of(use)
    share = None if known is None else known.share(use.wait_ns or 0)
    experiments = []
    if options.experiments is not None:
        program = choose_program(answer, use, options.program)
        experiments = [write_experiment(options.experiments, use, hint, program) for hint in hints]
    return Finding(use, share, hints, experiments)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "packages",
        nargs="*",
        default=["./..."],
        metavar="PACKAGE",
        help="packages, as the go command names them (default: ./...)",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--profile",
        metavar="FILE|URL",
        help="mutex or block profile of the program: a file, or the address of its own port, as "
        "http://127.0.0.1:6060/debug/pprof/mutex",
    )
    source.add_argument(
        "--run",
        dest="run_name",
        metavar="RUN",
        help="a recorded run of the program: its id, or the beginning of its id or name",
    )
    add_runs_dir_option(parser)
    parser.add_argument(
        "--seconds",
        type=_positive,
        metavar="S",
        help=f"how long to watch a port ({WATCH_SECONDS:g}); of a file, the time it covers, if it "
        "does not say",
    )
    parser.add_argument(
        "--threshold",
        type=_positive,
        default=THRESHOLD_PERCENT,
        metavar="PERCENT",
        help="show locks that are waited for at least this part of the time (%(default)g)",
    )
    parser.add_argument("--all", action="store_true", help="show all locks")
    parser.add_argument(
        "--experiments",
        type=Path,
        metavar="DIR",
        help="write an experiment file for each hint into this folder",
    )
    parser.add_argument(
        "--program",
        metavar="COMMAND",
        help="what experiments run and time (default: the package's benchmarks)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


COMMAND = Command(
    name="locks",
    help="show the locks of a Go program: who waits, what holds them, what to try",
    add_arguments=_add_arguments,
    run=_run,
)
