"""docs/security.md names a test for each promise, and each of these tests exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOC = ROOT / "docs" / "security.md"
NAMED = re.compile(r"`((?:tests|frontend)/[\w./-]+)(?:::([\w\[\]-]+))?`")


def promises() -> list[str]:
    text = DOC.read_text().partition("\n## Promises\n")[2].partition("\n## Not promised\n")[0]
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("promise", promises())
def test_a_test_stands_behind_each_promise(promise: str) -> None:
    named = NAMED.findall(promise)
    assert named, "name the test behind it: `tests/…/test_x.py::test_name`"
    for path, name in named:
        file = ROOT / path
        assert file.is_file(), path
        if name:
            assert re.search(rf"def {re.escape(name)}\(", file.read_text()), f"{path}::{name}"
