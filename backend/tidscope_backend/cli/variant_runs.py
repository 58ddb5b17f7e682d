"""Runs of variants: measured ones without a recorder, and recorded ones.

A short command is run several times in a row for one value, so that the value does not depend on
the few microseconds in which a process starts and ends.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tidscope_wire.generated.models import PrometheusCounter, RunPatch

from tidscope_backend.cli.backend_client import RefusedError, UnavailableError, UntrustedError
from tidscope_backend.cli.backend_user import BackendUser, act_as, act_as_ourselves
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.counter_rate import CounterRate
from tidscope_backend.cli.held_child import Surroundings
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.cli.recording_client import RecordingOptions, tree_request
from tidscope_backend.cli.relay import CommandExit
from tidscope_backend.cli.run_recorders import open_recorder
from tidscope_backend.cli.timed_command import check_exit, held_command, run_held
from tidscope_backend.cli.worktrees import Worktrees
from tidscope_backend.experiments.building import build_environment
from tidscope_backend.experiments.conditions import Conditions, figures_between, warnings_of
from tidscope_backend.experiments.definition import Definition
from tidscope_backend.experiments.matrix import THROUGHPUT, Cell
from tidscope_backend.experiments.printed import is_printed, printed_value
from tidscope_backend.experiments.repeat import RepeatResult
from tidscope_backend.experiments.run_figures import figure_of_run
from tidscope_backend.experiments.variants import VARIANT, Variant, VariantsDefinition
from tidscope_backend.experiments.workload import ExperimentError, RepeatError

BLOCK_S = 0.05
"""Minimum time of the runs that make one value, in seconds."""
MAX_IN_BLOCK = 10
"""Values follow each other closely, so that what disturbs one disturbs its pair, too."""
CONDITIONS_S = 1.0
"""Minimum time in which the kernel's clock ticks say what else the machine did, in seconds."""
RECORDED_HZ = 10.0
SHORT_HZ, SHORT_S = 100.0, 1.0
"""Sampling rate of recordings of commands that run for less than a second."""


@dataclass(frozen=True)
class PreparedVariant:
    """A variant that can be run.

    Attributes:
        variant: the variant.
        surroundings: environment and folder of its runs.
        typical_s: duration of a run, in seconds, from the warm-up.
    """

    variant: Variant
    surroundings: Surroundings
    typical_s: float

    def run(self, timeout_s: float) -> CommandExit:
        """Run the command once. Raises RepeatError if it fails."""
        with _named(self.variant), held_command(self.variant.command, self.surroundings) as child:
            ended = run_held(child, timeout_s)
            check_exit(ended)
            return ended

    def run_counted(self, timeout_s: float, where: PrometheusCounter) -> tuple[CommandExit, float]:
        """Run the command once; return a counter's growth a second, too. Raises RepeatError."""
        with _named(self.variant):
            with CounterRate(where) as rate:
                ended = self.run(timeout_s)
            return ended, rate.per_second()


@contextmanager
def prepared_variants(
    definition: VariantsDefinition, user: BackendUser | None, say: Callable[[str], None]
) -> Iterator[list[PreparedVariant]]:
    """Check revisions out, prepare all variants, and run each once, which does not count.

    Args:
        definition: variants.
        user: owner of repositories and files; None for ours.
        say: reports what is being done.

    Raises:
        ExperimentError: a revision, preparation or command failed.
    """
    with Worktrees(user) as trees:
        prepared = []
        for one in definition.variants:
            directory = one.directory
            if not directory.is_dir():
                raise ExperimentError(
                    f"{one.name}: there is no folder {directory}; make it, or name another"
                )
            if one.revision is not None:
                say(f"{one.name}: checking {one.revision} out")
                directory = trees.check_out(directory, one.revision)
            environment = {**build_environment(), **one.environment}
            surroundings = Surroundings(environment, directory, apart=True)
            try:
                if one.prepare:
                    say(f"{one.name}: preparing")
                    _prepare(one, surroundings, definition.timeout_s)
                warm = PreparedVariant(one, surroundings, 0.0).run(definition.timeout_s)
            except RepeatError as error:
                raise ExperimentError(str(error)) from None
            prepared.append(PreparedVariant(one, surroundings, warm.elapsed_s))
        yield prepared


def _prepare(variant: Variant, surroundings: Surroundings, timeout_s: float) -> None:
    with _named(variant, "prepare: "), held_command(variant.prepare, surroundings) as child:
        check_exit(run_held(child, timeout_s))


@contextmanager
def _named(variant: Variant, what: str = "") -> Iterator[None]:
    """Begin messages of failed runs with the variant's name."""
    try:
        yield
    except (RepeatError, CommandError, OSError) as error:
        raise RepeatError(f"{variant.name}: {what}{error}") from None


class VariantRuns:
    """Measured and recorded runs of the variants of an experiment.

    Args:
        definition: the experiment.
        variants: its definition's variants.
        prepared: the same, ready to run.
        experiment: ID of the experiment.
        runs: the runs directory.
        user: owner of the runs; None for ours.
        options: options with host and port, as added by `add_backend_options`.
    """

    def __init__(
        self,
        definition: Definition,
        variants: VariantsDefinition,
        prepared: Sequence[PreparedVariant],
        experiment: str,
        runs: Path,
        user: BackendUser | None,
        options: argparse.Namespace,
    ) -> None:
        self._name, self._experiment = definition.name, experiment
        self._variants, self._runs, self._user = variants, runs, user
        self._options = options
        self._prepared = {one.variant.name: one for one in prepared}
        slowest_s = max(one.typical_s for one in prepared)
        # All variants have the same number of runs in a block: cold caches weigh the same.
        self._in_block = min(MAX_IN_BLOCK, max(1, math.ceil(BLOCK_S / max(slowest_s, 1e-4))))
        quantile = variants.figure.quantile
        if quantile is not None:
            self._in_block = max(self._in_block, runs_for(quantile))

    def measure(self, cell: Cell, group: str, begins: Callable[[list[str]], None]) -> RepeatResult:
        """Run a variant for one value of each figure. Raises RepeatError."""
        if self._variants.figure.is_recorded:
            return self._measure_recorded(cell, group)
        one, before = self._of(cell), Conditions.now()
        counter = self._variants.figure.counter
        if counter is None:
            ended = [one.run(self._variants.timeout_s) for _ in range(self._in_block)]
            figures = _figures(ended) | self._own(one.variant, ended)
        else:
            counted, rate = one.run_counted(self._variants.timeout_s, counter)
            ended = [counted]
            figures = {**_figures(ended), self._variants.figure.name: rate}
        found = self._conditions(before, sum(each.elapsed_s for each in ended))
        return RepeatResult([], {**figures, **found}, warnings_of(found))

    def record(self, cell: Cell, group: str) -> list[str]:
        """Record a run of a variant, and return its ID. Raises RepeatError."""
        return [self._recorded(self._of(cell), cell, group)[0]]

    def _of(self, cell: Cell) -> PreparedVariant:
        return self._prepared[str(cell.values[VARIANT])]

    def _measure_recorded(self, cell: Cell, group: str) -> RepeatResult:
        one, before, figure = self._of(cell), Conditions.now(), self._variants.figure
        run, ended = self._recorded(one, cell, group)
        found = self._conditions(before, ended.elapsed_s)
        try:
            value = figure_of_run(self._runs / run, figure.name)
        except (OSError, ValueError) as error:
            raise RepeatError(f"{one.variant.name}: {run} cannot be read: {error}") from None
        if value is None:
            raise RepeatError(f"{one.variant.name}: {run} has no {figure.name}")
        figures = {**_figures([ended]), figure.name: value, **found}
        return RepeatResult([run], figures, warnings_of(found))

    def _own(self, variant: Variant, ended: Sequence[CommandExit]) -> dict[str, float]:
        """Return the compared figure: a quantile of wall times, or the mean of printed numbers."""
        figure = self._variants.figure
        if figure.quantile is not None:
            return {figure.name: quantile_of([one.elapsed_s for one in ended], figure.quantile)}
        if not is_printed(figure):
            return {}
        texts = ["" if one.tail is None else one.tail.text() for one in ended]
        try:
            values = [printed_value(figure, text) for text in texts]
        except ValueError as error:
            raise RepeatError(f"{variant.name}: {error}") from None
        return {figure.name: math.fsum(values) / len(values)}

    def _conditions(self, before: Conditions, elapsed_s: float) -> dict[str, float]:
        return {} if elapsed_s < CONDITIONS_S else figures_between(before, Conditions.now())

    def _recorded(self, one: PreparedVariant, cell: Cell, group: str) -> tuple[str, CommandExit]:
        """Record a run from its first instruction to its exit."""
        variant = one.variant
        keeping = Keeping(arguments=True, output=False)
        what = RecordingOptions(
            name=f"{self._name}: {cell.key}"[:120],
            tags=["experiment", self._name, self._experiment],
            group=group,
            notes=None,
            rate_hz=SHORT_HZ if one.typical_s < SHORT_S else RECORDED_HZ,
            past_s=None,
            duration_s=None,
            keeping=keeping,
        )
        # The collector acts with our rights; only files of the run belong to the user.
        act_as_ourselves()
        try:
            with (
                _named(variant),
                held_command(variant.command, one.surroundings) as child,
                open_recorder(self._runs, what, self._options, self._options.verb) as recorder,
            ):
                manifest = recorder.start(recorder.attach(tree_request(child.pid)))
                ended = run_held(child, self._variants.timeout_s)
                manifest = recorder.wait_for_end(manifest)
                outcome = ended.outcome(keeping.argument_list(variant.command), None)
                # The run includes the children's CPU time.
                outcome = outcome.model_copy(update={"children_cpu_us": None})
                recorder.patch(manifest, RunPatch(outcome=outcome))
                recorder.seal()
                check_exit(ended)
                return manifest.id, ended
        except (RefusedError, UnavailableError, UntrustedError, OSError) as error:
            raise RepeatError(f"{variant.name} cannot be recorded: {error}") from None
        finally:
            act_as(self._user)


def runs_for(quantile: float) -> int:
    """Return the number of runs of which one is beyond a quantile, but at least MAX_IN_BLOCK."""
    return max(MAX_IN_BLOCK, round(1 / (1 - quantile)))


def quantile_of(values: Sequence[float], quantile: float) -> float:
    """Return a quantile of values, interpolated between neighbours."""
    return float(np.quantile(values, quantile))


def _figures(ended: Sequence[CommandExit]) -> dict[str, float]:
    """Return the mean of each figure over runs; the peak of memory is the largest."""
    n = len(ended)
    wall_s = math.fsum(one.elapsed_s for one in ended) / n
    user_s = math.fsum(one.usage.ru_utime for one in ended) / n
    system_s = math.fsum(one.usage.ru_stime for one in ended) / n
    return {
        THROUGHPUT: 1 / wall_s,
        "wall_s": wall_s,
        "cpu_s": user_s + system_s,
        "user_cpu_s": user_s,
        "system_cpu_s": system_s,
        "peak_rss_bytes": math.fsum(one.usage.ru_maxrss * 1024.0 for one in ended) / n,
    }
