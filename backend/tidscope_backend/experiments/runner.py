"""Carries out an experiment repeat by repeat; its journal allows resuming."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidscope_backend.experiments.conditions import setup_of_machine
from tidscope_backend.experiments.definition import Definition
from tidscope_backend.experiments.journal import (
    Began,
    Begins,
    Ended,
    Entry,
    Failed,
    Journal,
    Recorded,
    Repeated,
    began,
    create_folder,
    cut_torn_line,
    experiment_folders,
    read_journal,
)
from tidscope_backend.experiments.matrix import Cell, cells_of, group_name
from tidscope_backend.experiments.plan import plan_of
from tidscope_backend.experiments.repeat import Measure, RepeatResult
from tidscope_backend.experiments.workload import ExperimentError, RepeatError

COMMANDS, RUNS = "commands", "runs"
"""Shown for experiments with variants: what runs, and the unit of throughput."""


@dataclass(frozen=True)
class Opened:
    """An open experiment, new or resumed.

    Attributes:
        id: ID of the experiment.
        folder: folder of the journal.
        done: repeats already done.
    """

    id: str
    folder: Path
    done: int


def open_new(definition: Definition, runs: Path) -> Opened:
    """Begin an experiment.

    Args:
        definition: checked experiment.
        runs: the runs directory.

    Raises:
        ExperimentError: the experiment's folder cannot be written.
    """
    try:
        runs.mkdir(parents=True, mode=0o700, exist_ok=True)
        name, folder = create_folder(runs, definition.text)
        journal = Journal(folder)
        try:
            journal.write(_beginning(name, definition))
        finally:
            journal.close()
    except OSError as error:
        raise ExperimentError(f"{runs}: cannot be written: {error.strerror}") from None
    return Opened(name, folder, 0)


def open_last(definition: Definition, runs: Path) -> Opened:
    """Find the last unfinished experiment with the same file.

    Raises:
        ExperimentError: no experiment matches, or its journal cannot be written.
    """
    for folder in experiment_folders(runs):
        try:
            entries = read_journal(folder)
        except ExperimentError:
            continue
        first = began(entries)
        if first.digest != digest_of(definition):
            continue
        if isinstance(entries[-1], Ended) and not entries[-1].interrupted:
            continue
        try:
            cut_torn_line(folder)
        except OSError as error:
            raise ExperimentError(f"{folder}: cannot be written: {error.strerror}") from None
        done = sum(isinstance(one, Repeated) for one in entries)
        return Opened(first.id, folder, done)
    raise ExperimentError(
        f"no unfinished experiment {definition.name} of this very file; leave out --resume"
    )


class Runner:
    """Carries out the remaining repeats of an experiment.

    Args:
        definition: checked experiment.
        opened: the experiment.
        measure: does a repeat.
        report: called with all entries after each new one.
        record: records a run of a variant that counts for no difference; None if there are none.
    """

    def __init__(
        self,
        definition: Definition,
        opened: Opened,
        measure: Measure,
        report: Callable[[Sequence[Entry]], None],
        record: Callable[[Cell, str], Sequence[str]] | None = None,
    ) -> None:
        self._definition, self._opened = definition, opened
        self._measure, self._record, self._report = measure, record, report
        self._entries = read_journal(opened.folder)
        self._cells = {cell.key: cell for cell in cells_of(definition)}
        self._journal = Journal(opened.folder)

    def run(self) -> list[Entry]:
        """Run the experiment to its end and return all entries.

        Raises:
            KeyboardInterrupt: the user interrupted the experiment; the journal records the
                interruption.
            ExperimentError: the journal cannot be written.
        """
        interrupted = True
        try:
            while step := plan_of(self._entries).step:
                if step.recorded:
                    self._record_run(self._cells[step.cell])
                else:
                    self._repeat(self._cells[step.cell])
            interrupted = False
        except OSError as error:
            raise ExperimentError(f"the journal cannot be written: {error.strerror}") from None
        finally:
            try:
                self._add(Ended(_unix_us(), interrupted))
            finally:
                self._journal.close()
        return self._entries

    def _repeat(self, cell: Cell) -> None:
        started = time.monotonic()
        self._add(Begins(cell.key, _unix_us()))

        def begins(targets: list[str]) -> None:
            self._add(Begins(cell.key, _unix_us(), targets))

        try:
            found: RepeatResult | str = self._measure(cell, self._group(cell), begins)
        except RepeatError as error:
            found = str(error)
        elapsed_s = time.monotonic() - started
        if isinstance(found, str):
            self._add(Failed(cell.key, _unix_us(), elapsed_s, found))
        else:
            self._add(
                Repeated(
                    cell.key,
                    _unix_us(),
                    elapsed_s,
                    list(found.runs),
                    dict(found.figures),
                    list(found.warnings),
                    {name: list(values) for name, values in found.seconds.items()},
                )
            )

    def _record_run(self, cell: Cell) -> None:
        self._add(Begins(cell.key, _unix_us()))
        runs, problem = list[str](), "runs of variants cannot be recorded here"
        if self._record is not None:
            try:
                runs, problem = list(self._record(cell, self._group(cell))), ""
            except RepeatError as error:
                problem = str(error)
        self._add(Recorded(cell.key, _unix_us(), runs, problem))

    def _group(self, cell: Cell) -> str:
        return group_name(self._opened.id, self._definition.name, cell)

    def _add(self, entry: Entry) -> None:
        self._journal.write(entry)
        self._entries.append(entry)
        self._report(self._entries)


def digest_of(definition: Definition) -> str:
    """Return the digest of the file and of how much of it is carried out."""
    return hashlib.sha256(f"{definition.preset} {definition.text}".encode()).hexdigest()


def _beginning(name: str, definition: Definition) -> Began:
    specs = [one.workload.spec for one in definition.programs]
    units = list(dict.fromkeys(one.unit for one in specs))
    single = specs[0] if len(specs) == 1 else None
    return Began(
        id=name,
        name=definition.name,
        title=definition.title,
        quick=definition.preset == "quick",
        short=definition.preset == "short",
        digest=digest_of(definition),
        unix_us=_unix_us(),
        cells=[dict(cell.values) for cell in cells_of(definition)],
        least=definition.repeats.least,
        most=definition.repeats.most,
        deviation=definition.repeats.deviation,
        seed=definition.repeats.seed,
        repeat_s=definition.warm_up_s + definition.time.measure_s,
        workloads=[one.name for one in specs] or [COMMANDS],
        unit=units[0] if single is not None else "operations (geometric mean)" if specs else RUNS,
        waits=single is not None and single.waits,
        speed_up=single is not None and single.speed_up,
        setup=setup_of_machine(),
        difference=None if definition.variants is None else definition.variants.rules,
    )


def _unix_us() -> int:
    return time.time_ns() // 1000
