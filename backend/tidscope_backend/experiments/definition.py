"""Experiment files: workloads, settings, and the required precision."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator
from tidscope_policies.registry import POLICIES

from tidscope_backend.experiments.settling import (
    DEFAULT,
    MAX_SIZE,
    SettlingRule,
    SteeringSpec,
    settling_rules,
)
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
MAX_CELLS = 500
MAX_VARIANTS = 8
FOR_PROGRAMS = ("matrix", "steering", "time", "repeats", "short", "quick")
"""Keys that only experiments with programs have."""
QUICK_S = 10.0
"""Time for measuring variants with `--quick`, in seconds."""
Placement = Literal["shared", "apart"]
PLACEMENTS = ("shared", "apart")
Preset = Literal["full", "short", "quick"]
"""How much of a file is carried out."""


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

    least: int = Field(default=3, ge=1, le=1000)
    most: int = Field(default=10, ge=1, le=1000)
    deviation: float = Field(default=0.05, gt=0, lt=1)
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _is_in_order(self) -> "RepeatSpec":
        if self.most < self.least:
            raise ValueError("most is below least; swap them")
        return self


class PresetSpec(StrictModel):
    """Settings replaced by `--short` or `--quick`; `steering` as a whole."""

    time: TimeSpec = TimeSpec(settle_s=0.0, warm_up_s=0.5, measure_s=1.0)
    repeats: RepeatSpec = RepeatSpec(least=2, most=2)
    steering: SteeringSpec | None = None
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
    short: PresetSpec | None = None
    quick: PresetSpec = PresetSpec()

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
        preset: how much of the file is carried out.
        text: text of the file.
        variants: what is compared instead of programs; None for programs.
        settling: how long each policy settles before the measurement; empty if none does.
    """

    name: str
    title: str
    programs: Sequence[ProgramChoice]
    axes: Mapping[str, Sequence[Value]]
    steering: SteeringSpec
    time: TimeSpec
    repeats: RepeatSpec
    preset: Preset
    text: str
    variants: VariantsDefinition | None = None
    settling: Mapping[str, SettlingRule] = field(default_factory=dict)

    @property
    def warm_up_s(self) -> float:
        """Least time between the start of a load and the measurement, in seconds.

        It is the same for all cells, so that their programs are about equally old: a policy's
        search is as long as the default's warm-up.
        """
        return max([self.time.warm_up_s, *(one.expected_s for one in self.settling.values())])


def read_definition(path: Path, workloads: Path, *, preset: Preset = "full") -> Definition:
    """Read and check an experiment file.

    Args:
        path: path of the file.
        workloads: folder of workloads.
        preset: how much of it to carry out.

    Raises:
        ExperimentError: the file is invalid; the text names file, key and remedy.
    """
    return checked_definition(path, read_text(path), workloads, preset=preset)


def checked_definition(
    path: Path, text: str, workloads: Path, *, preset: Preset = "full"
) -> Definition:
    """Check the text of an experiment file. Arguments and errors as of `read_definition`."""
    found = validated(path, ExperimentFile, parse_toml(path, text))
    if found.variant:
        return _of_variants(path, found, text, preset)
    if preset == "short" and found.short is None:
        raise ExperimentError(f"{path}: short: is missing; leave out --short, or add [short]")
    chosen = found.quick if preset == "quick" else found.short if preset == "short" else None
    programs = [
        _program(path, number, dict(one), workloads) for number, one in enumerate(found.program)
    ]
    for name, one in (("quick", found.quick), ("short", found.short)):
        if unknown := (one.matrix if one else {}).keys() - found.matrix.keys():
            raise ExperimentError(
                f"{path}: {name}.matrix.{min(unknown)}: is no axis of matrix; add it"
            )
    matrix = {**found.matrix, **(chosen.matrix if chosen else {})}
    for axis, values in matrix.items():
        _check_axis(path, axis, values, programs)
    cells = math.prod(len(values) for values in matrix.values())
    if cells > MAX_CELLS:
        raise ExperimentError(f"{path}: matrix: has {cells} cells; use at most {MAX_CELLS}")
    steering = chosen.steering if chosen and chosen.steering else found.steering
    for key, names in (("parameters", steering.parameters), ("settle", steering.settle)):
        for policy in names:
            if policy not in POLICIES:
                raise ExperimentError(f"{path}: steering.{key}.{policy}: {_policies()}")
    definition = Definition(
        name=found.name,
        title=found.title,
        programs=programs,
        axes=matrix,
        steering=steering,
        time=chosen.time if chosen else found.time,
        repeats=chosen.repeats if chosen else found.repeats,
        preset=preset,
        text=text,
    )
    return replace(definition, settling=_settling(path, definition))


def _of_variants(path: Path, found: ExperimentFile, text: str, preset: Preset) -> Definition:
    if preset == "short":
        raise ExperimentError(f"{path}: variants have no short preset; set difference.most_s")
    update = {"most_s": QUICK_S} if preset == "quick" else {}
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
        preset=preset,
        text=text,
        variants=variants,
    )


def _settling(path: Path, definition: Definition) -> dict[str, SettlingRule]:
    """Return how each policy settles. Raises ExperimentError if one cannot choose in time."""
    own = len(os.sched_getaffinity(0))
    placements = _axis(definition, "placement")
    try:
        return settling_rules(
            [str(one) for one in _axis(definition, "policy") if one is not None],
            _axis(definition, "size"),
            sorted({(own + 1) // 2 if one == "apart" else own for one in placements}),
            len(definition.programs),
            definition.steering,
            definition.time.measure_s,
        )
    except ValueError as error:
        key = "" if definition.preset == "full" else f"{definition.preset}: "
        raise ExperimentError(f"{path}: {key}{error}") from None


def _axis(definition: Definition, name: str) -> Sequence[Any]:
    return definition.axes.get(name, [None])


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
