"""`tidscope prove`: test whether a policy helps a live program; trials, also used by sweeps."""

import argparse
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from tidscope_wire.generated.models import (
    AttachRequest,
    ProofState,
    RunEvent,
    RunEventsResponse,
    RunManifest,
    Steering,
    Target,
    TargetState,
)

from tidscope_backend.cli.backend_client import BackendClient, RefusedError, running_backend
from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.cli.recording_client import RecordingClient, RecordingOptions
from tidscope_backend.cli.server_options import add_backend_options, duration
from tidscope_backend.cli.steer import add_policy_options, add_setup_options, steering_request
from tidscope_backend.proving.picture import ProofResult, draw_proof, read_proof

WITHOUT_RESULT = 3
EXIT_CODES = {"better": 0, "same": 1, "worse": 1, "unsettled": 1, "harmful": 2}


def _run(options: argparse.Namespace) -> int:
    """Prove, and report the result."""
    with running_backend(options) as backend:
        return _ProvingClient(backend, options).run()


Result = TypeVar("Result")


@dataclass(frozen=True)
class FinishedTrial(Generic[Result]):
    """An ended trial, with or without a result.

    Attributes:
        run: run of the trial.
        target: recorded program.
        result: result from the run, or None.
        is_released: whether this command released the program.
        ending: reason for a missing result; empty if the user ended the trial.
    """

    run: RunManifest
    target: Target
    result: Result
    is_released: bool
    ending: str


class _ProvingClient:
    """Proves through a backend, and reports.

    Args:
        backend: client of the backend.
        options: options of the command line.
    """

    def __init__(self, backend: BackendClient, options: argparse.Namespace) -> None:
        self._options, self._pairs = options, -1
        reading = TrialReading(self._ended, read_proof, lambda found: found.state is not None)
        name = options.name or f"proof of {options.policy}"
        self._trial = LiveTrial(backend, options.pid, name, "proof", reading)

    def run(self) -> int:
        """Run the trial and return the exit code."""
        options = self._options
        return self._report(
            self._trial.carry_out(_proving_request(options), release=options.release)
        )

    def _ended(self, now: Target) -> bool | None:
        """Print each pair of blocks."""
        steering = now.steering
        if steering is None or steering.proof is None:
            return now.state == "attached"
        if steering.proof.pairs != self._pairs:
            self._pairs = steering.proof.pairs
            self._print(steering, steering.proof)
        return None if steering.proof.verdict == "open" else True

    def _report(self, done: FinishedTrial[ProofResult]) -> int:
        """Print the sentence, write the picture, name the run."""
        options, state, process = self._options, done.result.state, done.target.process
        title = f"{options.policy} against the default of {process.name} (pid {process.pid})"
        picture = Path(options.picture or f"proof-{options.policy}-{process.pid}.svg")
        try:
            picture.write_text(draw_proof(done.result, title), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"cannot write {picture}: {error.strerror}") from None
        if state is None:
            why = done.ending or "the proof was ended before there was one"
            self._say(f"no result: {why}; run {done.run.id}")
            return WITHOUT_RESULT
        print_lines(state.model_dump_json() if options.json else state.text, flush=True)
        if state.p99 is None and state.p99_missing:
            self._say(f"no response times: {state.p99_missing}")
        if state.verdict == "better" and not done.is_released:
            self._say(f"{options.policy} goes on; `tidscope steer --release` ends it")
        else:
            self._say(f"released {process.name}: its original size is restored")
        self._say(f"run {done.run.id}, picture {picture}")
        return EXIT_CODES.get(state.verdict, WITHOUT_RESULT)

    def _print(self, steering: Steering, proof: ProofState) -> None:
        if not self._options.json:
            self._say(f"{steering.policy} on {steering.signal}: {proof.text}")

    def _say(self, text: str) -> None:
        print_lines(f"tidscope prove: {text}", file=sys.stderr, flush=True)


def _proving_request(options: argparse.Namespace) -> dict[str, object]:
    """Return the body of the request."""
    plan = {
        "block_s": options.block,
        "most_s": options.most,
        "smallest_percent": options.smallest,
        "loss_percent": options.loss,
        "seed": options.seed,
    }
    return {**steering_request(options), "proof": plan}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pid", type=process_id, required=True, help="process of the program")
    add_policy_options(parser)
    add_setup_options(parser)
    parser.add_argument(
        "--against",
        choices=("default",),
        default="default",
        help="what it is compared with: the size that the program has by itself (%(default)s)",
    )
    parser.add_argument(
        "--block", type=duration, metavar="SECONDS", help="measured length of a block (default: 20)"
    )
    parser.add_argument(
        "--most", type=duration, metavar="SECONDS", help="end after this time (default: 900)"
    )
    parser.add_argument(
        "--smallest",
        type=float,
        metavar="PERCENT",
        help="end when the difference is shown to be below this (default: 1)",
    )
    parser.add_argument(
        "--loss",
        type=float,
        metavar="PERCENT",
        help="stop when this share of the work is lost (default: 5)",
    )
    parser.add_argument("--seed", type=int, help="of the order of blocks (default: 1)")
    parser.add_argument(
        "--release", action="store_true", help="release the program even if the policy is better"
    )
    parser.add_argument("--name", help="name of the run (default: proof of POLICY)")
    parser.add_argument(
        "--picture", metavar="FILE", help="where the picture goes (default: proof-POLICY-PID.svg)"
    )
    add_backend_options(parser)
    parser.add_argument("--json", action="store_true", help="print the result as a line of JSON")
    parser.set_defaults(shadow=False)


COMMAND = Command(
    name="prove",
    help="show whether a policy makes a live program faster",
    description="Show whether a policy makes a live program faster, through a running tidscope: "
    "blocks with the policy and without it, in random order, until the difference is shown, or "
    "shown to be none, or too much work is lost. Exits with 0 if the policy is better, 1 if not, 2 "
    "if it was stopped because of the loss, 3 without a result.",
    add_arguments=_add_arguments,
    run=_run,
)
POLL_SECONDS = 0.5
ENDINGS: Mapping[TargetState, str] = {
    "exited": "the program has exited",
    "detached": "the collector is gone, or somebody has detached the program",
}
"""Reasons for a missing result, by the state of the target."""
RESULT_SECONDS = 10.0
"""Timeout for the frame with the result to be recorded, in seconds."""


@dataclass(frozen=True)
class TrialReading(Generic[Result]):
    """Functions that interpret one kind of trial.

    Attributes:
        ended: takes the target; returns whether the trial ended on its own, or None while it
            continues.
        read: takes the run's events; returns the result.
        is_result: returns whether a result is complete, so that the trial has ended.
    """

    ended: Callable[[Target], bool | None]
    read: Callable[[Sequence[RunEvent]], Result]
    is_result: Callable[[Result], bool]


class LiveTrial(Generic[Result]):
    """Starts a trial, follows its progress, and keeps its run.

    Args:
        backend: client of the backend.
        pid: process ID of the program.
        name: name of the run.
        tag: tag of the run.
        reading: functions that interpret the trial.
    """

    def __init__(
        self, backend: BackendClient, pid: int, name: str, tag: str, reading: TrialReading[Result]
    ) -> None:
        self._request, self._pid, self._reading = backend.request_model, pid, reading
        recording = RecordingOptions(
            name=name,
            tags=[tag],
            group=None,
            notes=None,
            rate_hz=None,
            past_s=None,
            duration_s=None,
            keeping=Keeping(arguments=True, output=False, patterns=()),
        )
        self._recorder = RecordingClient(backend, recording)
        self._state: TargetState = "attached"

    def carry_out(self, body: dict[str, object], *, release: bool) -> FinishedTrial[Result]:
        """Run the trial until it ends or a signal arrives.

        Args:
            body: body of the request that starts the trial.
            release: release the program even if the trial would leave a policy active.
        """
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        target = self._recorder.attach(AttachRequest(pid=self._pid))
        run = self._recorder.start(target)
        path = f"/targets/{target.id}/steering"
        try:
            self._request(path, Target, "PUT", body)
            try:
                has_result = self._follow(target.id, stop)
            finally:
                is_released = stop.is_set() or release
                if is_released:
                    self._release(path)
            result = self._result(run, RESULT_SECONDS if has_result else 0.0)
        finally:
            run = self._stop(run)
        return FinishedTrial(run, target, result, is_released, ENDINGS.get(self._state, ""))

    def _follow(self, target: str, stop: threading.Event) -> bool:
        """Poll until the trial ends. Return whether it ended on its own."""
        while not stop.is_set():
            now = self._request(f"/targets/{target}", Target)
            self._state = now.state
            ended = self._reading.ended(now)
            if ended is not None:
                return ended
            if now.state != "attached":
                return False
            stop.wait(POLL_SECONDS)
        return False

    def _result(self, run: RunManifest, seconds: float) -> Result:
        """Return the recorded result of the trial, or its newest state after a timeout."""
        end = time.monotonic() + seconds
        while True:
            events = self._request(f"/runs/{run.id}/events", RunEventsResponse).events
            result = self._reading.read(events)
            if self._reading.is_result(result) or time.monotonic() >= end:
                return result
            time.sleep(POLL_SECONDS)

    def _stop(self, run: RunManifest) -> RunManifest:
        try:
            return self._recorder.stop(run)
        except RefusedError:
            # The trial ended with the program.
            return self._recorder.manifest(run)

    def _release(self, path: str) -> None:
        try:
            self._request(path, Target, "DELETE")
        except RefusedError:
            pass  # The program is no longer steered.


def process_id(text: str) -> int:
    """Parse the id of a process.

    Raises:
        argparse.ArgumentTypeError: the text is not a process ID.
    """
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is no process id")
    return int(text)
