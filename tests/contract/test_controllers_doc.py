"""docs/controllers.md lists every policy with its parameters, every scenario, and results."""

from pathlib import Path

import pytest
from tidscope_backend.cli.policy_bench import BEGIN, END, shipped
from tidscope_policies.registry import POLICIES

PAGE = (Path(__file__).parents[2] / "docs" / "controllers.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """What stands under a heading, up to the next one."""
    found = PAGE.partition(f"\n{heading}\n")[2]
    assert found, f"{heading} is missing"
    return found.split("\n#")[0]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines][2:]


@pytest.mark.parametrize("name", list(POLICIES))
def test_a_policy_and_its_parameters(name: str) -> None:
    text = section(f"### {name}")
    assert POLICIES[name].meaning in text
    assert rows(text) == [
        [
            f"`{info.name}`",
            *(f"{info.default:g}", info.unit, f"{info.low:g}", f"{info.high:g}"),
            info.meaning,
        ]
        for info in POLICIES[name].parameters
    ]


def test_no_policy_that_there_is_not() -> None:
    policies = PAGE.partition("\n## Policies\n")[2].partition("\n## ")[0]
    headings = [line[4:] for line in policies.splitlines() if line.startswith("### ")]
    assert headings == list(POLICIES)


def test_scenarios() -> None:
    found = {plant.name: plant.title for plant in shipped()}
    listed = [row for row in rows(section("## The bench")) if row[0] in found]
    assert listed == [list(each) for each in found.items()]


def test_results_of_every_policy_on_every_scenario() -> None:
    results = PAGE.partition(BEGIN)[2].partition(END)[0]
    assert "Machine: " in results
    assert "Commit: " in results
    head = next(line for line in results.splitlines() if line.startswith("| policy"))
    names = [scenario.name for scenario in shipped()]
    assert [cell.strip() for cell in head.split("|")[2 : 2 + len(names)]] == names
    alone = [name for name, entry in POLICIES.items() if not entry.arbitrated]
    assert [row[0] for row in rows(results)] == alone
