"""Scenarios as TOML files: those that come with tidscope, and a user's own."""

import tomllib
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError
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
        return Scenario.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{where}: no TOML: {error}") from None
    except ValidationError as error:
        wrong = [
            f"{'.'.join(map(str, each['loc'])) or 'scenario'}: {each['msg']}"
            for each in error.errors(include_url=False)
        ]
        raise ScenarioError(f"{where}: {'; '.join(wrong)}") from None
