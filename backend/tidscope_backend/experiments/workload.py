"""Workloads, and the strict reader of their workload.toml files."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator


class ExperimentError(Exception):
    """An experiment cannot run; the text says what is wrong, where, and what to do."""


class RepeatError(Exception):
    """One repeat failed, for example by a crash of its workload; the experiment continues."""


MAX_BYTES = 1_000_000
MESSAGES = {
    "missing": "is missing; add it",
    "extra_forbidden": "is no key that is known here; remove it, or see docs/experiments.md",
}


class StrictModel(BaseModel):
    """Model without type conversion and without unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


M = TypeVar("M", bound=BaseModel)


def read_text(path: Path) -> str:
    """Read a text file. Raises ExperimentError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ExperimentError(f"{path}: has more than {MAX_BYTES} bytes; make it smaller")
        return data.decode()
    except OSError as error:
        raise ExperimentError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ExperimentError(f"{path}: is not TOML: {error}") from None


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """Parse the text of a file. Raises ExperimentError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ExperimentError(f"{path}: is not TOML: {error}") from None


def validated(path: Path, model: type[M], found: object) -> M:
    """Validate a file's content as a model. Raises ExperimentError with all mistakes."""
    try:
        return model.model_validate(found)
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(map(str, one['loc'])) or 'the file'}: "
            + MESSAGES.get(one["type"], one["msg"].removeprefix("Value error, "))
            for one in error.errors()
        ]
        raise ExperimentError("\n".join(lines)) from None


_BACKEND = Path(__file__).resolve().parents[1]
PLACES = (_BACKEND / "sources" / "workloads", _BACKEND.parents[1] / "workloads")
"""Locations of workloads: installed, or in a checkout."""
FILE = "workload.toml"
Value = str | int | float
"""Value of a parameter."""
RESERVED = (
    *("policy", "size", "upper", "placement", "workload"),
    *("warm_up_s", "measure_s", "address", "seconds"),
)


class ParameterSpec(StrictModel):
    """A parameter: one of some choices, a number within bounds, a file, a folder, or any text.

    A folder or a text has no default: experiments must set it.
    """

    about: str
    choices: list[str] | None = None
    least: float | None = None
    most: float | None = None
    file: str | None = None
    folder: bool = False
    text: bool = False
    default: str | int | float | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> "ParameterSpec":
        number = self.least is not None and self.most is not None
        kinds = (self.choices is not None, number, self.file is not None, self.folder, self.text)
        if sum(kinds) != 1:
            raise ValueError("has to have choices, or least and most, or file, folder or text")
        if self.default is None and not (self.is_path or self.text):
            raise ValueError("has to have a default")
        if self.default is not None and (self.folder or self.text):
            raise ValueError("has a default, and folders and texts have none; remove it")
        return self

    @property
    def is_path(self) -> bool:
        """True if values are paths; relative paths start at the experiment file's folder."""
        return self.file is not None or self.folder

    @property
    def is_required(self) -> bool:
        """True without a default."""
        return self.folder or self.text

    def mistake(self, value: object) -> str | None:
        """Describe the mistake in a value, or return None."""
        if self.choices is not None:
            return None if value in self.choices else f"use one of {', '.join(self.choices)}"
        if self.is_path:
            what = "folder" if self.folder else "file"
            return None if isinstance(value, str) and value else f"use the path of a {what}"
        if self.text:
            return None if isinstance(value, str) and value.strip() else "write some text"
        low, high = self.least or 0.0, self.most or 0.0
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return None
        return f"use a number from {low:g} to {high:g}"


class ProgramSpec(StrictModel):
    """Build and start of a program.

    `{NAME}` in arguments and variables is replaced by the parameter of that name. Further names are
    `size`, `upper` (the largest size that a policy may set), `warm_up_s` and `measure_s`. In a load
    generator, `address` is the program's address, and `seconds` the duration.
    """

    build: Literal["go", "python", "java", "rust", "c++"]
    folder: str
    main: str = ""
    arguments: list[str] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)


class LoadSpec(StrictModel):
    """Generator of requests; without it the program generates its own work.

    `path` is the path that wrk requests. `program` is the workload's own load generator, whose last
    line has the form of wrk.lua's.
    """

    generator: Literal["wrk", "program"]
    path: str = ""
    program: ProgramSpec | None = None

    @model_validator(mode="after")
    def _has_a_program(self) -> "LoadSpec":
        if (self.program is not None) != (self.generator == "program"):
            raise ValueError("has to have a program if the generator is one, and only then")
        return self


class WorkloadSpec(StrictModel):
    """Content of a workload.toml.

    `program` is a program, or `choose` names the parameter that selects one of several. `waits`:
    operations' queue waits are reported. `speed_up`: more threads do the same work. `patience_s`:
    timeout for readiness and for answers. `watch`: the process alone, or with all descendants.
    `steered`: a policy can set the size at run time. `needs`: programs that must be installed, with
    their Debian packages.
    """

    name: str
    about: str
    unit: str
    knob: str
    waits: bool = False
    speed_up: bool = False
    watch: Literal["process", "tree"] = "process"
    steered: bool = True
    patience_s: float = Field(default=60.0, gt=0, le=3600)
    needs: dict[str, str] = Field(default_factory=dict)
    program: dict[str, object]
    load: LoadSpec | None = None
    parameters: dict[str, ParameterSpec] = Field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """A workload with its programs.

    Attributes:
        folder: folder of the workload.
        spec: content of workload.toml.
        programs: programs by the value of the selecting parameter; a single program has an empty
            key.
        chooser: name of that parameter; empty for a single program.
    """

    folder: Path
    spec: WorkloadSpec
    programs: Mapping[str, ProgramSpec]
    chooser: str

    @property
    def name(self) -> str:
        """Name used in experiment files."""
        return self.spec.name

    def program(self, values: Mapping[str, Value]) -> ProgramSpec:
        """Return the program that these values select."""
        return self.programs[str(values[self.chooser]) if self.chooser else ""]

    def defaults(self) -> dict[str, Value]:
        """Return the default values of all parameters that have one."""
        return {
            name: str(self.folder / one.file) if one.file is not None else one.default or 0
            for name, one in self.spec.parameters.items()
            if not one.is_required
        }


def workloads_folder() -> Path:
    """Return the folder of the workloads. Raises ExperimentError."""
    for place in PLACES:
        if place.is_dir():
            return place
    raise ExperimentError("this installation lacks the workloads; install tidscope again")


def workload_names(places: Path) -> list[str]:
    """Return names of all workloads."""
    return sorted(path.parent.name for path in places.glob(f"*/{FILE}"))


def find_workload(places: Path, name: str, base: Path) -> Workload:
    """Find a workload by name, or by a folder path that contains a slash.

    Args:
        places: folder of workloads.
        name: name from an experiment file.
        base: folder of the experiment file.

    Raises:
        ExperimentError: the workload does not exist, or its description is invalid.
    """
    names = workload_names(places)
    folder = (base / name).resolve() if "/" in name else places / name
    if not (folder / FILE).is_file() or ("/" not in name and name not in names):
        raise ExperimentError(
            f"there is no workload {name!r}; use one of {', '.join(names)}, or the path of a "
            f"folder with a {FILE}, as ./mine"
        )
    return read_workload(folder)


def read_workload(folder: Path) -> Workload:
    """Read the workload in a folder. Raises ExperimentError."""
    path = folder / FILE
    spec = validated(path, WorkloadSpec, parse_toml(path, read_text(path)))
    found = dict(spec.program)
    chooser = found.pop("choose", "")
    if not isinstance(chooser, str) or (chooser and chooser not in spec.parameters):
        raise ExperimentError(f"{path}: program.choose: is no parameter; name one")
    for reserved in RESERVED:
        if reserved in spec.parameters:
            raise ExperimentError(
                f"{path}: parameters.{reserved}: has a meaning already; rename it"
            )
    programs = found if chooser else {"": found}
    return Workload(
        folder=path.parent,
        spec=spec,
        programs={one: validated(path, ProgramSpec, text) for one, text in programs.items()},
        chooser=chooser,
    )
