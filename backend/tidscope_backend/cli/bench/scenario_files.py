"""Scenarios as TOML files: those that come with tidscope, and a user's own."""

import tomllib
from dataclasses import MISSING, fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from tidscope_policies.simulation.scenario import Scenario


class ScenarioError(ValueError):
    """A scenario cannot be used; the text names the file, the key and the problem."""


def shipped() -> list[Scenario]:
    """The scenarios that come with tidscope, by name."""
    folder = files("tidscope_backend.cli.bench") / "scenarios"
    texts = {each.name: each.read_text("utf-8") for each in folder.iterdir()}
    return [parse(texts[name], name) for name in sorted(texts) if name.endswith(".toml")]


def load(path: Path) -> Scenario:
    """Read a scenario.

    Raises:
        ScenarioError: it cannot be read, or something in it is wrong.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: cannot be read: {error}") from None
    return parse(text, str(path))


def parse(text: str, where: str) -> Scenario:
    """Make a scenario from TOML.

    Raises:
        ScenarioError: something in it is wrong; `where` is named, and the key.
    """
    try:
        scenario: Scenario = _read(Scenario, tomllib.loads(text), "")
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{where}: no TOML: {error}") from None
    except ValueError as error:
        raise ScenarioError(f"{where}: {error}") from None
    return scenario


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
    if not fits or isinstance(value, bool):
        wanted = {float: "a number", int: "a whole number", str: "text"}[kind]
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
