"""`tidscope steer`: the functions of the Steer drawer in a terminal, through a running backend."""

import argparse
import signal
import threading
from collections.abc import Callable, Mapping, Sequence

from tidscope_wire.generated.models import KnobKind, SignalKind

from tidscope_backend.cli.attach import add_target_options, required_request
from tidscope_backend.cli.backend_client import running_backend
from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.server_options import add_backend_options, duration
from tidscope_backend.cli.steering_client import SteeringClient
from tidscope_backend.prometheus_counter import parse_counter

KNOBS: tuple[KnobKind, ...] = ("go-agent", "pool-agent", "go-affinity")
SIGNALS: tuple[SignalKind, ...] = (
    "agent-ops",
    "queue-wait",
    "prometheus",
    "network-calls",
    "network-bytes",
)
CLAIMS: Mapping[str, Callable[[str], float]] = {"share": float, "floor": int, "priority": int}
"""Parsers of a program's claims on the arbiter."""


def _run(options: argparse.Namespace) -> int:
    """Steer a process or a group, and print decisions until a signal, its end or the time limit."""
    with running_backend(options) as backend:
        _carry_out(SteeringClient(backend, options.asked, as_json=options.json), options)
    return 0


def _carry_out(client: SteeringClient, options: argparse.Namespace) -> None:
    """Carry out the requested action."""
    only = options.only[0] if len(options.only) == 1 else None
    if len(options.only) > 1 and (options.restart or options.release):
        raise CommandError("--only names one program with --restart and --release")
    if options.options:
        client.print_options()
    elif options.release:
        client.release(only)
    elif options.restart:
        client.restart(only)
    else:
        request = steering_request(options) | _of_programs(options, client.steerable)
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        client.steer(request, stop, options.duration, keep=options.keep)


def steering_request(options: argparse.Namespace) -> dict[str, object]:
    """Return the body of the request."""
    request: dict[str, object] = {
        "policy": options.policy,
        "parameters": parameters_given(options.set),
        "shadow": options.shadow,
        "knob": options.knob,
        "signal": options.signal,
        "lower": options.lower,
        "upper": options.upper,
    }
    if options.counter is not None:
        try:
            counter = parse_counter(options.counter)
        except ValueError as error:
            raise CommandError(f"--counter {error}") from None
        request["prometheus"] = counter.model_dump()
    return request


def _of_programs(
    options: argparse.Namespace, steerable: Callable[[], list[int]]
) -> dict[str, object]:
    """Return the request's entries for programs of a group, and the claim of a single program.

    Args:
        options: options of the command.
        steerable: returns the steerable programs of the group.
    """
    claims = _claims(options)
    if options.asked.group is None:
        if options.join or options.only:
            raise CommandError("--join and --only are for the programs of a group")
        own = claims.pop(options.asked.pid, {})
        if claims:
            raise CommandError(f"process {min(claims)} is not the one to steer")
        return own
    pids = options.only
    if claims and not pids:
        pids = steerable()
    if missing := claims.keys() - {*pids}:
        raise CommandError(f"process {min(missing)} is not among those to steer")
    chosen = [{"pid": pid} | claims.get(pid, {}) for pid in pids]
    return {"join": options.join, "programs": chosen or None}


def _claims(options: argparse.Namespace) -> dict[int, dict[str, object]]:
    """Return each process's claims on the arbiter's cores."""
    found: dict[int, dict[str, object]] = {}
    for name, kind in CLAIMS.items():
        for text in getattr(options, name):
            pid, _, value = text.partition("=")
            try:
                found.setdefault(int(pid), {})[name] = kind(value)
            except ValueError as error:
                example = f"--{name} 4242={2 if name == 'share' else 1}"
                raise CommandError(f"--{name} {text}: use PID=NUMBER, such as {example}") from error
    return found


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the policy and its parameters."""
    parser.add_argument(
        "--policy",
        default="cooperative",
        help="policy to use; see `tidscope policies list` (%(default)s)",
    )
    add_set_option(parser)


def add_setup_options(parser: argparse.ArgumentParser) -> None:
    """Add options of the policy's knob, signal and bounds."""
    parser.add_argument("--knob", choices=KNOBS, help="what to set (default: the best available)")
    parser.add_argument(
        "--signal", choices=SIGNALS, help="what to optimise (default: the best available)"
    )
    parser.add_argument(
        "--counter",
        metavar="PORT:PATH#NAME",
        help="with --signal prometheus: the counter that the program exports",
    )
    parser.add_argument("--lower", type=int, help="lower bound of the size")
    parser.add_argument("--upper", type=int, help="upper bound of the size")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_target_options(parser, what="of the program to steer", required=True)
    add_policy_options(parser)
    add_setup_options(parser)
    parser.add_argument("--shadow", action="store_true", help="dry run: decide, but do not act")
    parser.add_argument(
        "--only",
        type=int,
        action="append",
        default=[],
        metavar="PID",
        help="of a group: this program only (repeatable; default: all that can be steered)",
    )
    parser.add_argument(
        "--join", action="store_true", help="of a group: steer programs that start later, too"
    )
    for name, meaning in (
        ("share", "weight of a program's throughput (1)"),
        ("floor", "cores that a program has at least"),
        ("priority", "programs of a higher one get what they can use first (0)"),
    ):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="PID=NUMBER",
            help=f"with --policy arbiter: {meaning} (repeatable)",
        )
    parser.add_argument("--duration", type=duration, metavar="SECONDS", help="stop after this time")
    parser.add_argument("--keep", action="store_true", help="keep steering after this command ends")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--options", action="store_true", help="list the knobs, signals and policies")
    what.add_argument("--restart", action="store_true", help="restart the search of its policy")
    what.add_argument(
        "--release", action="store_true", help="stop steering and restore the original size"
    )
    add_backend_options(parser)
    parser.add_argument("--json", action="store_true", help="print each decision as a line of JSON")


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    options = parser.parse_args(arguments)
    options.asked = required_request(parser, options)
    return options


COMMAND = Command(
    name="steer",
    help="let a policy steer the size of a program's thread pool",
    description="Let a policy steer the size of a program's thread pool, through a running "
    "tidscope. Ctrl-C restores the original size.",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)


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
    """Return values by name.

    Args:
        texts: values of each `--set`.

    Raises:
        CommandError: a text is not NAME=NUMBER.
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
