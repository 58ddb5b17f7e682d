"""Checks of values against the wire's JSON Schemas, and of answers against OpenAPI.

Both are independent of the generated models.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from tidscope_backend.api.openapi import PROBLEM_KINDS
from tidscope_backend.app import create_app
from tidscope_backend.settings import Settings
from tidscope_wire.generated.models import Problem
from tidscope_wire.problems import MEDIA_TYPE, PREFIX

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


class DocumentedPath(NamedTuple):
    """A path of the document, as a pattern, and its operations by method in lower case."""

    pattern: re.Pattern[str]
    operations: dict[str, dict[str, Any]]


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document; making it takes half a second of CPU time."""
    return create_app(Settings("x" * 16, "y" * 16)).openapi()


@cache
def paths() -> list[DocumentedPath]:
    """All of the document; paths without parameters come first, as they are matched first."""
    return [
        DocumentedPath(re.compile(re.sub(r"\{\w+\}", "[^/]+", template) + r"\Z"), operations)
        for template, operations in sorted(
            document()["paths"].items(), key=lambda row: row[0].count("{")
        )
    ]


def operation(method: str, path: str) -> dict[str, Any] | None:
    """Return the operation of a request in the document, or None if there is none."""
    found = next((each for each in paths() if each.pattern.match(path)), None)
    return found and found.operations.get(method.lower())


async def check_answer(answer: httpx.Response) -> None:
    """Check status, media type and kind of problem of an answer to a documented operation."""
    documented = operation(answer.request.method, answer.request.url.path)
    if documented is None:
        return
    asked = f"{answer.request.method} {answer.request.url.path}"
    listed = documented["responses"].get(str(answer.status_code))
    assert listed is not None, f"{asked} answers {answer.status_code}, which is not documented"
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    media_types = {name.partition(";")[0] for name in listed.get("content", {})} or {""}
    assert media_type in media_types, f"{asked} answers {media_type!r}"
    if media_type == MEDIA_TYPE:
        problem = Problem.model_validate_json(await answer.aread())
        assert problem.status == answer.status_code
        kind = problem.type.removeprefix(PREFIX)
        assert kind in documented[PROBLEM_KINDS], f"{asked} answers {kind}, which it does not list"
