"""`tidscope policies`: list the policies that steer a thread pool; the collector knows them."""

import argparse
from collections.abc import Sequence

from tidscope_backend.cli.collector_command import collector_command
from tidscope_backend.cli.command import Command
from tidscope_backend.parent_death import exec_program


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """The collector has its own parser."""


def _parse(_: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    return argparse.Namespace(arguments=list(arguments))


def _run(options: argparse.Namespace) -> int:
    """Become the collector, with the same arguments."""
    exec_program(collector_command("policies", *options.arguments))


COMMAND = Command(
    name="policies",
    help="list the steering policies, or benchmark them on a simulated thread pool",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)
