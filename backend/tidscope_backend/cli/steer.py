"""`tidscope steer`: what the Steer drawer does, in a terminal, through a running backend."""

import argparse
import os
import signal
import sys
import threading
import time

from tidscope_wire.generated.models import (
    KnobKind,
    PoliciesResponse,
    SignalKind,
    Steering,
    SteeringOptions,
    Target,
)

from tidscope_backend.cli.backend_client import (
    BackendClient,
    RefusedError,
    UnavailableError,
    UntrustedError,
)
from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.server_options import add_backend_options, duration
from tidscope_backend.cli.target_options import add_target_options
from tidscope_backend.cli.terminal import print_lines
from tidscope_backend.settings import BROWSER_VARIABLE

LOOK_SECONDS = 0.5
KNOBS: tuple[KnobKind, ...] = ("go-agent", "pool-agent", "go-affinity")
SIGNALS: tuple[SignalKind, ...] = (
    "agent-ops",
    "queue-wait",
    "prometheus",
    "network-calls",
    "network-bytes",
)


def _run(options: argparse.Namespace) -> int:
    """Steer a process and print its decisions until a signal, its end or the time limit."""
    token = os.environ.get(BROWSER_VARIABLE, "")
    if not token:
        raise CommandError(
            f"set {BROWSER_VARIABLE} to the token of a running tidscope: the text after #token= "
            "in the address that `tidscope up` prints"
        )
    try:
        with BackendClient(f"{options.host}:{options.port}", token) as backend:
            return _SteeringClient(backend, as_json=options.json).run(options)
    except (RefusedError, UntrustedError) as error:
        raise CommandError(str(error)) from None
    except UnavailableError as error:
        raise CommandError(f"no tidscope answers: {error}; start one by `tidscope up`") from None


class _SteeringClient:
    """Asks a backend and prints.

    Args:
        backend: where it is.
        as_json: print each decision as a line of JSON.
    """

    def __init__(self, backend: BackendClient, *, as_json: bool) -> None:
        self._request, self._as_json = backend.request_model, as_json

    def run(self, options: argparse.Namespace) -> int:
        """Do what the options ask for."""
        if options.pid is None:
            raise CommandError(
                "a group of processes cannot be steered; steer its processes one by one, by --pid"
            )
        request = steering_request(options)
        target = self._request("/targets", Target, "POST", {"pid": options.pid})
        path = f"/targets/{target.id}/steering"
        if options.options:
            self._print_options(self._request(path, SteeringOptions))
            return 0
        if options.release:
            self._request(path, Target, "DELETE")
            return 0
        if options.restart:
            self._request(f"{path}/restart", Target, "POST")
            return 0
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        self._request(path, Target, "PUT", request)
        try:
            return self._follow(target.id, stop, options.duration)
        finally:
            self._release(path, target.id, keep=options.keep)

    def _follow(self, target: str, stop: threading.Event, duration_s: float | None) -> int:
        """Print each decision until somebody or something stops it."""
        end = None if duration_s is None else time.monotonic() + duration_s
        shown = -1
        problem: str | None = None
        while not stop.is_set() and (end is None or time.monotonic() < end):
            now = self._request(f"/targets/{target}", Target)
            if now.steering is None:
                ended = now.state != "attached"
                self._say("the program has exited" if ended else "released by someone else")
                return 0
            if now.steering.decisions != shown:
                shown = now.steering.decisions
                self._print(now.steering)
            if now.steering.problem != problem:
                problem = now.steering.problem
                self._say(problem or "resolved")
            stop.wait(LOOK_SECONDS)
        return 0

    def _release(self, path: str, target: str, *, keep: bool) -> None:
        if keep:
            self._say("steering continues; `tidscope steer --release` ends it")
            return
        try:
            released = self._request(path, Target, "DELETE")
        except RefusedError:
            return  # It is no longer steered.
        self._say(f"released {released.process.name}: its original size is restored")

    def _print(self, now: Steering) -> None:
        if self._as_json:
            print_lines(now.model_dump_json(), flush=True)
            return
        proxy = " (proxy signal)" if now.proxy else ""
        shadow = " shadow" if now.shadow else ""
        print_lines(
            f"{now.policy}{shadow} {now.size:4} of {now.lower}-{now.upper} by {now.signal}{proxy}: "
            f"{now.state}. {now.reason}",
            flush=True,
        )

    def _print_options(self, found: SteeringOptions) -> None:
        if self._as_json:
            print_lines(found.model_dump_json())
            return
        for knob in found.knobs:
            print_lines(f"knob    {knob.kind:14} {knob.refusal or f'{knob.lower} to {knob.upper}'}")
        for one in found.signals:
            print_lines(f"signal  {one.kind:14} {one.refusal or one.note}")
        print_lines("policies: " + ", ".join(one.name for one in self._policies().policies))

    def _policies(self) -> PoliciesResponse:
        return self._request("/policies", PoliciesResponse)

    def _say(self, text: str) -> None:
        print_lines(f"tidscope steer: {text}", file=sys.stderr, flush=True)


def steering_request(options: argparse.Namespace) -> dict[str, object]:
    """The body of the request."""
    parameters: dict[str, float] = {}
    for text in options.set:
        name, sign, value = text.partition("=")
        try:
            parameters[name] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise CommandError(f"--set {text}: use NAME=NUMBER, such as interval_s=1")
    request: dict[str, object] = {
        "policy": options.policy,
        "parameters": parameters,
        "shadow": options.shadow,
        "knob": options.knob,
        "signal": options.signal,
        "lower": options.lower,
        "upper": options.upper,
    }
    if options.counter is not None:
        port, colon, rest = options.counter.partition(":")
        path, space, metric = rest.rpartition("#")
        if not (colon and space and port.isdigit()):
            raise CommandError(
                f"--counter {options.counter}: use PORT:PATH#NAME, such as "
                "9100:/metrics#http_requests_total"
            )
        request["prometheus"] = {"port": int(port), "path": path, "metric": metric}
    return request


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """Which policy steers, by which knob and signal, within which bounds."""
    parser.add_argument(
        "--policy",
        default="cooperative",
        help="policy to use; see `tidscope policies list` (%(default)s)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a parameter of the policy (repeatable)",
    )
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
    parser.add_argument("--shadow", action="store_true", help="dry run: decide, but do not act")
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


COMMAND = Command(
    name="steer",
    help="let a policy steer the size of a program's thread pool",
    description="Let a policy steer the size of a program's thread pool, through a running "
    "tidscope. Ctrl-C restores the original size.",
    add_arguments=_add_arguments,
    run=_run,
)
