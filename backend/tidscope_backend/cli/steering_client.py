"""Client of a backend for `tidscope steer`, and formatting of its output."""

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from urllib.parse import urlencode

from tidscope_wire.generated.models import (
    AttachRequest,
    PoliciesResponse,
    ProgramOptions,
    Steering,
    SteeringOptions,
    Target,
    TargetsResponse,
    TargetState,
)

from tidscope_backend.cli.backend_client import BackendClient, RefusedError
from tidscope_backend.cli.command import CommandError, print_lines

POLL_SECONDS = 0.25
"""Polling interval, in seconds; decisions come at most every half second."""
LEASE_SECONDS = 15.0
"""Lease of the steering, in seconds: after a kill of this command, sizes are restored then."""
RENEW_SECONDS = 3.0
ENDS: Mapping[TargetState, str] = {
    "attached": "released by someone else",
    "exited": "the program has exited",
    "detached": "detached by someone else: its original size is restored",
}
"""Reasons why steering has ended, by the state of the target."""
WHOLE = (0, "")
"""Key of a single-process target; programs of a group have process ID and name."""
Steered = dict[tuple[int, str], Steering]
"""Steering state by program."""


class SteeringClient:
    """Client that steers and prints decisions.

    Args:
        backend: client of the backend.
        asked: process or group to steer.
        as_json: print each decision as a line of JSON.
    """

    def __init__(self, backend: BackendClient, asked: AttachRequest, *, as_json: bool) -> None:
        self._request, self._asked, self._as_json = backend.request_model, asked, as_json

    def print_options(self) -> None:
        """Print knobs, signals and policies, without attaching."""
        found = self._request(f"/steering?{urlencode(_question(self._asked))}", SteeringOptions)
        if self._as_json:
            print_lines(found.model_dump_json())
            return
        if found.programs is None:
            for knob in found.knobs:
                bounds = knob.refusal or f"{knob.lower} to {knob.upper}"
                print_lines(f"knob    {knob.kind:14} {bounds}")
            for signal in found.signals:
                print_lines(f"signal  {signal.kind:14} {signal.refusal or signal.note}")
        for program in found.programs or ():
            print_lines(f"program {program.pid:<8} {program.name:16} {_possible(program)}")
        if found.unexamined:
            print_lines(f"{found.unexamined} more processes were not examined")
        policies = self._request("/policies", PoliciesResponse).policies
        print_lines("policies: " + ", ".join(one.name for one in policies))

    def steerable(self) -> list[int]:
        """Return the steerable processes of the group, without attaching."""
        found = self._request(f"/steering?{urlencode(_question(self._asked))}", SteeringOptions)
        return [one.pid for one in found.programs or () if not one.refusal]

    def steer(
        self,
        request: dict[str, object],
        stop: threading.Event,
        duration_s: float | None,
        *,
        keep: bool,
    ) -> None:
        """Attach, steer, and print decisions until the steering ends."""
        body = self._asked.model_dump(mode="json", exclude_none=True)
        target = self._request("/targets", Target, "POST", body)
        path = f"/targets/{target.id}/steering"
        lease = {} if keep else {"lease_s": LEASE_SECONDS}
        self._request(path, Target, "PUT", request | lease)
        is_steered = True
        try:
            is_steered = self._follow(target.id, stop, duration_s)
        finally:
            if not keep:
                self._release_at_end(path)
            elif is_steered:
                self._say("steering continues; `tidscope steer --release` ends it")

    def restart(self, pid: int | None) -> None:
        """Restart the policy's search."""
        self._request(f"{self._path()}/restart{_of(pid)}", Target, "POST")

    def release(self, pid: int | None) -> None:
        """Stop steering."""
        self._request(f"{self._path()}{_of(pid)}", Target, "DELETE")

    def _path(self) -> str:
        """Return the path of an attached target's steering, without attaching."""
        targets = self._request("/targets", TargetsResponse).targets
        found = [one for one in targets if one.state == "attached" and is_of(one, self._asked)]
        if not found:
            raise CommandError("no policy steers this target: it is not attached")
        return f"/targets/{found[-1].id}/steering"

    def _follow(self, target: str, stop: threading.Event, duration_s: float | None) -> bool:
        """Print decisions. Return True if the target is steered at the end."""
        end = None if duration_s is None else time.monotonic() + duration_s
        shown: dict[tuple[int, str], int] = {}
        problems: dict[tuple[int, str], str | None] = {}
        renew_at = time.monotonic() + RENEW_SECONDS
        while not stop.is_set() and (end is None or time.monotonic() < end):
            if time.monotonic() >= renew_at:
                renew_at = time.monotonic() + RENEW_SECONDS
                with suppress(RefusedError):  # The target has ended; its state is read below.
                    self._request(f"/targets/{target}/steering/renew", Target, "POST")
            now = self._request(f"/targets/{target}", Target)
            steered = dict(_steered(now))
            for key in shown.keys() - steered.keys():
                del shown[key]
                if key != WHOLE:
                    self._say(f"{_name(key)} is no longer steered")
            if not steered and not (now.programs_join and now.state == "attached"):
                self._say(ENDS[now.state])
                return False
            for key, steering in steered.items():
                self._print(key, steering, shown)
                if steering.problem != problems.get(key):
                    problems[key] = steering.problem
                    of = "" if key == WHOLE else f"{_name(key)}: "
                    self._say(f"{of}{steering.problem or 'resolved'}")
            stop.wait(POLL_SECONDS)
        return True

    def _release_at_end(self, path: str) -> None:
        try:
            released = self._request(path, Target, "DELETE")
        except RefusedError:
            return  # The target is no longer steered.
        if released.group is None:
            self._say(f"released {released.process.name}: its original size is restored")
        else:
            self._say(f"released {released.group.name}: original sizes are restored")

    def _print(
        self, key: tuple[int, str], now: Steering, shown: dict[tuple[int, str], int]
    ) -> None:
        before = shown.get(key)
        if before == now.decisions:
            return
        shown[key] = now.decisions
        if self._as_json:
            own = {} if key == WHOLE else {"pid": key[0], "name": key[1]}
            print_lines(json.dumps(own | now.model_dump(mode="json")), flush=True)
            return
        # A change of policy restarts the count.
        missed = now.decisions - before - 1 if before is not None and now.decisions > before else 0
        if missed:
            self._say(f"{missed} decisions before the next line are in the page's log only")
        print_lines(decision_line(key, now), flush=True)

    def _say(self, text: str) -> None:
        print_lines(f"tidscope steer: {text}", file=sys.stderr, flush=True)


def decision_line(key: tuple[int, str], now: Steering) -> str:
    """Format a decision: time, program, size, operations per second, interval and policy's text."""
    at_unix_us = now.since_unix_us if now.decided_unix_us is None else now.decided_unix_us
    clock = datetime.fromtimestamp(at_unix_us / 1e6).astimezone().strftime("%H:%M:%S")
    program = "" if key == WHOLE else f"{_name(key)}  "
    unit = "bytes/s" if now.signal == "network-bytes" else "ops/s"
    rate, length = "-", "-"
    if now.ops_per_s is not None and now.interval_s is not None:
        rate, length = f"{now.ops_per_s:,.1f}", f"{now.interval_s:.2f}"
    proxy = " (proxy signal)" if now.proxy else ""
    shadow = " shadow" if now.shadow else ""
    return (
        f"{clock}  {program}size {now.size} of {now.lower}-{now.upper}  {rate} {unit}  "
        f"interval {length} s  {now.policy}{shadow} by {now.signal}{proxy}: "
        f"{now.state}. {now.reason}"
    )


def is_of(target: Target, asked: AttachRequest) -> bool:
    """Return True if a target is the requested process or group."""
    if asked.group is None:
        return target.group is None and target.process.pid == asked.pid
    group = target.group
    if group is None or group.kind != asked.group.kind:
        return False
    if asked.group.kind == "tree":
        return target.process.pid == asked.group.pid
    return asked.group.value in (group.value, group.cgroup, group.name)


def _steered(target: Target) -> Iterator[tuple[tuple[int, str], Steering]]:
    if target.steering is not None:
        yield WHOLE, target.steering
    for one in target.programs or ():
        yield (one.pid, one.name), one.steering


def _possible(program: ProgramOptions) -> str:
    """Return the best knob and signal of a program, or the reason for having none."""
    knob = next((one for one in program.knobs if not one.refusal), None)
    signal = next((one for one in program.signals if not one.refusal), None)
    if knob is None or signal is None:
        return program.refusal
    return f"{knob.kind} {knob.lower} to {knob.upper}, by {signal.kind}"


def _name(key: tuple[int, str]) -> str:
    return "" if key == WHOLE else f"{key[1]} ({key[0]})"


def _of(pid: int | None) -> str:
    return "" if pid is None else f"?pid={pid}"


def _question(asked: AttachRequest) -> dict[str, str]:
    if asked.group is None:
        return {"pid": str(asked.pid)}
    if asked.group.kind == "tree":
        return {"kind": "tree", "pid": str(asked.group.pid)}
    return {"kind": asked.group.kind, "value": asked.group.value or ""}
