"""docs/agents.md and the agents' sources say what the schemas say."""

import re
from pathlib import Path

import pytest
from programs.agent_program import AGENTS
from schema_check import schemas

TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
CODES = {-32700, -32600, -32601, -32602, -32001, -32002, -32003, -32004}
SOURCES = {
    "go": ("go/protocol.go", ()),
    "python": ("python/tidscope_agent/protocol.py", ()),
    # One thread serves, and it is gone when the agent is closed: nobody can be reported.
    # As in Java.
    "rust": ("rust/tidscope_agent/src/failure.rs", (-32002,)),
    "java": ("java/src/main/java/tidscope/agent/Failure.java", (-32002,)),
}


def test_every_member_is_reported() -> None:
    reported = set(re.findall(r"`([a-z_]+)`", TEXT))
    for title in ("AgentHello", "AgentReading", "AgentSize", "AgentSetParams"):
        assert set(schemas()[title]["properties"]) <= reported
    methods = {*schemas()["AgentCall"]["properties"]["method"]["enum"], "set", "restart_search"}
    assert methods <= reported
    for word in schemas()["AgentKnob"]["enum"]:
        assert word in TEXT


def test_the_table_of_errors() -> None:
    reported = [int(code.replace("−", "-")) for code in re.findall(r"^\| (−\d+) ", TEXT, re.M)]
    assert set(reported) == CODES
    assert len(reported) == len(CODES)


@pytest.mark.parametrize("language", SOURCES)
def test_agents_have_these_codes(language: str) -> None:
    path, missing = SOURCES[language]
    found = {int(code) for code in re.findall(r"-32\d{3}", (AGENTS / path).read_text())}
    assert found == CODES - set(missing)


def test_the_schema_of_errors_tells_our_own() -> None:
    said = schemas()["AgentError"]["properties"]["code"]["description"]
    own = {code for code in CODES if code > -32100}
    assert {int(code) for code in re.findall(r"-32\d{3}", said)} == own
