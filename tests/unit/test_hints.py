"""Hints of refusals speak to people at a page or a terminal: routes are the API's own matter."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
REFUSALS = {"refusal", "refuse", "problem", "Problem", "ProblemError", "RefusedError"}
ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) /|/api/v\d|\b(past_s|duration_s)\b")


def texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def refusal_texts() -> Iterator[tuple[str, str]]:
    """File and line of each text of a refusal, with the text."""
    for package in ("backend/tidscope_backend", "collector/tidscope_collector", "shared"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if called in REFUSALS:
                    where = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield from ((where, text) for text in texts(node))


def test_no_refusal_names_a_route() -> None:
    found = list(refusal_texts())
    assert len(found) > 100
    assert [(where, text) for where, text in found if ROUTE.search(text)] == []
