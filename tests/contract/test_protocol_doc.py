"""docs/protocol.md says what the schemas say: nothing less, and nothing that does not exist."""

import re
from pathlib import Path

import pytest
from schema_check import members, schemas
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.problems import PROBLEMS

PAGE = Path(__file__).parent.parent.parent / "docs" / "protocol.md"
TEXT = PAGE.read_text()
CODE = re.compile(r"`([^`\n]+)`")
SCHEMA = re.compile(r"(?:[A-Z][a-z0-9]+)+")
UNIONS = ("CollectorMessage", "CollectorCommand", "LiveCommand", "LiveMessage", "TargetEvent")


def section(word: str) -> str:
    """The part of the page whose heading has this word in backticks."""
    (found,) = [part for part in re.split(r"^## ", TEXT, flags=re.M) if f"`{word}`" in _head(part)]
    return found


def _head(part: str) -> str:
    return part.split("\n", 1)[0]


def rows(part: str) -> list[list[str]]:
    """Cells of its table without the head, backticks taken off."""
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines[2:]]


def test_each_schema_is_named_and_no_other() -> None:
    named = {word for word in CODE.findall(TEXT) if SCHEMA.fullmatch(word)}
    assert named == set(schemas())


@pytest.mark.parametrize("union", UNIONS)
def test_tables_of_messages_are_the_unions(union: str) -> None:
    reported = rows(section(union))
    assert {title: tag for title, tag, _ in reported} == members(union)
    assert len(reported) == len(members(union))


def test_these_are_all_unions() -> None:
    tagged = {title for title, schema in schemas().items() if "discriminator" in schema}
    assert tagged == set(UNIONS)


def test_close_codes() -> None:
    reported = {int(code): name for code, name, _ in rows(section("CloseCode"))}
    assert reported == {code.value: code.name.lower() for code in CloseCode}
    assert {int(code) for code in re.findall(r"\b4[0-9]{3}\b", TEXT)} == set(reported)


def test_problems() -> None:
    reported = {
        kind: (int(status), title) for kind, status, title, _ in rows(section("ProblemType"))
    }
    assert reported == {kind: (row.status, row.title) for kind, row in PROBLEMS.items()}
    assert set(reported) == set(schemas()["ProblemType"]["enum"])


def test_fields_of_messages_that_are_named_exist() -> None:
    known = {"tid", "name"}
    for schema in schemas().values():
        known |= {*schema.get("properties", {}), *schema.get("required", [])}
        known |= {schema.get("properties", {}).get("type", {}).get("const", "type")}
    known |= {field.name for field in CATALOGUE.fields} | set(COLUMNS)
    known |= {column for columns in COLUMNS.values() for column in columns}
    known |= {"start_ns", *(code.name.lower() for code in CloseCode)}
    named = {word for word in CODE.findall(TEXT) if re.fullmatch(r"[a-z]+(_[a-z]+)*", word)}
    assert named <= known | set(PROBLEMS)


def test_tables_of_frames() -> None:
    part = TEXT.partition("**Tables** are facts")[2].partition("\n- ")[0]
    reported = [(name, tuple(re.findall(r"\w+", keys))) for name, keys, _ in rows(part)]
    assert reported == list(KEYS.items())


def test_version() -> None:
    assert f"The version is {PROTOCOL_VERSION}," in TEXT
