"""docs/locks.md: its options, hints and rules are those of the code, its example is read."""

import inspect
import re
import shlex
from pathlib import Path

import pytest
from tidscope_backend.cli.locks import COMMAND, THRESHOLD_PERCENT
from tidscope_backend.experiments.definition import read_definition
from tidscope_backend.experiments.workload import workloads_folder
from tidscope_backend.locks import findings
from tidscope_backend.locks.experiments import DEVIATION, MEASURE_S, REPEATS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "locks.md").read_text()
COMMANDS = [line for line in TEXT.splitlines() if line.startswith("tidscope locks")]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_understood(line: str) -> None:
    options = COMMAND.parser().parse_args(shlex.split(line)[2:])
    assert options.packages == ["./..."]


def test_all_hints_are_listed() -> None:
    listed = re.findall(r"^\| `([a-z-]+)`", TEXT, re.MULTILINE)
    source = "".join(inspect.getsource(rule) for rule in findings.RULES)
    assert listed == re.findall(r'Hint\(\s+"([a-z-]+)"', source)


def test_numbers_are_those_of_the_code() -> None:
    assert f"below {THRESHOLD_PERCENT:g} %" in TEXT
    assert f"{findings.LONG_INSTRUCTIONS} instructions or more" in TEXT
    assert findings.READ_SHARE == 0.5


def test_the_example_is_an_experiment(tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_text(TEXT.split("```toml\n")[1].split("```")[0])
    example = read_definition(path, workloads_folder(), quick=False)
    rules = example.repeats
    assert {"least": rules.least, "most": rules.most} == REPEATS
    assert (rules.deviation, example.time.measure_s) == (DEVIATION, MEASURE_S)


def test_rules_of_pairing_are_those_of_the_program() -> None:
    pairing = (ROOT / "advisor" / "analysis" / "pairing.go").read_text()
    for rule in ("dominance", "defer", "paths"):
        assert f"- `{rule}`:" in TEXT
        assert f'return "{rule}"' in pairing


def test_the_oldest_toolchain_is_that_of_the_module() -> None:
    found = re.search(r"^go (\d+\.\d+)", (ROOT / "advisor" / "go.mod").read_text(), re.MULTILINE)
    assert found is not None
    assert f"Go {found[1]} or newer" in TEXT
