"""tools/check_escapes.py: the number of escape hatches can only fall."""

import json
from pathlib import Path

import pytest
from tool_scripts import run_tool, write_tree

KINDS = ("any", "biome-ignore", "noqa", "ts-expect-error", "type: ignore")
HATCHES = [
    ("type: ignore", "backend/a.py", "x = f()  # type: ignore[arg-type]\n"),
    ("noqa", "collector/a.py", "import x  # noqa: F401\n"),
    ("noqa", "tests/a.py", "# ruff: noqa\n"),
    ("any", "frontend/src/a.ts", "const a = b as any;\n"),
    ("any", "frontend/src/b.ts", "function f(a: any) {}\n"),
    ("any", "frontend/src/c.ts", "const a = new Map<any, string>();\n"),
    ("any", "frontend/src/d.ts", "const a = b as unknown as C;\n"),
    ("biome-ignore", "frontend/src/e.tsx", "// biome-ignore lint/a: b\n"),
    ("biome-ignore", "frontend/src/e.css", "/* biome-ignore lint/a: b */\n"),
    ("ts-expect-error", "tests/e2e/f.ts", "// @ts-expect-error\n"),
    ("ts-expect-error", "tests/e2e/g.ts", "// @ts-ignore\n"),
]
HARMLESS = {
    "backend/words.py": 'TEXT = "# type: ignore, # noqa"\n"""# noqa"""\nAny = 1\n',
    "frontend/src/words.ts": 'const note = "any of these: any";\nconst company = 1;\n',
    "frontend/src/wire/generated/models.ts": "const a = b as any;\n",
    "node_modules/x/a.ts": "const a = b as any;\n",
}


def complaints(root: Path, files: dict[str, str], **allowed: int) -> str:
    numbers = {kind: allowed.get(kind, 0) for kind in KINDS}
    write_tree(root, {**HARMLESS, **files, "tools/escapes.json": json.dumps(numbers)})
    code, text = run_tool("check_escapes.py", root)
    assert code == (1 if text else 0)
    return text


def test_tree_without_any_passes(tmp_path: Path) -> None:
    assert complaints(tmp_path, {}) == ""


@pytest.mark.parametrize(("kind", "path", "text"), HATCHES)
def test_one_more_is_refused_and_placed(tmp_path: Path, kind: str, path: str, text: str) -> None:
    assert complaints(tmp_path, {path: text}) == (
        f"{kind}: 1, and no more than 0 are allowed:\n  {path}:1\n"
    )


@pytest.mark.parametrize(("kind", "path", "text"), HATCHES)
def test_as_many_as_allowed_pass(tmp_path: Path, kind: str, path: str, text: str) -> None:
    assert complaints(tmp_path, {path: text}, **{kind: 1}) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_than_allowed_asks_to_lower_the_number(tmp_path: Path, kind: str) -> None:
    assert complaints(tmp_path, {}, **{kind: 2}) == (
        f"{kind}: 0 left; lower the 2 in tools/escapes.json\n"
    )


def test_list_without_a_kind_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path, {"tools/escapes.json": "{}"})
    code, text = run_tool("check_escapes.py", tmp_path)
    assert code == 1
    assert "exactly these kinds" in text
