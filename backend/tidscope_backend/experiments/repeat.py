"""One repeat: start programs, warm up, record, steer, measure and end them."""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from tidscope_wire.generated.models import Steering

from tidscope_backend.experiments.building import Command, Commands, build_environment
from tidscope_backend.experiments.conditions import (
    Conditions,
    figures_between,
    wait_until_quiet,
    warnings_of,
)
from tidscope_backend.experiments.definition import Definition, ProgramChoice
from tidscope_backend.experiments.matrix import (
    BY_NAME,
    CHOSEN,
    DECISIONS,
    NET_READ,
    SETTLING,
    THROUGHPUT,
    Cell,
    joined,
)
from tidscope_backend.experiments.over_time import Seconds
from tidscope_backend.experiments.program import (
    RING_COUNTS,
    Load,
    RunningProgram,
    cpus_of,
    wrk_command,
)
from tidscope_backend.experiments.settling import DEFAULT, Settling, acting
from tidscope_backend.experiments.workload import ProgramSpec, RepeatError, Value

NET_EXPECTED = "net_expected"
"""Figure: bytes that a program should have read from sockets, according to another program."""
FEW_CHOSEN = 0.9
"""Share of the measured time after the policy's first choice, below which a warning is added."""
SLOWER = 1.5
"""Intervals of a policy may be so much longer than asked for, before a load is restarted."""
CHECK_SECONDS = 0.2
"""Interval between checks that the programs are running, in seconds."""


class Watching(Protocol):
    """Operations of tidscope that a repeat uses. All methods raise RepeatError."""

    def attach(self, pid: int, *, tree: bool) -> str:
        """Attach to a process, optionally with all descendants. Return the target ID."""

    def record(self, target: str, group: str, cell: Cell) -> str:
        """Start to record a target. Return the run ID."""

    def steer(self, target: str, body: Mapping[str, object]) -> None:
        """Start a policy on a target."""

    def steering(self, target: str) -> Steering | None:
        """Return the current steering of a target, or None."""

    def stop(self, run: str) -> None:
        """End a recording."""

    def detach(self, target: str) -> None:
        """Release and remove a target, running or ended."""

    def figures(self, run: str) -> Mapping[str, float]:
        """Return the figures of a run."""

    def seconds(self, run: str) -> Seconds:
        """Return size and throughput of the pool by second of a run; empty if unknown."""


@dataclass(frozen=True)
class RepeatResult:
    """Result of a repeat: run IDs, figures by name, warnings, and figures by second."""

    runs: Sequence[str]
    figures: Mapping[str, float]
    warnings: Sequence[str]
    seconds: Seconds = field(default_factory=dict)


class Measure(Protocol):
    """Does a repeat of a cell."""

    def __call__(
        self, cell: Cell, group: str, begins: Callable[[list[str]], None], /
    ) -> RepeatResult:
        """Do the repeat. Raises RepeatError.

        Args:
            cell: cell of the matrix.
            group: group name of the runs.
            begins: called with the targets when they are attached.
        """


def measure_programs(definition: Definition, watching: Watching, commands: Commands) -> Measure:
    """Return what does the repeats of an experiment with programs; arguments as of Repeat."""

    def measure(cell: Cell, group: str, begins: Callable[[list[str]], None]) -> RepeatResult:
        return Repeat(definition, cell, group, watching, commands, begins).measure()

    return measure


class Repeat:
    """One repeat of a cell.

    Args:
        definition: definition of the experiment.
        cell: cell of the matrix.
        group: group name of the runs.
        watching: tidscope client.
        commands: commands of the built programs and loads.
        begins: called with the targets when they are attached.
    """

    def __init__(
        self,
        definition: Definition,
        cell: Cell,
        group: str,
        watching: Watching,
        commands: Commands,
        begins: Callable[[list[str]], None],
    ) -> None:
        self._definition, self._cell, self._group = definition, cell, group
        self._watching, self._commands, self._begins = watching, commands, begins

    def measure(self) -> RepeatResult:
        """Do the repeat and always stop its programs and loads. Raises RepeatError."""
        wait_until_quiet(self._definition.time.settle_s)
        before = Conditions.now()
        with ExitStack() as ending:
            runs, figures, measured = self._measure(ending)
        found = figures_between(before, Conditions.now())
        shown = joined([self._watching.figures(run) for run in runs])
        throughput, expected = figures[THROUGHPUT], figures.pop(NET_EXPECTED, None)
        counted = shown.pop(NET_READ, None)
        if expected and counted is not None:
            figures["net_counted_share"] = counted / expected
        if shown.get("mean_cores"):
            figures["ops_per_cpu_s"] = throughput / shown["mean_cores"]
        if shown.get("power_w"):
            figures["ops_per_j"] = throughput / shown["power_w"]
        warnings = [*warnings_of(found), *measured]
        seconds = self._watching.seconds(runs[0]) if len(runs) == 1 else {}
        return RepeatResult(runs, {**figures, **shown, **found}, warnings, seconds)

    def _measure(self, ending: ExitStack) -> tuple[list[str], dict[str, float], list[str]]:
        definition, watching = self._definition, self._watching
        program_cpus, load_cpus = cpus_of(self._cell.placement)
        programs: list[RunningProgram] = []
        loads: list[Load] = []
        for choice in definition.programs:
            values = values_of(choice, self._cell)
            program = self._start(choice, values, program_cpus)
            ending.callback(program.stop)
            programs.append(program)
        for choice, program in zip(definition.programs, programs, strict=True):
            program.wait_until_ready()
            if choice.workload.spec.load is not None:
                values = values_of(choice, self._cell)
                loads.append(self._load(choice, values, program.address, load_cpus))
                ending.callback(loads[-1].stop)
        targets: list[str] = []
        for choice, program in zip(definition.programs, programs, strict=True):
            tree = choice.workload.spec.watch == "tree"
            targets.append(watching.attach(program.pid, tree=tree))
            ending.callback(watching.detach, targets[-1])
        self._begins(targets)
        names = {
            target: choice.workload.name
            for target, choice in zip(targets, definition.programs, strict=True)
        }
        unsettled = self._warm_up(programs, loads, names)
        runs: list[str] = []
        for target in targets:
            runs.append(watching.record(target, self._group, self._cell))
            ending.callback(watching.stop, runs[-1])
        if definition.steering.start == "measurement":
            self._steer(targets)
        before = self._decisions(targets)
        began_us = time.time_ns() // 1000
        for program in programs:
            program.begin()
        reports = _run(programs, loads, definition.time.measure_s)
        counted = [program.end() for program in programs]
        ended_us = time.time_ns() // 1000
        steered = [watching.steering(target) for target in targets]
        figures = self._figures(counted, reports)
        if self._cell.policy != DEFAULT:
            chosen_us = [
                chosen_at(name, self._cell.policy, now, decided, ended_us)
                for name, now, decided in zip(names.values(), steered, before, strict=True)
            ]
            since_us = max(began_us, *chosen_us)
            figures[CHOSEN] = (ended_us - since_us) / (ended_us - began_us)
            figures[SETTLING] = float(min(before))
            figures[DECISIONS] = float(
                min(now.decisions - one for now, one in zip(steered, before, strict=True) if now)
            )
        if len(steered) == 1 and steered[0] is not None:
            figures["size_at_end"] = float(steered[0].size)
        return runs, figures, [*unsettled, *_measured_warnings(figures)]

    def _warm_up(
        self, programs: Sequence[RunningProgram], loads: Sequence[Load], names: Mapping[str, str]
    ) -> list[str]:
        """Run programs under load until their policies have settled; return warnings.

        Args:
            programs: running programs.
            loads: their loads.
            names: names of the programs, by target.
        """
        definition, policy = self._definition, self._cell.policy
        rule = definition.settling.get(policy)
        least_s = definition.warm_up_s
        if rule is None:
            if least_s > 0:
                _run(programs, loads, least_s)
            return []
        self._steer(list(names))
        settling = Settling(policy, names, self._watching.steering, rule)
        # A load that is restarted looks like a dip to the policy: it lasts for the whole search.
        most_s = max(least_s, SLOWER * rule.decisions * rule.interval_s)
        least = time.monotonic() + least_s
        while True:
            for load in loads:
                load.start(most_s)
            end = time.monotonic() + most_s
            while time.monotonic() < end:
                for program in programs:
                    program.check()
                if settling.is_done() and time.monotonic() >= least:
                    for load in loads:
                        load.stop()
                    return list(settling.warnings)
                time.sleep(CHECK_SECONDS)
            for load in loads:
                load.wait()

    def _decisions(self, targets: Sequence[str]) -> list[int]:
        """Return the number of decisions about each target; 0 without a policy."""
        if self._cell.policy == DEFAULT:
            return [0 for _ in targets]
        found = [self._watching.steering(target) for target in targets]
        return [0 if one is None else one.decisions for one in found]

    def _start(
        self, choice: ProgramChoice, values: Mapping[str, Value], cpus: frozenset[int] | None
    ) -> RunningProgram:
        command = self._commands.program(choice, values)
        own = len(os.sched_getaffinity(0) if cpus is None else cpus)
        size = own if self._cell.size is None else self._cell.size
        upper = self._definition.steering.upper or max(size, own)
        time_spec = self._definition.time
        known = {
            **{**values, "size": size, "upper": upper},
            **{"warm_up_s": self._definition.warm_up_s, "measure_s": time_spec.measure_s},
        }
        spec = choice.workload.program(values)
        name, patience_s = choice.workload.name, choice.workload.spec.patience_s
        return RunningProgram(name, *_filled(name, spec, command, known), cpus, patience_s)

    def _load(
        self,
        choice: ProgramChoice,
        values: Mapping[str, Value],
        address: str,
        cpus: frozenset[int] | None,
    ) -> Load:
        name, load = choice.workload.name, choice.workload.spec.load
        spec = None if load is None else load.program
        if spec is None:
            return Load(
                "wrk",
                lambda seconds: wrk_command(choice.workload, values, address, seconds),
                build_environment(),
                cpus,
            )
        command = self._commands.load(choice)

        def arguments(seconds: int) -> list[str]:
            known = {**values, "address": address, "seconds": seconds}
            return _filled(name, spec, command, known)[0]

        return Load(f"the load of {name}", arguments, build_environment(), cpus)

    def _steer(self, targets: Sequence[str]) -> None:
        steering, policy = self._definition.steering, self._cell.policy
        if policy == DEFAULT:
            return
        body = {
            "policy": policy,
            "parameters": steering.parameters.get(policy, {}),
            "lower": steering.lower,
            "upper": steering.upper,
        }
        for target in targets:
            self._watching.steer(
                target, {name: value for name, value in body.items() if value is not None}
            )

    def _figures(
        self, counted: Sequence[Mapping[str, float]], reports: Sequence[Mapping[str, float]]
    ) -> dict[str, float]:
        """Return figures of programs and loads."""
        left = list(reports)
        rates, errors, found = [], list[float](), dict[str, float]()
        for choice, own in zip(self._definition.programs, counted, strict=True):
            if choice.workload.spec.load is None:
                seconds = own.get("elapsed_s", 0.0)
                rate = own["ops"] / seconds if seconds else 0.0
            else:
                report = left.pop(0)
                seconds = report["duration_us"] / 1e6
                rate = report["requests"] / seconds
                found |= _known(report)
                errors += [report["errors"]] if "errors" in report else []
            if rate <= 0:
                raise RepeatError(f"{choice.workload.name} did no operation while it was measured")
            found |= _known(own)
            found |= {name: own[name] / seconds for name in RING_COUNTS if name in own}
            rates.append(rate)
        if len(rates) == 1:
            return {THROUGHPUT: rates[0], **found}
        # Operations of two kinds have no sum. A geometric mean gains like the average of its parts.
        # Latencies of two kinds have no mean.
        mean = math.exp(math.fsum(map(math.log, rates)) / len(rates))
        own_rates = {f"{THROUGHPUT}_{at}": rate for at, rate in enumerate(rates, 1)}
        failed = {"errors": sum(errors)} if errors else {}
        return {THROUGHPUT: mean, **own_rates, **failed}


def _known(said: Mapping[str, float]) -> dict[str, float]:
    """Return the known figures among a program's or load's answers."""
    return {name: said[name] for name in (*BY_NAME, NET_EXPECTED) if name in said}


def _filled(
    name: str, spec: ProgramSpec, command: Command, known: Mapping[str, Value]
) -> tuple[list[str], dict[str, str]]:
    """Return arguments and environment of a program, with start values filled in."""
    try:
        arguments = [text.format(**known) for text in spec.arguments]
        variables = {name: text.format(**known) for name, text in spec.environment.items()}
    except (KeyError, IndexError, ValueError) as error:
        raise RepeatError(f"{name}: its description names {error}") from None
    return (
        [*command.arguments, *arguments],
        {**build_environment(), **command.environment, **variables},
    )


def values_of(choice: ProgramChoice, cell: Cell) -> dict[str, Value]:
    """Return values of a program's parameters in a cell."""
    known = choice.workload.spec.parameters
    return {**choice.values, **{k: value for k, value in cell.values.items() if k in known}}


def chosen_at(
    program: str, policy: str, found: Steering | None, decided: int, ended_us: int
) -> int:
    """Return when a policy first chose the size of a program, in Unix microseconds.

    Args:
        program: name of the program.
        policy: policy of the repeat.
        found: steering state at the end of the measurement.
        decided: number of decisions when the measurement began.
        ended_us: end of the measurement, in Unix microseconds.

    Raises:
        RepeatError: the policy made no choice, made no decision in the measurement, or has
            stopped, so the repeat is invalid.
    """
    now = acting(program, policy, found)
    last = f"its last state: {now.state}. {now.reason}"
    if now.chosen_unix_us is None or now.chosen_unix_us >= ended_us:
        raise RepeatError(
            f"{policy} chose no size of {program} before the measurement ended; {last}"
        )
    if now.decisions <= decided:
        raise RepeatError(
            f"{policy} made no decision about {program} while it was measured; {last}"
        )
    return now.chosen_unix_us


def _run(
    programs: Sequence[RunningProgram], loads: Sequence[Load], seconds: float
) -> list[dict[str, float]]:
    """Run programs under load for a time, and return the loads' figures."""
    for load in loads:
        load.start(seconds)
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        for program in programs:
            program.check()
        time.sleep(min(CHECK_SECONDS, left))
    reports = [load.wait() for load in loads]
    for program in programs:
        program.check()
    return reports


def _measured_warnings(figures: Mapping[str, float]) -> Iterator[str]:
    if errors := figures.get("errors", 0):
        yield f"{errors:.0f} requests failed."
    if (share := figures.get(CHOSEN, 1.0)) < FEW_CHOSEN:
        yield (
            f"Chosen by the policy was the size for {share:.0%} of the measured time; before, the "
            "default is compared with itself."
        )
