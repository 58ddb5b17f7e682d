"""`tidscope sweep`: measure a live program's size curve, and print the line that sets its knee."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tidscope_wire.generated.models import SweepPoint, SweepState, Target

from tidscope_backend.cli.backend_client import BackendClient, running_backend
from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.prove import FinishedTrial, LiveTrial, TrialReading, process_id
from tidscope_backend.cli.server_options import add_backend_options, duration
from tidscope_backend.cli.steer import add_setup_options, steering_request
from tidscope_backend.proving.picture import draw_curve, read_sweep

WITHOUT_RESULT = 3
EXIT_CODES = {"decided": 0, "unsettled": 1, "harmful": 2}


def _run(options: argparse.Namespace) -> int:
    """Measure and report the curve."""
    with running_backend(options) as backend:
        return _SweepingClient(backend, options).run()


class _SweepingClient:
    """Sweeps through a backend, and reports.

    Args:
        backend: client of the backend.
        options: options of the command line.
    """

    def __init__(self, backend: BackendClient, options: argparse.Namespace) -> None:
        self._options, self._rounds = options, -1
        reading = TrialReading(self._ended, read_sweep, lambda found: found is not None)
        name = options.name or "size curve"
        self._trial = LiveTrial(backend, options.pid, name, "sweep", reading)

    def run(self) -> int:
        """Run the sweep and return the exit code."""
        return self._report(self._trial.carry_out(_sweep_request(self._options), release=False))

    def _ended(self, now: Target) -> bool | None:
        """Print each round."""
        steering = now.steering
        if steering is None or steering.sweep is None:
            return now.state == "attached"
        sweep = steering.sweep
        if sweep.rounds != self._rounds:
            self._rounds = sweep.rounds
            if not self._options.json:
                self._say(f"{steering.knob} by {steering.signal}: {sweep.text}")
        return None if sweep.verdict == "open" else True

    def _report(self, done: FinishedTrial[SweepState | None]) -> int:
        """Print the curve and its knee, write the picture, print the run's name."""
        options, state, process = self._options, done.result, done.target.process
        if options.svg is not None:
            title = f"Size curve of {process.name} (pid {process.pid})"
            try:
                Path(options.svg).write_text(draw_curve(state, title), encoding="utf-8")
            except OSError as error:
                raise CommandError(f"cannot write {options.svg}: {error.strerror}") from None
        if state is None:
            why = done.ending or "the sweep was ended before there was one"
            self._say(f"no result: {why}; run {done.run.id}")
            return WITHOUT_RESULT
        if options.json:
            print_lines(state.model_dump_json(), flush=True)
        else:
            print_lines(*curve_lines(state), flush=True)
        self._say(f"released {process.name}: its original size is restored")
        self._say(f"run {done.run.id}" + (f", picture {options.svg}" if options.svg else ""))
        return EXIT_CODES.get(state.verdict, WITHOUT_RESULT)

    def _say(self, text: str) -> None:
        print_lines(f"tidscope sweep: {text}", file=sys.stderr, flush=True)


def curve_lines(state: SweepState) -> Iterator[str]:
    """Format a size curve as a table, its knee as text, and the line to paste."""
    if state.points:
        yield f"{'size':>6}  {'ops/s':>12}  {'95 % interval':>24}  rounds"
    for point in state.points:
        mark = "  knee" if point.size == state.knee else ""
        before = "  before" if point.size == state.start else ""
        yield (
            f"{point.size:6}  {point.ops_per_s:12,.1f}  {_interval(point):>24}  "
            f"{point.rounds:6}{mark}{before}"
        )
    yield state.text
    if state.line is not None and state.verdict == "decided":
        yield state.line


def _interval(point: SweepPoint) -> str:
    if point.low is None or point.high is None:
        return "-"
    return f"{point.low:,.1f} to {point.high:,.1f}"


def _sweep_request(options: argparse.Namespace) -> dict[str, object]:
    """Return the body of the request."""
    plan = {
        "block_s": options.block,
        "most_s": options.max_seconds,
        "loss_percent": options.loss,
        "sizes": options.sizes,
        "seed": options.seed,
    }
    return {**steering_request(options), "sweep": plan}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pid", type=process_id, required=True, help="process of the program")
    add_setup_options(parser)
    parser.add_argument(
        "--max-seconds",
        type=duration,
        metavar="SECONDS",
        help="end after this time (default: 300)",
    )
    parser.add_argument(
        "--loss",
        type=float,
        metavar="PERCENT",
        help="stop when this share of the work of that time is lost (default: 20)",
    )
    parser.add_argument(
        "--block",
        type=duration,
        metavar="SECONDS",
        help="measured length of a size in a round (default: 2)",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        metavar="N",
        help="how many sizes to measure, evenly spaced by their logarithm (default: 8)",
    )
    parser.add_argument("--seed", type=int, help="of the order of sizes (default: 1)")
    parser.add_argument("--name", help="name of the run (default: size curve)")
    parser.add_argument("--svg", metavar="FILE", help="write the curve as a picture")
    add_backend_options(parser)
    parser.add_argument("--json", action="store_true", help="print the result as a line of JSON")
    parser.set_defaults(policy="sweep", set=[], shadow=False)


COMMAND = Command(
    name="sweep",
    help="measure a live program's operations a second against the size of its pool",
    description="Measure operations a second of a live program against the size of its thread "
    "pool, through a running tidscope: rounds of sizes in random order, until the knee of the "
    "curve is sure, or the time has passed, or too much work is lost. The program has its own "
    "size again afterwards. Exits with 0 if the knee is decided, 1 if not, 2 if it was stopped "
    "because of the loss, 3 without a result.",
    add_arguments=_add_arguments,
    run=_run,
)
