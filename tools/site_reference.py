"""Reference pages of the docs site, made from the code: command line, HTTP, messages and fields."""

import argparse
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from generate import load_schemas
from tidscope_backend.app import create_app
from tidscope_backend.cli import VERBS, load, parser_of_all
from tidscope_backend.metrics.role_families import ROLE_FIELDS
from tidscope_backend.metrics.target_families import PROCESS_FIELDS
from tidscope_backend.security.rights import ROUTES
from tidscope_backend.settings import Settings
from tidscope_wire.generated.catalogue import CATALOGUE

Json = dict[str, Any]
COLUMNS = "96"
"""Width of help texts, in characters."""


def reference_pages() -> dict[str, str]:
    """Return all pages: path in the docs site to text."""
    return {
        "reference/cli.md": "\n".join(command_line()),
        "reference/http.md": "\n".join(http()),
        "reference/messages.md": "\n".join(messages()),
        "reference/fields.md": "\n".join(fields()),
    }


def command_line() -> Iterator[str]:
    """Yield the help of the command line and of each verb."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        yield from ("# Command line", "", "Made from the parsers of `tidscope`.", "")
        yield from _help(parser_of_all())
        for verb in VERBS:
            yield from (f"## {verb}", "")
            yield from _helps(load(verb).parser())
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def _helps(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the help of a parser and of its subcommands."""
    yield from _help(parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from (f"### {parser.prog.removeprefix('tidscope ')} {name}", "")
                yield from _helps(inner)


def _help(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from ("```", parser.format_help().strip(), "```", "")


def http() -> Iterator[str]:
    """Yield the HTTP operations of the OpenAPI document, each with the right it needs."""
    document = create_app(Settings(token="t" * 16, collector_secret="s" * 16)).openapi()
    yield from ("# HTTP API", "", "Made from the OpenAPI document, which a backend serves at")
    yield from (
        "`/openapi.json`. Rights are explained in [Rights](../docs/rights.md).",
        "",
    )
    for path, operations in sorted(document["paths"].items()):
        for method, operation in operations.items():
            yield from _operation(method.upper(), path, operation)


def _operation(method: str, path: str, operation: Json) -> Iterator[str]:
    yield from (f"## {method} {path}", "")
    right = ROUTES[method, path]
    yield from (f"{_flat(operation.get('description') or operation['summary'])}", "")
    yield from (f"Right: {right}.", "")
    parameters = operation.get("parameters", [])
    if parameters:
        yield from ("| parameter | in | type | |", "| --- | --- | --- | --- |")
        for one in parameters:
            name = f"`{one['name']}`" + (", required" if one.get("required") else "")
            text = _flat(one.get("description", ""))
            yield f"| {name} | {one['in']} | {_type(one['schema'])} | {text} |"
        yield ""
    body = operation.get("requestBody")
    if body:
        yield from (f"Body: {_contents(body)}.", "")
    for code, answer in sorted(operation["responses"].items()):
        yield f"- {code}: {_flat(answer['description'])}{_in(answer)}"
    yield ""


def _in(answer: Json) -> str:
    made = _contents(answer)
    return f": {made}" if made else ""


def _contents(part: Json) -> str:
    """Return media types and schemas of a body."""
    found = []
    for media, content in part.get("content", {}).items():
        schema = _type(content.get("schema", {}))
        found.append(f"`{media}`" + (f" {schema}" if schema else ""))
    return ", ".join(found)


def messages() -> Iterator[str]:
    """Yield all schemas with their members."""
    schemas = _schemas()
    yield from (
        "# Messages",
        "",
        "Made from `shared/schemas`, the source of all messages on the wire,",
    )
    yield from ("in files and over HTTP.", "")
    for name, schema in schemas.items():
        yield from (f"## {name}", "")
        if "description" in schema:
            yield from (_flat(schema["description"]), "")
        properties = schema.get("properties")
        if not properties:
            yield from (
                _type({k: v for k, v in schema.items() if k != "title"}) or "Any value.",
                "",
            )
            continue
        required = schema.get("required", [])
        yield from ("| member | type | |", "| --- | --- | --- |")
        for member, inner in properties.items():
            mark = "" if member in required else ", optional"
            yield f"| `{member}`{mark} | {_type(inner)} | {_flat(inner.get('description', ''))} |"
        yield ""


def _type(schema: Json) -> str:
    """Return a schema in words; other schemas by a link."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](messages.md#{name.lower()})" if name in _schemas() else f"`{name}`"
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(f"`{value}`" for value in values)
    several = schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf")
    if several:
        return " or ".join(map(_type, several))
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_type(schema.get('items', {})) or 'values'}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties']) or 'values'}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


@cache
def _schemas() -> dict[str, Json]:
    return load_schemas()


def fields() -> Iterator[str]:
    """Yield the catalogue of fields, each with its metric."""
    yield from (
        "# Fields and metrics",
        "",
        "Made from the field catalogue (`shared/schemas/fields.json`).",
    )
    yield from ("[Metrics](../docs/metrics.md) has all others, those of states among them.", "")
    yield from ("| field | unit | exactness | meaning |", "| --- | --- | --- | --- |")
    metrics = {each.field: each.name for each in (*ROLE_FIELDS, *PROCESS_FIELDS)}
    for field in CATALOGUE.fields:
        metric = f" Metric: `{metrics[field.name]}`." if field.name in metrics else ""
        meaning = _flat(f"{field.label}. {field.meaning}")
        yield f"| `{field.name}` | {field.unit} | {field.provenance} | {meaning}{metric} |"


def _flat(text: str) -> str:
    """Return a text as one line that a cell can hold."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")
