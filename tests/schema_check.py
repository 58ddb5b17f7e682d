"""Checks values against the wire's JSON Schemas, independent of the generated models."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(__file__).parent.parent / "shared" / "schemas"


@cache
def topics() -> dict[str, dict[str, Any]]:
    """Every file of schemas, by its name."""
    return {path.name: json.loads(path.read_text()) for path in FOLDER.glob("*.schema.json")}


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Every schema, by name."""
    return {name: schema for topic in topics().values() for name, schema in topic["$defs"].items()}


def members(union: str) -> dict[str, str]:
    """Tags of the messages of a union, by the names of their schemas."""
    names = [part["$ref"].rpartition("/")[2] for part in schemas()[union]["oneOf"]]
    return {name: schemas()[name]["properties"]["type"]["const"] for name in names}


@cache
def validator(name: str) -> Draft202012Validator:
    """A validator of the schema with this name, references between files resolved."""
    registry: Registry[Any] = Registry().with_resources(
        (file, Resource.from_contents(topic)) for file, topic in topics().items()
    )
    (file,) = (file for file, topic in topics().items() if name in topic["$defs"])
    return Draft202012Validator({"$ref": f"{file}#/$defs/{name}"}, registry=registry)


def check(name: str, value: object) -> None:
    """Check a value, as JSON has it.

    Raises:
        jsonschema.ValidationError: it does not fit.
    """
    validator(name).validate(value)


def check_text(name: str, text: str | bytes) -> Any:
    """Check JSON text; returns its value."""
    value = json.loads(text)
    check(name, value)
    return value
