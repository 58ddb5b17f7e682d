"""Experiment files: workloads, settings, and the required precision."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator
from tidscope_policies.contract import Bounds
from tidscope_policies.parameters import ParameterError
from tidscope_policies.registry import POLICIES, first_choice_s

from tidscope_backend.experiments.variants import (
    VARIANT,
    DifferenceSpec,
    VariantsDefinition,
    VariantSpec,
    variants_of,
)
from tidscope_backend.experiments.workload import (
    ExperimentError,
    StrictModel,
    Value,
    Workload,
    find_workload,
    parse_toml,
    read_text,
    validated,
)

VERSION = 1
DEFAULT = "default"
"""Pseudo-policy without actions: the program keeps its size."""
MAX_CELLS = 500
MAX_SIZE = 4096
MAX_VARIANTS = 8
FOR_PROGRAMS = ("matrix", "steering", "time", "repeats", "quick")
"""Keys that only experiments with programs have."""
QUICK_S = 10.0
"""Time for measuring variants with `--quick`, in seconds."""
Placement = Literal["shared", "apart"]
PLACEMENTS = ("shared", "apart")
LONGEST_SEARCH_S = 3600.0
"""Maximum search time of a policy, in seconds; slower policies never choose."""


class TimeSpec(StrictModel):
    """Durations of a repeat, in seconds. `settle_s`: maximum wait for an idle machine."""

    settle_s: float = Field(default=5.0, ge=0, le=3600)
    warm_up_s: float = Field(default=2.0, ge=0, le=3600)
    measure_s: float = Field(default=10.0, ge=0.2, le=3600)


class RepeatSpec(StrictModel):
    """Rules for the number of repeats of a cell.

    `deviation`: maximum standard deviation of the repeats divided by their mean. There are `least`
    to `most` repeats.
    """

    least: int = Field(default=3, ge=2, le=1000)
    most: int = Field(default=10, ge=2, le=1000)
    deviation: float = Field(default=0.05, gt=0, lt=1)
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _is_in_order(self) -> "RepeatSpec":
        if self.most < self.least:
            raise ValueError("most is below least; swap them")
        return self


class SteeringSpec(StrictModel):
    """Steering settings. `start`: whether the policy's losses during the search count."""

    start: Literal["measurement", "warm-up"] = "measurement"
    lower: int | None = Field(default=None, ge=1, le=MAX_SIZE)
    upper: int | None = Field(default=None, ge=1, le=MAX_SIZE)
    parameters: dict[str, dict[str, float]] = Field(default_factory=dict)

    @field_validator("parameters", mode="before")
    @classmethod
    def _whole_numbers_are_numbers(cls, found: Any) -> Any:
        if not isinstance(found, dict):
            return found
        return {
            policy: {
                name: float(value) if type(value) is int else value for name, value in one.items()
            }
            if isinstance(one, dict)
            else one
            for policy, one in found.items()
        }


class QuickSpec(StrictModel):
    """Settings replaced by `--quick`."""

    time: TimeSpec = TimeSpec(settle_s=0.0, warm_up_s=0.5, measure_s=1.0)
    repeats: RepeatSpec = RepeatSpec(least=2, most=2)
    matrix: dict[str, list[Any]] = Field(default_factory=dict)


class ExperimentFile(StrictModel):
    """An experiment file as written."""

    version: Literal[1]
    name: str = Field(pattern="^[a-z0-9][a-z0-9-]{0,39}$")
    title: str = Field(min_length=1, max_length=120)
    program: list[dict[str, Any]] = Field(default_factory=list, max_length=4)
    variant: list[VariantSpec] = Field(default_factory=list, max_length=MAX_VARIANTS)
    difference: DifferenceSpec = DifferenceSpec()
    matrix: dict[str, list[Any]] = Field(default_factory=dict)
    steering: SteeringSpec = SteeringSpec()
    time: TimeSpec = TimeSpec()
    repeats: RepeatSpec = RepeatSpec()
    quick: QuickSpec = QuickSpec()

    @model_validator(mode="after")
    def _is_one_kind(self) -> "ExperimentFile":
        if bool(self.program) == bool(self.variant):
            raise ValueError("has to have either [[program]] or [[variant]]")
        unused = FOR_PROGRAMS if self.variant else ("difference",)
        for key in unused:
            if key in self.model_fields_set:
                other = "variant" if self.variant else "program"
                raise ValueError(f"has {key} beside [[{other}]], which does not use it; remove it")
        return self


@dataclass(frozen=True)
class ProgramChoice:
    """A program of an experiment: a workload, and the values shared by all cells."""

    workload: Workload
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Definition:
    """A checked experiment.

    Attributes:
        name: short name, used in names of groups.
        title: display title.
        programs: programs that run at the same time, on the same cores.
        axes: axes of the matrix, each with its values, in file order.
        steering: settings of the steering.
        time: durations of a repeat.
        repeats: rules of the number of repeats.
        quick: whether the definition is the quick variant.
        text: text of the file.
        variants: what is compared instead of programs; None for programs.
    """

    name: str
    title: str
    programs: Sequence[ProgramChoice]
    axes: Mapping[str, Sequence[Value]]
    steering: SteeringSpec
    time: TimeSpec
    repeats: RepeatSpec
    quick: bool
    text: str
    variants: VariantsDefinition | None = None


def read_definition(path: Path, workloads: Path, *, quick: bool) -> Definition:
    """Read and check an experiment file.

    Args:
        path: path of the file.
        workloads: folder of workloads.
        quick: whether to apply the `quick` settings.

    Raises:
        ExperimentError: the file is invalid; the text names file, key and remedy.
    """
    return checked_definition(path, read_text(path), workloads, quick=quick)


def checked_definition(path: Path, text: str, workloads: Path, *, quick: bool) -> Definition:
    """Check the text of an experiment file. Arguments and errors as of `read_definition`."""
    found = validated(path, ExperimentFile, parse_toml(path, text))
    if found.variant:
        return _of_variants(path, found, text, quick=quick)
    programs = [
        _program(path, number, dict(one), workloads) for number, one in enumerate(found.program)
    ]
    matrix = {**found.matrix, **found.quick.matrix} if quick else found.matrix
    if unknown := found.quick.matrix.keys() - found.matrix.keys():
        raise ExperimentError(f"{path}: quick.matrix.{min(unknown)}: is no axis of matrix; add it")
    for axis, values in matrix.items():
        _check_axis(path, axis, values, programs)
    cells = math.prod(len(values) for values in matrix.values())
    if cells > MAX_CELLS:
        raise ExperimentError(f"{path}: matrix: has {cells} cells; use at most {MAX_CELLS}")
    for policy in found.steering.parameters:
        if policy not in POLICIES:
            raise ExperimentError(f"{path}: steering.parameters.{policy}: {_policies()}")
    definition = Definition(
        name=found.name,
        title=found.title,
        programs=programs,
        axes=matrix,
        steering=found.steering,
        time=found.quick.time if quick else found.time,
        repeats=found.quick.repeats if quick else found.repeats,
        quick=quick,
        text=text,
    )
    _check_time(path, definition)
    return definition


def _of_variants(path: Path, found: ExperimentFile, text: str, *, quick: bool) -> Definition:
    update = {"most_s": QUICK_S} if quick else {}
    spec = found.difference.model_copy(update=update)
    variants = variants_of(path, found.variant, spec)
    return Definition(
        name=found.name,
        title=found.title,
        programs=[],
        axes={VARIANT: [one.name for one in variants.variants]},
        steering=found.steering,
        time=found.time,
        repeats=RepeatSpec(seed=variants.seed),
        quick=quick,
        text=text,
        variants=variants,
    )


def _check_time(path: Path, definition: Definition) -> None:
    """Check that each policy can choose a size while it steers. Raises ExperimentError."""
    time, steering = definition.time, definition.steering
    steered_s = time.measure_s + (time.warm_up_s if steering.start == "warm-up" else 0.0)
    own = len(os.sched_getaffinity(0))
    cores = {(own + 1) // 2 if one == "apart" else own for one in _axis(definition, "placement")}
    for policy in _axis(definition, "policy"):
        if policy in (None, DEFAULT):
            continue
        for size in _axis(definition, "size"):
            first_s = max(
                _first_choice_s(path, definition, str(policy), size or one, one) for one in cores
            )
            if first_s >= steered_s:
                key = "quick.time" if definition.quick else "time"
                raise ExperimentError(
                    f"{path}: {key}.measure_s: {time.measure_s:g}: {policy} chooses a size first "
                    f"{_after(first_s)} it begins to steer, and steers for {steered_s:g} s. Measure"
                    ' for longer, let it search before (steering.start = "warm-up", and a longer '
                    f"warm_up_s), or change steering.parameters.{policy}"
                )


def _axis(definition: Definition, name: str) -> Sequence[Any]:
    return definition.axes.get(name, [None])


def _first_choice_s(
    path: Path, definition: Definition, policy: str, size: int, cores: int
) -> float:
    """Return the earliest time of a policy's choice, in seconds; infinite beyond the limit."""
    steering = definition.steering
    high = steering.upper or max(size, cores)
    try:
        ready = POLICIES[policy].make(steering.parameters.get(policy))
        bounds = Bounds(steering.lower or 1, high)
    except ParameterError as error:
        raise ExperimentError(f"{path}: steering.parameters.{policy}: {error}") from None
    except ValueError as error:
        raise ExperimentError(f"{path}: steering: {error}") from None
    programs, far_s = len(definition.programs), LONGEST_SEARCH_S
    found = first_choice_s(
        ready, bounds, bounds.clamp(size), cores=cores, programs=programs, within_s=far_s
    )
    return math.inf if found is None else found


def _after(seconds: float) -> str:
    return f"{seconds:g} s after" if seconds < math.inf else f"over {LONGEST_SEARCH_S:g} s after"


def _program(path: Path, number: int, found: dict[str, Any], workloads: Path) -> ProgramChoice:
    key = f"program.{number}"
    name = found.pop("workload", None)
    if not isinstance(name, str):
        raise ExperimentError(f"{path}: {key}.workload: is missing; name a workload")
    try:
        workload = find_workload(workloads, name, path.parent)
    except ExperimentError as error:
        raise ExperimentError(f"{path}: {key}.workload: {error}") from None
    for parameter, value in found.items():
        _check_value(path, f"{key}.{parameter}", parameter, value, workload)
    for parameter, spec in workload.spec.parameters.items():
        if spec.is_required and parameter not in found:
            raise ExperimentError(f"{path}: {key}.{parameter}: is missing; add it: {spec.about}")
    given = {
        name: str((path.parent / str(value)).resolve())
        if workload.spec.parameters[name].is_path
        else value
        for name, value in found.items()
    }
    return ProgramChoice(workload, {**workload.defaults(), **given})


def _check_axis(
    path: Path, axis: str, values: list[Any], programs: Sequence[ProgramChoice]
) -> None:
    key = f"matrix.{axis}"
    if not values or len({str(value) for value in values}) < len(values):
        raise ExperimentError(f"{path}: {key}: has no value, or one twice; list each value once")
    for value in values:
        if axis == "policy":
            unsteered = next((one for one in programs if not one.workload.spec.steered), None)
            if value != DEFAULT and unsteered is not None:
                raise ExperimentError(
                    f"{path}: {key}: {value!r}: nothing steers {unsteered.workload.name} while it "
                    f"runs; use {DEFAULT}, and the axis size"
                )
            if value != DEFAULT and value not in POLICIES:
                raise ExperimentError(f"{path}: {key}: {value!r}: {_policies()}")
        elif axis == "size":
            if type(value) is not int or not 1 <= value <= MAX_SIZE:
                raise ExperimentError(f"{path}: {key}: {value!r}: use whole numbers from 1 on")
        elif axis == "placement":
            if value not in PLACEMENTS:
                raise ExperimentError(f"{path}: {key}: {value!r}: use {' or '.join(PLACEMENTS)}")
        else:
            having = [one.workload for one in programs if axis in one.workload.spec.parameters]
            if not having:
                raise ExperimentError(f"{path}: {key}: {_axes(programs)}")
            for workload in having:
                _check_value(path, key, axis, value, workload)


def _check_value(path: Path, key: str, name: str, value: object, workload: Workload) -> None:
    spec = workload.spec.parameters.get(name)
    if spec is None:
        known = ", ".join(workload.spec.parameters) or "none"
        raise ExperimentError(
            f"{path}: {key}: is no parameter of {workload.name}; its parameters: {known}"
        )
    if mistake := spec.mistake(value):
        raise ExperimentError(f"{path}: {key}: {value!r}: {mistake}")


def _policies() -> str:
    return f"is no policy; use {DEFAULT} or one of {', '.join(POLICIES)}"


def _axes(programs: Sequence[ProgramChoice]) -> str:
    known = ["policy", "size", "placement"]
    known += [name for one in programs for name in one.workload.spec.parameters]
    return f"is no axis; use one of {', '.join(dict.fromkeys(known))}"
