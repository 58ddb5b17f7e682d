"""The options that say which runs are deleted by themselves, shared by `up` and `serve`."""

import argparse
import math

DAY_SECONDS = 86400.0
GIB = 1024**3


def add_keeping_options(parser: argparse.ArgumentParser) -> None:
    """Add them to a verb's parser."""
    parser.add_argument(
        "--keep-runs-days",
        type=_positive,
        metavar="N",
        help="delete runs that ended longer ago (none is)",
    )
    parser.add_argument(
        "--keep-runs-gib",
        type=_positive,
        metavar="N",
        help="delete the oldest runs until all take no more than that (none is)",
    )


def keeping_arguments(options: argparse.Namespace) -> list[str]:
    """The same options for another command."""
    arguments: list[str] = []
    if options.keep_runs_days is not None:
        arguments += ["--keep-runs-days", f"{options.keep_runs_days!r}"]
    if options.keep_runs_gib is not None:
        arguments += ["--keep-runs-gib", f"{options.keep_runs_gib!r}"]
    return arguments


def keep_seconds(options: argparse.Namespace) -> float | None:
    """How long runs are kept; None: for ever."""
    days: float | None = options.keep_runs_days
    return None if days is None else days * DAY_SECONDS


def keep_bytes(options: argparse.Namespace) -> int | None:
    """How much room runs may take; None: all there is."""
    gib: float | None = options.keep_runs_gib
    return None if gib is None else int(gib * GIB)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value
