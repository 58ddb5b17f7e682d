"""How the collector is started. It is another program: nothing of it is imported here."""

import sys
from importlib.util import find_spec

from tidscope_backend.cli.failure import CommandError

PACKAGE = "tidscope_collector"
PATH = "/ws/collector"
NETWORK_SOURCES = ("auto", "taskstats", "ebpf", "none")
"""Choices of the collector's --network; a test compares them."""


def collector_command(*arguments: str) -> list[str]:
    """The command that runs the collector with these arguments.

    Raises:
        CommandError: it is not installed.
    """
    if find_spec(PACKAGE) is None:
        raise CommandError(f"{PACKAGE} is not installed beside this program; install tidscope anew")
    return [sys.executable, "-m", PACKAGE, *arguments]
