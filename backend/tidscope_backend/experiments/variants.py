"""Variants of an experiment: commands, environments, folders or git revisions that are compared.

The first variant is the baseline. Later ones take over its command, preparation and folder unless
they have their own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field, field_validator
from tidscope_wire.generated.models import PrometheusCounter

from tidscope_backend.comparison.metrics import COUNTERS, metrics_of
from tidscope_backend.experiments.difference import DifferenceRules, Direction
from tidscope_backend.experiments.workload import ExperimentError, StrictModel
from tidscope_backend.prometheus_counter import parse_counter
from tidscope_backend.run_results import Metric, metric

VARIANT = "variant"
"""Axis of a program's states, such as before and after a change."""
NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$"
MAX_RECORDED = 4
"""A comparison has at most eight runs."""


class VariantSpec(StrictModel):
    """A variant as written.

    `command`: words, without a shell. `environment`: variables added to the caller's. `directory`:
    where it runs, from the file's folder. `revision`: git revision that is checked out for it.
    `prepare`: command that runs once before, such as a build.
    """

    name: str = Field(pattern=NAME)
    command: list[str] | None = Field(default=None, min_length=1)
    environment: dict[str, str] = Field(default_factory=dict)
    directory: str | None = Field(default=None, min_length=1)
    revision: str | None = Field(default=None, min_length=1)
    prepare: list[str] | None = Field(default=None, min_length=1)

    @field_validator("revision")
    @classmethod
    def _is_no_option(cls, found: str | None) -> str | None:
        if found is not None and found.startswith("-"):
            raise ValueError("begins with -; write a branch, a tag or a commit")
        return found

    @field_validator("environment")
    @classmethod
    def _are_variables(cls, found: dict[str, str]) -> dict[str, str]:
        for name, value in found.items():
            if not name or "=" in name or "\0" in name + value:
                raise ValueError(f"{name!r} is no name of a variable, or its value has a NUL")
        return found


class DifferenceSpec(StrictModel):
    """How variants are compared, as written.

    `metric`: what is compared. `margin`: greatest difference of variants that are the same, in
    percent. `precision`: greatest half width of the interval, in percentage points. `most_s`: time
    for measuring. `timeout_s`: longest run of a command. `recorded`: runs of each variant that are
    recorded after the verdict.
    """

    metric: str = "wall"
    margin: float = Field(default=2.0, gt=0, le=100)
    precision: float | None = Field(default=None, gt=0, le=1000)
    most_s: float | None = Field(default=None, gt=0, le=86_400)
    timeout_s: float = Field(default=600.0, gt=0, le=86_400)
    recorded: int = Field(default=3, ge=0, le=MAX_RECORDED)
    seed: int = Field(default=1, ge=0)


@dataclass(frozen=True)
class ComparedFigure:
    """The figure by which variants are compared.

    Attributes:
        name: name of the figure in the journal.
        label: display name.
        unit: unit; empty for none.
        better: direction of an improvement.
        result: result that the command's output has; None if it comes from elsewhere.
        is_recorded: whether only a recorded run has it.
        counter: counter whose rate it is; None if it is no counter's.
        quantile: quantile of the runs of a block; None if it is their mean.
    """

    name: str
    label: str
    unit: str
    better: Direction
    result: Metric | None = None
    is_recorded: bool = False
    counter: PrometheusCounter | None = None
    quantile: float | None = None


WALL = ComparedFigure("wall_s", "Wall time", "s", "less")
GO_BENCH = ComparedFigure("go_bench_ns", "Go benchmarks (geometric mean)", "ns", "less")
MEASURED = {
    "wall": WALL,
    "wall-p50": ComparedFigure("wall_p50_s", "Wall time, median", "s", "less", quantile=0.5),
    "wall-p99": ComparedFigure("wall_p99_s", "Wall time, p99", "s", "less", quantile=0.99),
    "cpu": ComparedFigure("cpu_s", "CPU time", "s", "less"),
    "user": ComparedFigure("user_cpu_s", "User time", "s", "less"),
    "system": ComparedFigure("system_cpu_s", "System time", "s", "less"),
    "rss": ComparedFigure("peak_rss_bytes", "Peak resident memory", "bytes", "less"),
    "go-bench": GO_BENCH,
}
"""Metrics of any command: of the kernel (wait4(2)), and ns/op that Go's benchmarks print."""
LOCK, POOL, COUNTER = "lock:", "pool:", "prometheus:"
DIRECTIONS: Mapping[str, Direction] = {"less": "less", "more": "more"}
MORE_OF_POOL = ("finished", "size")
"""Figures of a pool of which more is better; of its times and failures, less is."""


def compared_figure(text: str) -> ComparedFigure:
    """Return what a metric names.

    Args:
        text: a name of MEASURED; NAME:less=/REGEX/ for a number in the command's output;
            `lock:NAME` for a lock's wait time; `prometheus:PORT:PATH#NAME` for the rate of a
            counter that the command serves; else a figure of a comparison, such as
            `cpu_delay_ns` or `pool:NAME:response_p99`. Of figures, `:less` or `:more` behind the
            name says which way is better.

    Raises:
        ValueError: the text names nothing, or its direction is missing.
    """
    if text in MEASURED:
        return MEASURED[text]
    if "=" in text and not text.startswith((LOCK, POOL, COUNTER)):
        return _printed(text)
    name, _, last = text.rpartition(":")
    given = DIRECTIONS.get(last)
    name = text if given is None else name
    if name in MEASURED:
        own = MEASURED[name]
        return replace(own, better=given or own.better)
    if (prefixed := _prefixed(name, given)) is not None:
        return prefixed
    found = next((one for one in metrics_of("totals") if one.name == name), None)
    if found is None:
        known = ", ".join([*MEASURED, *(one.name for one in metrics_of("totals"))])
        raise ValueError(
            f"{text!r} is no metric; use NAME:less=/REGEX/, lock:NAME, pool:NAME:FIGURE, "
            f"{COUNTER}PORT:PATH#NAME or one of {known}"
        )
    better = given or DIRECTIONS.get(found.better) or ("less" if name in COUNTERS else None)
    if better is None:
        raise ValueError(f"{name} has no direction; write {name}:less or {name}:more")
    return ComparedFigure(name, found.label, found.unit, better, is_recorded=True)


def _prefixed(name: str, given: Direction | None) -> ComparedFigure | None:
    """Return the figure of a counter, a lock or a pool; None if the name has another form."""
    if name.startswith(COUNTER):
        counter = parse_counter(name[len(COUNTER) :])
        label = f"{counter.metric} a second"
        return ComparedFigure(name, label, "1/s", given or "more", counter=counter)
    if re.fullmatch(f"{LOCK}.+", name):
        label = f"Wait for {name[len(LOCK) :]}"
        return ComparedFigure(name, label, "s", given or "less", is_recorded=True)
    if re.fullmatch(f"{POOL}.+:[a-z0-9_]+", name):
        more = name.rpartition(":")[2] in MORE_OF_POOL
        return ComparedFigure(
            name, name, "", given or ("more" if more else "less"), is_recorded=True
        )
    return None


def _printed(text: str) -> ComparedFigure:
    result = metric(text)
    better = DIRECTIONS.get(result.better)
    if not result.pattern:
        raise ValueError(f"{text!r}: give a regular expression, NAME:less=/REGEX/")
    if better is None:
        raise ValueError(
            f"{text!r} has no direction; write {result.name}:less=… or {result.name}:more=…"
        )
    return ComparedFigure(f"result:{result.name}", result.name, "", better, result)


@dataclass(frozen=True)
class Variant:
    """A variant, checked.

    Attributes:
        name: name of the cell.
        command: words of the command.
        environment: variables added to the caller's.
        directory: where the command runs, before a revision is checked out.
        revision: git revision, or None for the folder as it is.
        prepare: command that runs once before; empty for none.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    directory: Path
    revision: str | None
    prepare: Sequence[str]


@dataclass(frozen=True)
class VariantsDefinition:
    """The part of an experiment that compares variants.

    Attributes:
        variants: the variants; the first is the baseline.
        figure: what is compared.
        rules: when the answer is good enough.
        timeout_s: longest run of a command, in seconds.
        seed: seed of the order.
    """

    variants: Sequence[Variant]
    figure: ComparedFigure
    rules: DifferenceRules
    timeout_s: float
    seed: int


def variants_of(
    path: Path, found: Sequence[VariantSpec], spec: DifferenceSpec
) -> VariantsDefinition:
    """Check variants and how they are compared.

    Args:
        path: path of the file, whose folder relative paths start at.
        found: variants as written.
        spec: how they are compared, as written.

    Raises:
        ExperimentError: a mistake; the text names file, key and remedy.
    """
    if len(found) < 2:
        raise ExperimentError(f"{path}: variant: is one only; a comparison needs two or more")
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise ExperimentError(f"{path}: variant: a name is used twice; give each its own")
    try:
        figure = compared_figure(spec.metric)
    except ValueError as error:
        raise ExperimentError(f"{path}: difference.metric: {error}") from None
    first = found[0]
    variants = []
    for number, one in enumerate(found):
        command = one.command or first.command
        if command is None:
            raise ExperimentError(f"{path}: variant.{number}.command: is missing; add it")
        directory = (path.parent / (one.directory or first.directory or ".")).resolve()
        prepare = one.prepare or first.prepare or []
        variants.append(
            Variant(one.name, command, one.environment, directory, one.revision, prepare)
        )
    return VariantsDefinition(
        variants=variants,
        figure=figure,
        rules=DifferenceRules(
            figure=figure.name,
            label=figure.label,
            unit=figure.unit,
            better=figure.better,
            margin=spec.margin,
            precision=spec.precision,
            most_s=spec.most_s,
            recorded=0 if figure.is_recorded else spec.recorded,
        ),
        timeout_s=spec.timeout_s,
        seed=spec.seed,
    )
