"""`tidscope fleet`: `tidscope up` for a team's hosts, which keeps their totals by role."""

import argparse

from tidscope_backend.cli import up
from tidscope_backend.cli.command import Command

ROLES_DAYS = 30.0


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    up.COMMAND.add_arguments(parser)
    parser.set_defaults(keep_roles_days=ROLES_DAYS, tell_hosts=True)


COMMAND = Command(
    name="fleet",
    help="start them for collectors of many hosts, and keep totals by role",
    description="Start collector and backend on this machine as `tidscope up` does, for collectors "
    f"of other hosts too, and keep the totals by role of all hosts for {ROLES_DAYS:g} days "
    "(--keep-roles-days). It prints how a host is added.",
    add_arguments=_add_arguments,
    run=up.COMMAND.run,
)
