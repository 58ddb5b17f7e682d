"""`tidscope prove`: whether a policy helps a live program, shown by blocks with and without it."""

import argparse
import signal
import sys
import threading
import time
from pathlib import Path

from tidscope_wire.generated.models import (
    AttachRequest,
    ProofState,
    RunEventsResponse,
    RunManifest,
    Steering,
    Target,
)

from tidscope_backend.cli.backend_client import BackendClient, RefusedError
from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.recording_client import RecordingClient, RecordingOptions
from tidscope_backend.cli.redaction import Keeping
from tidscope_backend.cli.running_backend import running_backend
from tidscope_backend.cli.server_options import add_backend_options, duration
from tidscope_backend.cli.steer import add_policy_options, steering_request
from tidscope_backend.cli.terminal import print_lines
from tidscope_backend.proving.picture import draw_proof
from tidscope_backend.proving.result import ProofResult, read_proof

LOOK_SECONDS = 0.5
RESULT_SECONDS = 10.0
"""How long the frame with the result may take to be in the run."""
WITHOUT_RESULT = 3
EXIT_CODES = {"better": 0, "same": 1, "worse": 1, "unsettled": 1, "harmful": 2}


def _run(options: argparse.Namespace) -> int:
    """Prove, and report the result."""
    with running_backend(options) as backend:
        return _ProvingClient(backend, options).run()


class _ProvingClient:
    """Starts a proof at a backend, follows it, and keeps its run.

    Args:
        backend: where it is.
        options: of the command line.
    """

    def __init__(self, backend: BackendClient, options: argparse.Namespace) -> None:
        self._request, self._options = backend.request_model, options
        recording = RecordingOptions(
            name=options.name or f"proof of {options.policy}",
            tags=["proof"],
            group=None,
            notes=None,
            rate_hz=None,
            past_s=None,
            duration_s=None,
            keeping=Keeping(arguments=True, output=False, patterns=()),
        )
        self._recorder = RecordingClient(backend, recording)

    def run(self) -> int:
        """Do it; returns the exit code."""
        options = self._options
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        target = self._recorder.attach(AttachRequest(pid=options.pid))
        run = self._recorder.start(target)
        path = f"/targets/{target.id}/steering"
        try:
            self._request(path, Target, "PUT", _proving_request(options))
            try:
                is_proven = self._follow(target.id, stop)
            finally:
                is_released = stop.is_set() or options.release
                if is_released:
                    self._release(path)
            result = self._result(run, RESULT_SECONDS if is_proven else 0.0)
        finally:
            run = self._recorder.stop(run)
        return self._report(run, target, result, is_released=is_released)

    def _follow(self, target: str, stop: threading.Event) -> bool:
        """Print each pair of blocks; whether the proof has ended by itself."""
        pairs = -1
        while not stop.is_set():
            now = self._request(f"/targets/{target}", Target)
            steering = now.steering
            if steering is None or steering.proof is None:
                return now.state == "attached"
            if steering.proof.pairs != pairs:
                pairs = steering.proof.pairs
                self._print(steering, steering.proof)
            if steering.proof.verdict != "open":
                return True
            stop.wait(LOOK_SECONDS)
        return False

    def _result(self, run: RunManifest, seconds: float) -> ProofResult:
        """What the run says, once it says how the proof ended, or after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            events = self._request(f"/runs/{run.id}/events", RunEventsResponse).events
            result = read_proof(events)
            if result.state is not None or time.monotonic() >= end:
                return result
            time.sleep(LOOK_SECONDS)

    def _release(self, path: str) -> None:
        try:
            self._request(path, Target, "DELETE")
        except RefusedError:
            pass  # It is no longer steered.

    def _report(
        self, run: RunManifest, target: Target, result: ProofResult, *, is_released: bool
    ) -> int:
        """Print the sentence, write the picture, name the run."""
        options, state = self._options, result.state
        name = target.process.name
        title = f"{options.policy} against the default of {name} (pid {target.process.pid})"
        picture = Path(options.picture or f"proof-{options.policy}-{target.process.pid}.svg")
        try:
            picture.write_text(draw_proof(result, title), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"cannot write {picture}: {error.strerror}") from None
        if state is None:
            self._say(f"no result: the proof was ended before there was one; run {run.id}")
            return WITHOUT_RESULT
        print_lines(state.model_dump_json() if options.json else state.text, flush=True)
        if state.verdict == "better" and not is_released:
            self._say(f"{options.policy} goes on; `tidscope steer --release` ends it")
        else:
            self._say(f"released {name}: its original size is restored")
        self._say(f"run {run.id}, picture {picture}")
        return EXIT_CODES.get(state.verdict, WITHOUT_RESULT)

    def _print(self, steering: Steering, proof: ProofState) -> None:
        if not self._options.json:
            self._say(f"{steering.policy} on {steering.signal}: {proof.text}")

    def _say(self, text: str) -> None:
        print_lines(f"tidscope prove: {text}", file=sys.stderr, flush=True)


def _proving_request(options: argparse.Namespace) -> dict[str, object]:
    """The body of the request."""
    plan = {
        "block_s": options.block,
        "most_s": options.most,
        "smallest_percent": options.smallest,
        "loss_percent": options.loss,
        "seed": options.seed,
    }
    return {**steering_request(options), "proof": plan}


def process_id(text: str) -> int:
    """Parse the id of a process.

    Raises:
        argparse.ArgumentTypeError: it cannot be one.
    """
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is no process id")
    return int(text)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pid", type=process_id, required=True, help="process of the program")
    add_policy_options(parser)
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
