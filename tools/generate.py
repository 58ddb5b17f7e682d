"""Write the generated Python from `shared/schemas/`: models and tables of constants.

The page's generated TypeScript is made by its build: frontend/generate/wireCode.mjs.

The sources are the message schemas (`*.schema.json`, one file for each topic, its messages under
`$defs`), the field catalogue (`fields.json`), the problem kinds (`problems.json`), the columns of
the tables in frames (`frame_tables.json`) and the limits that two sides have to agree on
(`limits.json`).

`python tools/generate.py` rewrites the files; with `--check` it writes nothing, names the files
that differ from what the schemas say, and exits 1 if any does.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "shared" / "schemas"
PYTHON_OUT = Path("shared/tidscope_wire/generated")
ROOT_TITLE = "BundleRoot"
"""Generators need a root that refers to all types; its own type is taken out again."""
PROBLEM_SCHEMAS = "problems.schema.json"
NOTE = "Generated from shared/schemas by tools/generate.py. Do not edit."

ROWS_TEXT = '''"""Life cycle of the rows of a table.

figures: a row replaces an earlier one with its key; one whose figures are all 0 deletes it.
names: the same, but no row is deleted.
log: rows are added, and repeated by no key frame; a row completes an earlier one with its key.
"""'''

Json = dict[str, Any]


def load_schemas() -> dict[str, Json]:
    """Read the definitions of all topics, by name, in the order of their names.

    A definition's name is also its title: the generators name types after titles.
    """
    topics = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.schema.json")}
    places = {f"{file}#/$defs/{name}" for file, topic in topics.items() for name in topic["$defs"]}
    schemas: dict[str, Json] = {}
    for file, topic in topics.items():
        if topic["$id"] != file:
            raise SystemExit(f"{file}: $id is {topic['$id']!r}, and must be the file's name")
        for reference in _references(topic):
            if (file + reference if reference.startswith("#") else reference) not in places:
                raise SystemExit(f"{file}: {reference} does not exist")
        for name, schema in topic["$defs"].items():
            if name in schemas:
                raise SystemExit(f"{file}: another topic defines {name}, too")
            schemas[name] = {"title": name, **schema}
    return dict(sorted(schemas.items()))


def reachable(schemas: dict[str, Json], roots: Iterable[str]) -> dict[str, Json]:
    """The schemas with these names and all that they refer to, in the order of `schemas`."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_name(reference) for reference in _references(schemas[name]))
    return {name: schema for name, schema in schemas.items() if name in found}


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from _references(one)


def _name(reference: str) -> str:
    """Name of the definition that a `$ref` points to."""
    return reference.rpartition("/")[2]


def bundle(schemas: dict[str, Json]) -> Json:
    """Put schemas into one document as `$defs`, with references between topics made local."""

    def local(node: Any) -> Any:
        if isinstance(node, list):
            return [local(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return {**node, "$ref": f"#/$defs/{_name(node['$ref'])}"}
        return {key: local(value) for key, value in node.items()}

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": ROOT_TITLE,
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in schemas},
        "additionalProperties": False,
        "$defs": {name: local(schema) for name, schema in schemas.items()},
    }


def run(command: list[str]) -> str:
    """Run a generator; its output is shown only if it fails.

    Returns:
        What it printed.
    """
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def python_models(wire: Json, work: Path) -> str:
    """Generate pydantic models of every message."""
    source, out = work / "bundle.json", work / "models.py"
    source.write_text(json.dumps(wire))
    run(
        [
            str(Path(sys.executable).with_name("datamodel-codegen")),
            *("--input", str(source), "--input-file-type", "jsonschema"),
            *("--output", str(out), "--output-model-type", "pydantic_v2.BaseModel"),
            *("--base-class", "tidscope_wire.message.Message"),
            *("--target-python-version", "3.11", "--use-annotated", "--use-standard-collections"),
            *("--use-union-operator", "--enum-field-as-literal", "all", "--use-schema-description"),
            *("--use-field-description", "--use-type-alias", "--disable-timestamp"),
            # Annotations that are strings take half of the time that loading the models takes.
            "--disable-future-imports",
            *("--use-one-literal-as-default", "--use-title-as-name", "--strict-nullable"),
            *("--formatters", "ruff-format"),
            *("--custom-file-header", f'"""{NOTE}"""'),
        ]
    )
    return without(rf"\n\nclass {ROOT_TITLE}\(Message\):\n.*?(?=\n\n\n|\Z)", out.read_text())


def without(pattern: str, text: str) -> str:
    """Take out what matches, which has to be there once."""
    left, count = re.subn(pattern, "", text, flags=re.DOTALL | re.MULTILINE)
    if count != 1:
        raise SystemExit(f"the type of the bundle's root is there {count} times")
    return left.rstrip("\n") + "\n"


def close_codes(schemas: dict[str, Json]) -> str:
    """Close codes, as an IntEnum."""
    lines = [f'"""{NOTE}"""', "", "from enum import IntEnum", "", "", "class CloseCode(IntEnum):"]
    lines.append(f'    """{schemas["CloseCode"]["description"]}"""')
    for code in schemas["CloseCode"]["oneOf"]:
        lines += ["", f"    {code['title'].upper()} = {code['const']}"]
        lines.append(f'    """{code["description"]}"""')
    return "\n".join(lines) + "\n"


def problem_kinds() -> list[Json]:
    """Rows of problems.json."""
    rows: list[Json] = json.loads((SCHEMAS / "problems.json").read_text())["problems"]
    return rows


def problem_types() -> str:
    """The schemas of problems, with the kinds of the table as the values of ProblemType."""
    kinds = ",\n".join(f'        "{row["kind"]}"' for row in problem_kinds())
    text = (SCHEMAS / PROBLEM_SCHEMAS).read_text()
    pattern = r'("ProblemType": \{.*?"enum": \[\n).*?(\n      \])'
    made, count = re.subn(pattern, rf"\g<1>{kinds}\g<2>", text, count=1, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{PROBLEM_SCHEMAS}: ProblemType has no list of values")
    return made


def problems() -> str:
    """The table of problems, as a Python module."""
    lines = [
        f'"""{NOTE}"""',
        "",
        "from typing import Literal, NamedTuple",
        "",
        "from tidscope_wire.generated.models import ProblemType",
        "",
        "",
        "class ProblemKind(NamedTuple):",
        '    """HTTP status and title of a kind of problem, and who raises it."""',
        "",
        "    status: int",
        "    title: str",
        '    raised_by: tuple[Literal["backend", "collector"], ...]',
        "",
        "",
        "PROBLEMS: dict[ProblemType, ProblemKind] = {",
    ]
    for row in problem_kinds():
        by = "".join(f"{json.dumps(one)}, " for one in row["raised_by"])
        lines.append(f"    # {row['description']}")
        title = json.dumps(row["title"])
        lines.append(f'    "{row["kind"]}": ProblemKind({row["status"]}, {title}, ({by})),')
    return "\n".join([*lines, "}"]) + "\n"


def limits() -> str:
    """The limits, as constants."""
    lines = [f'"""{NOTE}"""', ""]
    for row in json.loads((SCHEMAS / "limits.json").read_text())["limits"]:
        value = row.get("value")
        if value is None:
            value = json.loads((SCHEMAS / row["schema"]).read_text())
            for step in row["pointer"].strip("/").split("/"):
                value = value[step]
        lines += [f"{row['name']} = {value:_}", f'"""{row["description"]}"""']
    return "\n".join(lines) + "\n"


def catalogue() -> str:
    """The field catalogue."""
    document = json.loads((SCHEMAS / "fields.json").read_text())
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return (
        f'"""{NOTE}"""\n\nfrom tidscope_wire.generated.models import FieldCatalogue\n\n'
        f'CATALOGUE = FieldCatalogue.model_validate_json(\n    r"""\n{text}\n"""\n)\n'
    )


def frame_tables() -> str:
    """The columns of the tables in frames."""
    tables = json.loads((SCHEMAS / "frame_tables.json").read_text())["tables"]
    lines = [
        f'"""{NOTE}"""',
        "",
        "from typing import Literal",
        "",
        "from tidscope_wire.generated.models import TableName",
        "",
        'ColumnType = Literal["uint32", "uint64", "utf8"]',
        'RowKind = Literal["figures", "names", "log"]',
        "",
        "COLUMNS: dict[TableName, dict[str, ColumnType]] = {",
    ]
    for table in tables:
        lines += [f"    # {table['meaning']}", f'    "{table["name"]}": {{']
        for column in table["columns"]:
            lines += [f"        # {column['meaning']}"]
            lines += [f'        "{column["name"]}": "{column["type"]}",']
        lines.append("    },")
    lines += ["}", "", "KEYS: dict[TableName, tuple[str, ...]] = {"]
    for table in tables:
        quoted = [f'"{column["name"]}"' for column in table["columns"] if column["key"]]
        comma = "," if len(quoted) == 1 else ""
        lines.append(f'    "{table["name"]}": ({", ".join(quoted)}{comma}),')
    lines += ["}", '"""Columns that tell the rows of a table apart, the first ones."""']
    lines += ["", "ROWS: dict[TableName, RowKind] = {"]
    lines += [f'    "{table["name"]}": "{table["rows"]}",' for table in tables]
    lines += ["}", ROWS_TEXT]
    return "\n".join(lines) + "\n"


def generate() -> dict[Path, str]:
    """Make every generated file.

    Returns:
        Path below the root to content.
    """
    schemas = load_schemas()
    schemas["ProblemType"]["enum"] = [row["kind"] for row in problem_kinds()]
    messages = {name: one for name, one in schemas.items() if name != "CloseCode"}
    agent = reachable(messages, [name for name in messages if name.startswith("Agent")])
    others = {name: one for name, one in messages.items() if not name.startswith("Agent")}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        return {
            SCHEMAS.relative_to(ROOT) / PROBLEM_SCHEMAS: problem_types(),
            PYTHON_OUT / "models.py": python_models(bundle(others), work),
            PYTHON_OUT / "agent.py": python_models(bundle(agent), work),
            PYTHON_OUT / "close_code.py": close_codes(schemas),
            PYTHON_OUT / "catalogue.py": catalogue(),
            PYTHON_OUT / "problems.py": problems(),
            PYTHON_OUT / "limits.py": limits(),
            PYTHON_OUT / "frame_tables.py": frame_tables(),
        }


def main() -> int:
    """Generate, or check; see the module's text."""
    parser = argparse.ArgumentParser(description="Write the generated code.")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on differences")
    check = parser.parse_args().check
    stale = []
    for path, content in generate().items():
        target = ROOT / path
        if target.exists() and target.read_text() == content:
            continue
        stale.append(path)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
    for path in stale:
        print(f"{path}: {'differs from shared/schemas; run make generate' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
