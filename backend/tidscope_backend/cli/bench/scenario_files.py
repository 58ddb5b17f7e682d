"""Scenarios as TOML files: those that come with tidscope, and a user's own.

A value may be `{ from = 4, to = 16 }` or `{ one_of = [...] }`: then the file is a family of
scenarios, and the seed draws one.
"""

import tomllib
from dataclasses import MISSING, dataclass, fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from tidscope_policies.simulation.campaign import Plant
from tidscope_policies.simulation.scenario import Scenario

FAMILY = 5
"""Of the random stream: those of a run have other numbers."""


class ScenarioError(ValueError):
    """A scenario cannot be used; the text names the file, the key and the problem."""


@dataclass(frozen=True)
class Family:
    """Scenarios that differ in random values.

    Attributes:
        name: short; the head of its column.
        title: one line.
        tree: of the file, with the ranges in place of values.
        where: the file.
    """

    name: str
    title: str
    tree: dict[str, Any]
    where: str

    def draw(self, seed: int) -> Scenario:
        """The scenario of a seed.

        Raises:
            ScenarioError: the values drawn do not fit together.
        """
        stream = np.random.default_rng([seed, FAMILY])
        try:
            tree = _drawn(self.tree, stream)
        except ValueError as error:
            raise ScenarioError(f"{self.where}: {error}") from None
        return _scenario(tree, self.where)


def shipped() -> list[Plant]:
    """The scenarios and families that come with tidscope: scenarios first, by name."""
    folder = files("tidscope_backend.cli.bench") / "scenarios"
    texts = {each.name: each.read_text("utf-8") for each in folder.iterdir()}
    plants = [parse(texts[name], name) for name in sorted(texts) if name.endswith(".toml")]
    return sorted(plants, key=lambda plant: isinstance(plant, Family))


def load(path: Path) -> Plant:
    """Read a scenario or a family.

    Raises:
        ScenarioError: it cannot be read, or something in it is wrong.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: cannot be read: {error}") from None
    return parse(text, str(path))


def parse(text: str, where: str) -> Plant:
    """Make a scenario or a family from TOML.

    Raises:
        ScenarioError: something in it is wrong; `where` is named, and the key.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{where}: no TOML: {error}") from None
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
    """The tree with a value in place of each range.

    Raises:
        ValueError: a range is none.
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
    """Make a value of a type from what TOML gave.

    Raises:
        ScenarioError: it does not fit; the text begins with the key.
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
