"""`tidscope attach`: what a press in the picker does, in a terminal, through a running backend."""

import argparse
from collections.abc import Sequence

from tidscope_wire.generated.models import AttachRequest, Target

from tidscope_backend.cli.command import Command
from tidscope_backend.cli.running_backend import running_backend
from tidscope_backend.cli.server_options import add_backend_options
from tidscope_backend.cli.target_options import add_target_options, required_request
from tidscope_backend.cli.terminal import print_lines


def _run(options: argparse.Namespace) -> int:
    """Attach, and print the target; it stays attached."""
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
    """A target in words."""
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
