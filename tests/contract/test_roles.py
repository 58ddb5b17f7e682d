"""The rule of roles: one table for Python and the page (frontend/src/stream/threads.test.ts)."""

import json
from pathlib import Path

import pytest
from tidscope_wire.role import RoleRule, role_of

CASES = json.loads(Path(__file__).with_name("roles.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "role"), CASES)
def test_role_of_a_name(name: str, role: str) -> None:
    assert role_of(name) == role


BY_RULES = json.loads(Path(__file__).with_name("role_rules.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("rules", "name", "role"), BY_RULES)
def test_a_person_s_own_rules_come_first(rules: list[list[str]], name: str, role: str) -> None:
    assert role_of(name, [RoleRule(*rule) for rule in rules]) == role
