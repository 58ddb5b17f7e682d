"""`tidscope attach`: attach to a target through a running backend; options that select a target."""

import argparse
from collections.abc import Sequence

from tidscope_wire.generated.models import AttachRequest, GroupKind, GroupSelector, Target

from tidscope_backend.cli.backend_client import running_backend
from tidscope_backend.cli.command import Command, print_lines
from tidscope_backend.cli.server_options import add_backend_options


def _run(options: argparse.Namespace) -> int:
    """Attach and print the target, which remains attached."""
    asked: AttachRequest = options.asked
    body = asked.model_dump(exclude_none=True)
    if options.rate is None:
        del body["rate_hz"]
    else:
        body["rate_hz"] = options.rate
    address = f"{options.host}:{options.port}"
    with running_backend(options) as backend:
        target = backend.request_model("/targets", Target, "POST", body)
    if options.json:
        print_lines(target.model_dump_json())
    else:
        page = f"http://{address}/?target={target.id}"
        print_lines(f"attached to {name_of_target(target)}", page)
    return 0


def name_of_target(target: Target) -> str:
    """Format a target as text."""
    if target.group is not None:
        return target.group.name
    return f"{target.process.name} (process {target.process.pid})"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_options(parser, what="to attach to", required=True)
    parser.add_argument("--rate", type=float, metavar="HZ", help="sampling rate in Hz (10)")
    add_backend_options(parser)
    parser.add_argument("--json", action="store_true", help="print the target as a line of JSON")


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    options = parser.parse_args(arguments)
    options.asked = required_request(parser, options)
    return options


COMMAND = Command(
    name="attach",
    help="attach to a process or a group of processes",
    description="Attach to a process, or to a group of processes, in a running tidscope, and print "
    "the address of its page. It stays attached.",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)
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
    """Add --pid and the options of groups, which are mutually exclusive.

    Args:
        parser: parser of the command.
        what: purpose of the process in the help text, such as "to attach to".
        required: whether one of the options is required.
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
    """Return the target that the options select, or None.

    Raises:
        ValueError: the options select neither a process nor a group.
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
    """Return the selected target; exit with a message if the options are invalid."""
    try:
        request = target_request(options)
    except ValueError:
        request = None
    if request is None:
        parser.error(f"one of {CHOICES} has to name a process or a group")
    return request
