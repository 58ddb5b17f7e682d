"""The command line: one file per verb; only the requested verb is loaded."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

from tidscope_wire.loading import loading

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.version import PrintVersion

VERBS = (
    "up",
    "fleet",
    "doctor",
    "attach",
    "record",
    "runs",
    "compare",
    "ab",
    "steer",
    "prove",
    "sweep",
    "experiment",
    "sizes",
    "policies",
    "predictd",
    "locks",
    "stacks",
    "critical-path",
    "query",
    "audit",
    "serve",
    "collect",
    "hosts",
    "setup",
    "completions",
)
"""Verbs in the order of `tidscope --help`.

Each is a module of this package with a `COMMAND`; a module's name has `_` for `-`.
"""
SIGPIPE_CODE = 128 + 13
"""Exit code of a program ended by SIGPIPE, as a shell reports it."""


def load(verb: str) -> Command:
    """Load the command of a verb."""
    with loading():
        command: Command = import_module(f"tidscope_backend.cli.{verb.replace('-', '_')}").COMMAND
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb and return the exit code. A closed pipe, as with `head`, ends it quietly."""
    try:
        try:
            return _main(arguments)
        finally:
            # Here, and not at the interpreter's exit, where the error could not be caught.
            sys.stdout.flush()
    except BrokenPipeError:
        # Buffered output is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SIGPIPE_CODE


def _main(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in VERBS:
        return _run(load(given[0]), given[1:])
    options = parser_of_all().parse_args(given)
    return _run(load(options.verb), options.arguments)


class _ParserOfAll(argparse.ArgumentParser):
    """A parser that loads the verbs only to describe them: that takes about a second."""

    def format_help(self) -> str:
        self.epilog = "\n".join(["verbs:", *_verb_lines()])
        return super().format_help()


def parser_of_all() -> argparse.ArgumentParser:
    """Build the parser of the command line before its verb."""
    parser = _ParserOfAll(
        prog="tidscope",
        description="An oscilloscope for threads, in a browser.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version",
        action=PrintVersion,
        help="print version, commit and what is built in, and exit",
    )
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help="what to do; see below")
    parser.add_argument(
        "arguments",
        metavar="...",
        nargs=argparse.REMAINDER,
        help="arguments of the verb; see tidscope VERB --help",
    )
    return parser


def _run(command: Command, arguments: Sequence[str]) -> int:
    try:
        return command.main(arguments)
    except CommandError as error:
        first, *others = f"tidscope {command.name}: {error}".split("\n")
        print_lines(first, *(f"  {line}" for line in others), file=sys.stderr)
        return error.code


def _verb_lines() -> Iterator[str]:
    for command in map(load, VERBS):
        yield f"  {command.name:14}{command.help}"
