"""Count the escape hatches out of type checker and linter; their numbers may only fall.

`python tools/check_escapes.py [ROOT]` compares what the sources hold with tools/escapes.json. It
exits 1 if there are more of a kind, and also if there are fewer: then the number is to be lowered,
so that it cannot rise again.
"""

import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from command_line import check_tree

LIST = Path("tools/escapes.json")
SKIPPED = {"node_modules", "generated", "web", "dist", "test-output", "__pycache__"}

PYTHON = {
    "type: ignore": re.compile(r"#\s*type:\s*ignore\b"),
    "noqa": re.compile(r"#\s*(?:ruff:\s*|flake8:\s*)?noqa\b", re.IGNORECASE),
}
"""Looked for in comments."""

TYPESCRIPT = {
    "any": re.compile(r"\bas any\b|:\s*any\b(?=\s*[\[\],;)=>|&{}])|<any\b|\bas unknown as\b"),
    "biome-ignore": re.compile(r"(?://|/\*|\{/\*).*\bbiome-ignore"),
    "ts-expect-error": re.compile(r"(?://|/\*).*@ts-(?:expect-error|ignore|nocheck)\b"),
}
"""Looked for in lines; `as unknown as` turns a type into any other, like `any`."""

CSS = {"biome-ignore": TYPESCRIPT["biome-ignore"]}
SUFFIXES = {".py", ".ts", ".tsx", ".js", ".mjs", ".css"}
KINDS = (*PYTHON, *TYPESCRIPT)


def find(root: Path) -> Iterator[tuple[str, str]]:
    """Each escape hatch in the sources: its kind, and `file:line`."""
    for path in _sources(root):
        lines: Iterator[tuple[int, str]] = enumerate(path.read_text().splitlines(), 1)
        patterns = CSS if path.suffix == ".css" else TYPESCRIPT
        if path.suffix == ".py":
            lines, patterns = _comments(path), PYTHON
        for line, words in lines:
            for kind, pattern in patterns.items():
                for _ in pattern.finditer(words):
                    yield kind, f"{path.relative_to(root)}:{line}"


def _sources(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in SKIPPED or path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            yield from _sources(path)
        elif path.suffix in SUFFIXES:
            yield path


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def check(root: Path) -> list[str]:
    """All that is wrong in a source tree, one line each."""
    allowed: dict[str, int] = json.loads((root / LIST).read_text())
    if set(allowed) != set(KINDS):
        return [f"{LIST} must have exactly these kinds: {', '.join(sorted(KINDS))}"]
    places = list(find(root))
    counts = Counter(kind for kind, _ in places)
    wrong: list[str] = []
    for kind, most in allowed.items():
        if counts[kind] > most:
            wrong.append(f"{kind}: {counts[kind]}, and no more than {most} are allowed:")
            wrong += [f"  {place}" for found, place in places if found == kind]
        elif counts[kind] < most:
            wrong.append(f"{kind}: {counts[kind]} left; lower the {most} in {LIST}")
    return wrong


if __name__ == "__main__":
    sys.exit(check_tree(check))
