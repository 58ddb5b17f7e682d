"""Carrying an experiment out: `tidscope experiment` and `tidscope ab` do it the same way."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tidscope_wire.generated.models import Experiment
from tidscope_wire.loading import loading

from tidscope_backend.cli.backend_client import BackendClient, known_token
from tidscope_backend.cli.backend_user import act_as, choose_backend_user
from tidscope_backend.cli.command import CommandError, ProgressLine, print_lines
from tidscope_backend.cli.experiment_client import own_tidscope
from tidscope_backend.cli.interrupts import interruptible
from tidscope_backend.cli.server_options import user_runs_directory
from tidscope_backend.experiments.definition import Definition
from tidscope_backend.experiments.journal import Entry, Failed, Recorded, Repeated, began
from tidscope_backend.experiments.matrix import THROUGHPUT
from tidscope_backend.experiments.runner import Opened, Runner, open_last, open_new

PERIOD_S = 0.2
"""Minimum time between updates of the progress line, in seconds."""


@dataclass(frozen=True)
class CarriedOut:
    """A finished experiment.

    Attributes:
        found: figures, verdicts and charts.
        folder: folder of journal and report.
        runs: the runs directory.
        report: files of the report.
    """

    found: Experiment
    folder: Path
    runs: Path
    report: Sequence[Path]


def carry_out(definition: Definition, options: argparse.Namespace) -> CarriedOut:
    """Carry an experiment out, or resume it, and write its report.

    Args:
        definition: the experiment.
        options: `verb`, `json`, `resume`, and host and port as of `add_backend_options`.

    Raises:
        ExperimentError: the experiment cannot be carried out.
        CommandError: tidscope cannot be started, or the report not written.
        KeyboardInterrupt: the user ended it; the journal is whole.
    """
    with loading():
        from tidscope_backend.experiments.analysis import analyse
        from tidscope_backend.experiments.report import write_report

    runs = user_runs_directory(os.environ)
    progress = Progress(options.verb, shown=sys.stderr.isatty() and not options.json)
    with interruptible(), ExitStack() as ending:
        ending.callback(progress.clear)
        open_ = _variants if definition.variants is not None else _programs
        runner, folder = open_(definition, runs, options, progress, ending)
        entries = runner.run()
    found = analyse(entries, carried_out=False)
    try:
        files = write_report(folder, found, entries)
    except OSError as error:
        raise CommandError(f"the report cannot be written: {error}") from None
    return CarriedOut(found, folder, runs, files)


def _programs(
    definition: Definition,
    runs: Path,
    options: argparse.Namespace,
    progress: "Progress",
    ending: ExitStack,
) -> tuple[Runner, Path]:
    """Build programs and connect to a tidscope."""
    with loading():
        from tidscope_backend.cli.experiment_client import ExperimentClient
        from tidscope_backend.experiments.building import prepare
        from tidscope_backend.experiments.repeat import measure_programs

    commands = prepare(definition)
    backend = ending.enter_context(_tidscope(options))
    # Under sudo, runs and the journal belong to the calling user.
    act_as(choose_backend_user(None, os.environ, os.geteuid()))
    opened = _open(definition, runs, options)
    client = ExperimentClient(backend, runs, opened.id, definition.name)
    measure = measure_programs(definition, client, commands)
    return Runner(definition, opened, measure, progress.report), opened.folder


def _variants(
    definition: Definition,
    runs: Path,
    options: argparse.Namespace,
    progress: "Progress",
    ending: ExitStack,
) -> tuple[Runner, Path]:
    """Check revisions out and run each variant once."""
    from tidscope_backend.cli.variant_runs import VariantRuns, prepared_variants

    if definition.variants is None:
        raise TypeError("an experiment without variants")
    user = choose_backend_user(None, os.environ, os.geteuid())
    act_as(user)
    say = progress.say
    prepared = ending.enter_context(prepared_variants(definition.variants, user, say))
    opened = _open(definition, runs, options)
    variants = VariantRuns(
        definition, definition.variants, prepared, opened.id, runs, user, options
    )
    runner = Runner(definition, opened, variants.measure, progress.report, variants.record)
    return runner, opened.folder


def _open(definition: Definition, runs: Path, options: argparse.Namespace) -> Opened:
    opened = open_last(definition, runs) if options.resume else open_new(definition, runs)
    _say(options.verb, f"experiment {opened.id}, in {opened.folder}")
    if options.resume:
        _say(options.verb, f"{opened.done} repeats are done already")
    return opened


@contextmanager
def _tidscope(options: argparse.Namespace) -> Iterator[BackendClient]:
    """Connect to a running tidscope with a known token, or start one."""
    token = known_token(options)
    if token:
        with BackendClient(f"{options.host}:{options.port}", token) as backend:
            backend.request("/health")
            yield backend
        return
    with own_tidscope() as own:
        _say(options.verb, f"started a tidscope of its own; its page: {own.url}")
        yield own.backend


class Progress:
    """Progress line; without a terminal, one line per repeat of a matrix.

    Args:
        verb: verb that messages begin with.
        shown: whether there is a line that is rewritten.
    """

    def __init__(self, verb: str, *, shown: bool) -> None:
        self._verb = verb
        self._line, self._shown = ProgressLine(shown=shown), shown
        self._next_s = 0.0

    def report(self, entries: Sequence[Entry]) -> None:
        """Report a new entry."""
        from tidscope_backend.experiments.analysis import summarise
        from tidscope_backend.experiments.verdicts import verdicts_of

        last = entries[-1]
        if isinstance(last, Failed):
            self.say(f"{last.cell}: a repeat failed: {last.reason}")
        elif isinstance(last, Recorded) and last.problem:
            self.say(f"{last.cell}: not recorded: {last.problem}")
        elif isinstance(last, Repeated) and not self._shown and not began(entries).difference:
            now = summarise(entries, carried_out=True)
            self.say(
                f"{last.cell}: {last.figures[THROUGHPUT]:,.6g} a second; {now.least_left} to "
                f"{now.most_left} left"
            )
        if not self._shown or time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + PERIOD_S
        now = summarise(entries, carried_out=True)
        verdicts = [one.text for one in verdicts_of(entries)]
        left = "" if now.left_s is None else f", {duration_text(now.left_s)} left at least"
        shown = verdicts[0] if verdicts else f"{now.cells_done} of {now.cells} cells"
        self._line.show(f"{now.repeats} repeats{left}: {shown}: {now.cell or ''}")

    def say(self, text: str) -> None:
        """Print a message above the line."""
        self._line.clear()
        _say(self._verb, text)

    def clear(self) -> None:
        """Erase the line."""
        self._line.clear()


def duration_text(seconds: float) -> str:
    """Format a duration, such as `3 min` or `40 s`."""
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


def _say(verb: str, text: str) -> None:
    first, *others = text.split("\n")
    lines = [f"tidscope {verb}: {first}", *(f"  {line}" for line in others)]
    print_lines(*lines, file=sys.stderr, flush=True)
