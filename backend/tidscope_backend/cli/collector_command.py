"""How the collector is started. It is another program: nothing of it is imported here."""

import os
from importlib.util import find_spec

from tidscope_backend.cli.command import CommandError
from tidscope_backend.processes import ISOLATED, run_module

PACKAGE = "tidscope_collector"
PATH = "/ws/collector"


def collector_command(*arguments: str) -> list[str]:
    """The command that runs the collector with these arguments.

    Raises:
        CommandError: it is not installed.
    """
    if find_spec(PACKAGE) is None:
        raise CommandError(f"{PACKAGE} is not installed; reinstall tidscope")
    # What keeps root's rights is not to be chosen by an environment.
    option = ISOLATED if os.geteuid() == 0 else "-P"
    return run_module(PACKAGE, *arguments, option=option)
