"""Scenarios and families from TOML files, and measured programs from sweeps.

A value `{ from = 4, to = 16 }` or `{ one_of = [...] }` makes the file a family. The seed draws one
scenario from the family.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib.resources import files
from math import inf
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import ValidationError
from tidscope_policies.simulation.campaign import Plant
from tidscope_policies.simulation.measured import MeasuredPoint, MeasuredProgram, fit_law
from tidscope_policies.simulation.scenario import Scenario
from tidscope_wire.generated.models import SweepState

FAMILY = 5
"""Random stream for drawing from families; runs use other streams."""


class ScenarioError(ValueError):
    """A scenario cannot be used; the text names the file, the key and the problem."""


@dataclass(frozen=True)
class Family:
    """A family of scenarios with random values.

    Attributes:
        name: short name, used as column heading.
        title: one-line title.
        tree: content of the file, with ranges in place of values.
        where: path of the file.
    """

    name: str
    title: str
    tree: dict[str, Any]
    where: str

    def draw(self, seed: int) -> Scenario:
        """Return the scenario of a seed.

        Raises:
            ScenarioError: the values drawn do not fit together.
        """
        stream = np.random.default_rng([seed, FAMILY])
        try:
            tree = _drawn(self.tree, stream)
        except ValueError as error:
            raise ScenarioError(f"{self.where}: {error}") from None
        return _scenario(tree, self.where)


SHIPPED = "scenarios.toml"
"""File of the shipped scenarios. A file of one's own is one table of it, without `scenarios.`"""
FAMILIES = "families.toml"
"""File of the families that come on top, of programs unlike those of the scenarios."""


def shipped(name: str = SHIPPED) -> list[Plant]:
    """Return the scenarios and families of a shipped file: scenarios first, in its order."""
    text = (files("tidscope_backend.cli") / name).read_text("utf-8")
    plants = [_plant(tree, name) for tree in tomllib.loads(text)["scenarios"]]
    return sorted(plants, key=lambda plant: isinstance(plant, Family))


def load(path: Path) -> Plant:
    """Read a scenario or a family.

    Raises:
        ScenarioError: the file cannot be read, or has an invalid value.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: cannot be read: {error}") from None
    return parse(text, str(path))


def load_sweep(path: Path, cpus: Sequence[int]) -> list[MeasuredProgram]:
    """Read the result of a sweep, for hosts of each number of CPUs.

    Raises:
        ScenarioError: the file cannot be read, or the curve does not follow the law.
    """
    try:
        state = SweepState.model_validate_json(path.read_bytes())
        measured = fit_law(
            [
                MeasuredPoint(each.size, each.ops_per_s, each.low or 0.0, each.high or inf)
                for each in state.points
            ]
        )
        title = f"{path.name} by the universal scalability law"
        programs = [
            MeasuredProgram(f"cpus-{count}", f"{title}, {count} CPUs", measured, count, state.start)
            for count in cpus
        ]
        for program in programs:
            program.draw(0)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError:
        raise ScenarioError(f"{path}: no result of `tidscope sweep --json`") from None
    except ValueError as error:
        raise ScenarioError(f"{path}: {error}") from None
    return programs


def parse(text: str, where: str) -> Plant:
    """Make a scenario or a family from TOML.

    Raises:
        ScenarioError: a value is invalid; the text names `where` and the key.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{where}: no TOML: {error}") from None
    return _plant(tree, where)


def _plant(tree: dict[str, Any], where: str) -> Plant:
    if not _has_range(tree):
        return _scenario(tree, where)
    family = Family(str(tree.get("name", "")), str(tree.get("title", "")), tree, where)
    family.draw(0)
    return family


def _scenario(tree: Any, where: str) -> Scenario:
    try:
        scenario: Scenario = _read(Scenario, tree, "")
    except ValueError as error:
        raise ScenarioError(f"{where}: {error}") from None
    return scenario


def _is_range(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() in ({"from", "to"}, {"one_of"})


def _has_range(value: Any) -> bool:
    if isinstance(value, dict):
        return _is_range(value) or any(_has_range(each) for each in value.values())
    return isinstance(value, list) and any(_has_range(each) for each in value)


def _drawn(value: Any, stream: np.random.Generator) -> Any:
    """Return the tree with a value in place of each range.

    Raises:
        ValueError: a range is invalid.
    """
    if isinstance(value, list):
        return [_drawn(each, stream) for each in value]
    if not isinstance(value, dict):
        return value
    if not _is_range(value):
        return {name: _drawn(each, stream) for name, each in value.items()}
    if "one_of" in value:
        choices = value["one_of"]
        if not isinstance(choices, list) or not choices:
            raise ValueError("one_of: not a list of values")
        return choices[int(stream.integers(len(choices)))]
    low, high = value["from"], value["to"]
    if not all(isinstance(each, int | float) for each in (low, high)) or not low <= high:
        raise ValueError(f"{value}: not a range of numbers")
    if isinstance(low, int) and isinstance(high, int):
        return int(stream.integers(low, high + 1))
    return float(stream.uniform(low, high))


def _read(kind: Any, value: Any, key: str) -> Any:
    """Convert a TOML value to a type.

    Raises:
        ScenarioError: the value does not fit; the text begins with the key.
    """
    if isinstance(kind, UnionType):
        kind = get_args(kind)[0]
    if is_dataclass(kind):
        return _read_table(kind, value, key)
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise ScenarioError(f"{key}: not a list")
        return [_read(get_args(kind)[0], each, f"{key}.{at}") for at, each in enumerate(value)]
    fits = isinstance(value, int | float if kind is float else kind)
    if not fits or isinstance(value, bool) != (kind is bool):
        names = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}
        wanted = names[kind]
        raise ScenarioError(f"{key}: {value!r} is not {wanted}")
    return value


def _read_table(kind: Any, value: Any, key: str) -> Any:
    if not isinstance(value, dict):
        raise ScenarioError(f"{key}: not a table")
    inner = f"{key}." if key else ""
    types = get_type_hints(kind)
    if unknown := value.keys() - types.keys():
        raise ScenarioError(f"{inner}{min(unknown)}: no such key")
    read = {name: _read(types[name], each, f"{inner}{name}") for name, each in value.items()}
    for each in fields(kind):
        optional = each.default is not MISSING or each.default_factory is not MISSING
        if not optional and each.name not in read:
            raise ScenarioError(f"{inner}{each.name}: missing")
    try:
        return kind(**read)
    except ValueError as error:
        raise ScenarioError(f"{inner}{error}") from None
