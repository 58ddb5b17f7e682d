"""docs/locks.md: its options, hints and rules are those of the code, its example is read."""

import inspect
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from tidscope_backend.cli.locks import COMMAND, THRESHOLD_PERCENT
from tidscope_backend.locks import hints
from tidscope_backend.locks.experiments import DEVIATION, REPEATS, VERSION

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "locks.md").read_text()
COMMANDS = [line for line in TEXT.splitlines() if line.startswith("tidscope locks")]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_understood(line: str) -> None:
    options = COMMAND.parser().parse_args(shlex.split(line)[2:])
    assert options.packages == ["./..."]


def test_all_hints_are_listed() -> None:
    listed = re.findall(r"^\| `([a-z-]+)`", TEXT, re.MULTILINE)
    source = "".join(inspect.getsource(rule) for rule in hints.RULES)
    assert listed == re.findall(r'Hint\(\s+"([a-z-]+)"', source)


def test_numbers_are_those_of_the_code() -> None:
    assert f"below {THRESHOLD_PERCENT:g} %" in TEXT
    assert f"{hints.LONG_INSTRUCTIONS} instructions or more" in TEXT
    assert hints.READ_SHARE == 0.5


def test_the_example_is_an_experiment() -> None:
    example = tomllib.loads(TEXT.split("```toml\n")[1].split("```")[0])
    assert example["version"] == VERSION
    assert example["repeats"] == {**REPEATS, "deviation": DEVIATION}


def test_rules_of_pairing_are_those_of_the_program() -> None:
    pairing = (ROOT / "advisor" / "analysis" / "pairing.go").read_text()
    for rule in ("dominance", "defer", "paths"):
        assert f"- `{rule}`:" in TEXT
        assert f'return "{rule}"' in pairing


def test_the_oldest_toolchain_is_that_of_the_module() -> None:
    found = re.search(r"^go (\d+\.\d+)", (ROOT / "advisor" / "go.mod").read_text(), re.MULTILINE)
    assert found is not None
    assert f"Go {found[1]} or newer" in TEXT
