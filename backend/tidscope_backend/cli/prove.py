"""`tidscope prove`: whether a policy helps a live program, shown by blocks with and without it."""

import argparse
import sys
from pathlib import Path

from tidscope_wire.generated.models import ProofState, Steering, Target

from tidscope_backend.cli.backend_client import BackendClient
from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.live_trial import FinishedTrial, LiveTrial, TrialReading, process_id
from tidscope_backend.cli.running_backend import running_backend
from tidscope_backend.cli.server_options import add_backend_options, duration
from tidscope_backend.cli.steer import add_policy_options, add_setup_options, steering_request
from tidscope_backend.cli.terminal import print_lines
from tidscope_backend.proving.picture import draw_proof
from tidscope_backend.proving.result import ProofResult, read_proof

WITHOUT_RESULT = 3
EXIT_CODES = {"better": 0, "same": 1, "worse": 1, "unsettled": 1, "harmful": 2}


def _run(options: argparse.Namespace) -> int:
    """Prove, and report the result."""
    with running_backend(options) as backend:
        return _ProvingClient(backend, options).run()


class _ProvingClient:
    """Proves through a backend, and reports.

    Args:
        backend: where it is.
        options: of the command line.
    """

    def __init__(self, backend: BackendClient, options: argparse.Namespace) -> None:
        self._options, self._pairs = options, -1
        reading = TrialReading(self._look, read_proof, lambda found: found.state is not None)
        name = options.name or f"proof of {options.policy}"
        self._trial = LiveTrial(backend, options.pid, name, "proof", reading)

    def run(self) -> int:
        """Do it; returns the exit code."""
        options = self._options
        return self._report(
            self._trial.carry_out(_proving_request(options), release=options.release)
        )

    def _look(self, now: Target) -> bool | None:
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
    """The body of the request."""
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
