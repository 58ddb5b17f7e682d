"""Checks values against the wire's JSON Schemas, independent of the generated models."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(__file__).parent.parent / "shared" / "schemas"


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Every schema, by title."""
    loaded = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.schema.json"))]
    return {schema["title"]: schema for schema in loaded}


@cache
def validator(title: str) -> Draft202012Validator:
    """A validator of the schema with this title, references between files resolved."""
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas().values()
    )
    return Draft202012Validator(schemas()[title], registry=registry)


def check(title: str, value: object) -> None:
    """Check a value, as JSON has it.

    Raises:
        jsonschema.ValidationError: it does not fit.
    """
    validator(title).validate(value)


def check_text(title: str, text: str | bytes) -> Any:
    """Check JSON text; returns its value."""
    value = json.loads(text)
    check(title, value)
    return value
