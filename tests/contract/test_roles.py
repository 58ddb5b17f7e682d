"""The rule of roles: one table for Python and for the page (frontend/src/model/threads.test.ts)."""

import json
from pathlib import Path

import pytest
from tidscope_wire.role import role_of

CASES = json.loads(Path(__file__).with_name("roles.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "role"), CASES)
def test_role_of_a_name(name: str, role: str) -> None:
    assert role_of(name) == role
