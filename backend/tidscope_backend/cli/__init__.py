"""The command line: one file a verb, and only the verb that is used is loaded."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from tidscope_backend import VERSION
from tidscope_backend.cli.failure import CommandError

VERBS = {
    "up": "start collector and backend here, and print the page's address",
    "serve": "run the backend alone",
    "collect": "run the collector alone",
    "doctor": "say what this machine lets tidscope measure, and how to mend what it does not",
    "record": "record a process, or a command from its first instruction to its end",
    "runs": "list, show, rename, delete, export and import runs",
    "compare": "hold runs side by side",
    "steer": "let a policy steer the size of a program's thread pool",
    "policies": "list the policies that steer a pool, or try them on simulated pools (bench)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="tidscope",
        description="An oscilloscope for threads, in a browser.",
        epilog="\n".join(["verbs:", *(f"  {name:10}{text}" for name, text in VERBS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tidscope {VERSION}")
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help="what to do; see below")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="of the verb; see tidscope VERB --help"
    )
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = parser.parse_args(given)
    # Not options.arguments: argparse takes a -- away, which `record` needs.
    of_verb = given[given.index(options.verb) + 1 :]
    verb = import_module(f"tidscope_backend.cli.{options.verb}")
    try:
        code: int = verb.run(of_verb)
    except CommandError as error:
        print(f"tidscope {options.verb}: {error}", file=sys.stderr)
        return error.code
    return code
