"""`tidscope steer`: what the Steer drawer does, in a terminal, through a running backend."""

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel
from tidscope_wire.generated.models import (
    KnobKind,
    PoliciesResponse,
    SignalKind,
    Steering,
    SteeringOptions,
    Target,
)

from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, ask
from tidscope_backend.cli.failure import CommandError
from tidscope_backend.settings import BROWSER_VARIABLE, DEFAULT_HOST, DEFAULT_PORT

M = TypeVar("M", bound=BaseModel)
LOOK_SECONDS = 0.5
KNOBS: tuple[KnobKind, ...] = ("go-agent", "pool-agent", "go-affinity")
SIGNALS: tuple[SignalKind, ...] = (
    "agent-ops",
    "queue-wait",
    "prometheus",
    "network-calls",
    "network-bytes",
)


def run(arguments: Sequence[str]) -> int:
    """Steer a process and say what is decided, until a signal, its end or the end of the time."""
    options = _parser().parse_args(arguments)
    token = os.environ.get(BROWSER_VARIABLE, "")
    if not token:
        raise CommandError(
            f"set {BROWSER_VARIABLE} to the token of a running tidscope: what stands behind "
            "?token= in the address that `tidscope up` printed"
        )
    try:
        return _Desk(f"{options.host}:{options.port}", token, as_json=options.json).serve(options)
    except RefusedError as error:
        raise CommandError(str(error)) from None
    except UnavailableError as error:
        raise CommandError(f"no tidscope answers: {error}; start one by `tidscope up`") from None


class _Desk:
    """Asks a backend and prints.

    Args:
        address: of the backend, host and port.
        token: shown to it.
        as_json: print each decision as a line of JSON.
    """

    def __init__(self, address: str, token: str, *, as_json: bool) -> None:
        self._address, self._token, self._as_json = address, token, as_json

    def serve(self, options: argparse.Namespace) -> int:
        """Do what was asked for."""
        request = _request(options)
        target = self._ask("/targets", Target, "POST", {"pid": options.pid})
        path = f"/targets/{target.id}/steering"
        if options.options:
            self._print_options(self._ask(path, SteeringOptions))
            return 0
        if options.release:
            self._ask(path, Target, "DELETE")
            return 0
        if options.restart:
            self._ask(f"{path}/restart", Target, "POST")
            return 0
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        self._ask(path, Target, "PUT", request)
        try:
            return self._follow(target.id, stop, options.duration)
        finally:
            self._let_go(path, target.id, keep=options.keep)

    def _follow(self, target: str, stop: threading.Event, duration_s: float | None) -> int:
        """Print each decision until somebody or something stops it."""
        end = None if duration_s is None else time.monotonic() + duration_s
        told = -1
        problem: str | None = None
        while not stop.is_set() and (end is None or time.monotonic() < end):
            now = self._ask(f"/targets/{target}", Target)
            if now.steering is None:
                ended = now.state != "attached"
                self._say("the program has ended" if ended else "somebody else released it")
                return 0
            if now.steering.decisions != told:
                told = now.steering.decisions
                self._print(now.steering)
            if now.steering.problem != problem:
                problem = now.steering.problem
                self._say(problem or "it works again")
            stop.wait(LOOK_SECONDS)
        return 0

    def _let_go(self, path: str, target: str, *, keep: bool) -> None:
        if keep:
            self._say("it goes on without this terminal; `tidscope steer --release` ends it")
            return
        try:
            released = self._ask(path, Target, "DELETE")
        except RefusedError:
            return  # It is not steered any more.
        self._say(f"released {released.process.name}: it has the size that it had before")

    def _print(self, now: Steering) -> None:
        if self._as_json:
            print(now.model_dump_json(), flush=True)
            return
        proxy = " (stands in for ops)" if now.proxy else ""
        shadow = " shadow" if now.shadow else ""
        print(
            f"{now.policy}{shadow} {now.size:4} of {now.lower}-{now.upper} by {now.signal}{proxy}: "
            f"{now.state}. {now.reason}",
            flush=True,
        )

    def _print_options(self, found: SteeringOptions) -> None:
        if self._as_json:
            print(found.model_dump_json())
            return
        for knob in found.knobs:
            print(f"knob    {knob.kind:14} {knob.refusal or f'{knob.lower} to {knob.upper}'}")
        for one in found.signals:
            print(f"signal  {one.kind:14} {one.refusal or one.note}")
        print("policies: " + ", ".join(one.name for one in self._policies().policies))

    def _policies(self) -> PoliciesResponse:
        return self._ask("/policies", PoliciesResponse)

    def _say(self, text: str) -> None:
        print(f"tidscope steer: {text}", file=sys.stderr, flush=True)

    def _ask(
        self, path: str, answer: type[M], method: str = "GET", body: object | None = None
    ) -> M:
        return ask(self._address, self._token, path, answer, method, body)


def _request(options: argparse.Namespace) -> dict[str, object]:
    """The body of the request."""
    parameters: dict[str, float] = {}
    for text in options.set:
        name, sign, value = text.partition("=")
        try:
            parameters[name] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise CommandError(f"--set {text}: want NAME=NUMBER, such as interval_s=1")
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
                f"--counter {options.counter}: want PORT:PATH#NAME, such as "
                "9100:/metrics#http_requests_total"
            )
        request["prometheus"] = {"port": int(port), "path": path, "metric": metric}
    return request


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tidscope steer",
        description="Let a policy steer the size of a program's thread pool, through a running "
        "tidscope. Ctrl-C gives the original size back.",
    )
    parser.add_argument("--pid", type=int, required=True, help="of the program")
    parser.add_argument("--policy", default="cooperative", help="see `tidscope policies list`")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a parameter of the policy; more than once",
    )
    parser.add_argument("--shadow", action="store_true", help="decide, but do not act")
    parser.add_argument("--knob", choices=KNOBS, help="what to turn (the best there is)")
    parser.add_argument("--signal", choices=SIGNALS, help="what to steer on (the best there is)")
    parser.add_argument(
        "--counter",
        metavar="PORT:PATH#NAME",
        help="with --signal prometheus: a counter that the program serves",
    )
    parser.add_argument("--lower", type=int, help="smallest size allowed")
    parser.add_argument("--upper", type=int, help="largest size allowed")
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="end after so long")
    parser.add_argument("--keep", action="store_true", help="leave it steered at the end")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--options", action="store_true", help="say how it could be steered")
    what.add_argument("--restart", action="store_true", help="let its policy search anew")
    what.add_argument("--release", action="store_true", help="steer it no more")
    parser.add_argument("--host", default=DEFAULT_HOST, help="of the backend (%(default)s)")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="of the backend (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="each decision as a line of JSON")
    return parser
