"""Parameters of a policy on the command line: `--set NAME=NUMBER`."""

import argparse
from collections.abc import Sequence

from tidscope_backend.cli.command import CommandError


def add_set_option(parser: argparse.ArgumentParser) -> None:
    """Add `--set`, any number of times."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a parameter of the policy (repeatable)",
    )


def parameters_given(texts: Sequence[str]) -> dict[str, float]:
    """Values by name.

    Args:
        texts: what stood after each `--set`.

    Raises:
        CommandError: one is no name with a number.
    """
    parameters: dict[str, float] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        try:
            parameters[name] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise CommandError(f"--set {text}: use NAME=NUMBER, such as interval_s=1")
    return parameters
