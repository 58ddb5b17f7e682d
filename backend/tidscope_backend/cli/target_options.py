"""Options that say which process or group of processes a command is about."""

import argparse

from tidscope_wire.generated.models import AttachRequest, GroupKind, GroupSelector

KINDS: tuple[GroupKind, ...] = ("tree", "cgroup", "unit", "container", "pod", "match")
_HELP = {
    "tree": "a process and all its descendants",
    "cgroup": "the processes of a control group and those below it, by its path, such as "
    "/system.slice/cron.service",
    "unit": "the processes of a systemd unit, such as postgresql.service",
    "container": "the processes of a container, by its name or id",
    "pod": "the processes of a Kubernetes pod, by its namespace/name or uid",
    "match": "all processes that match, as they come and go: name:GLOB, user:NAME, port:NUMBER and "
    "command:TEXT, joined by blanks; all must hold",
}
_METAVARS = {
    "tree": "PID",
    "cgroup": "PATH",
    "unit": "NAME",
    "container": "NAME",
    "pod": "NAME",
    "match": "EXPRESSION",
}
CHOICES = "--pid, --tree, --cgroup, --unit, --container, --pod or --match"


def add_target_options(parser: argparse.ArgumentParser, *, what: str, required: bool) -> None:
    """Add --pid and the options of groups, of which one is given.

    Args:
        parser: of the command.
        what: is done with the process, for the help.
        required: whether one of them has to be given.
    """
    options = parser.add_mutually_exclusive_group(required=required)
    options.add_argument("--pid", type=int, help=f"process {what}")
    for kind in KINDS:
        options.add_argument(
            f"--{kind}",
            type=int if kind == "tree" else str,
            metavar=_METAVARS[kind],
            help=_HELP[kind],
        )


def target_request(options: argparse.Namespace) -> AttachRequest | None:
    """What the options name; None: nothing.

    Raises:
        ValueError: that cannot be a process or a group.
    """
    if options.pid is not None:
        return AttachRequest(pid=options.pid)
    for kind in KINDS:
        value = getattr(options, kind)
        if value is not None:
            by_pid = kind == "tree"
            return AttachRequest(
                group=GroupSelector(
                    kind=kind, pid=value if by_pid else None, value=None if by_pid else value
                )
            )
    return None


def required_request(parser: argparse.ArgumentParser, options: argparse.Namespace) -> AttachRequest:
    """The same, where one is given; what is wrong with it ends the program."""
    try:
        request = target_request(options)
    except ValueError:
        request = None
    if request is None:
        parser.error(f"one of {CHOICES} has to name a process or a group")
    return request
