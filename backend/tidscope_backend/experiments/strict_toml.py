"""TOML files into models, strictly: mistakes name the file, the key, and what to do."""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from tidscope_backend.experiments.errors import ExperimentError

MAX_BYTES = 1_000_000
MESSAGES = {
    "missing": "is missing; add it",
    "extra_forbidden": "is no key that is known here; remove it, or see docs/experiments.md",
}


class StrictModel(BaseModel):
    """No value is converted to another type, and no key is unknown."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


M = TypeVar("M", bound=BaseModel)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ExperimentError: it cannot be read, or is not TOML.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ExperimentError(f"{path}: has more than {MAX_BYTES} bytes; make it smaller")
        return tomllib.loads(data.decode())
    except OSError as error:
        raise ExperimentError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ExperimentError(f"{path}: is not TOML: {error}") from None


def validated(path: Path, model: type[M], found: object) -> M:
    """Make a model of what a file has. Raises ExperimentError with all mistakes."""
    try:
        return model.model_validate(found)
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(map(str, one['loc'])) or 'the file'}: "
            + MESSAGES.get(one["type"], one["msg"].removeprefix("Value error, "))
            for one in error.errors()
        ]
        raise ExperimentError("\n".join(lines)) from None
