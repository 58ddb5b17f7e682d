"""tools/check_coverage.py: the share of branches that are covered can only rise."""

import json
from pathlib import Path

import pytest
from tool_scripts import TOOLS, run_tool


@pytest.mark.parametrize(
    ("covered", "status", "said"),
    [
        (799, 1, "79.9 % of all branches are covered, and tools/coverage.json asks for 80 %"),
        (800, 0, "80.0 % of all branches are covered, 80 % at least"),
        (809, 0, "80.9 % of all branches are covered, 80 % at least"),
        (825, 0, "82.5 % of all branches are covered; raise the 80 % in tools/coverage.json to 82"),
    ],
)
def test_less_fails_and_more_asks_for_a_higher_floor(
    covered: int, status: int, said: str, tmp_path: Path
) -> None:
    report, floor = tmp_path / "report.json", tmp_path / "floor.json"
    report.write_text(json.dumps({"totals": {"covered_branches": covered, "num_branches": 1000}}))
    floor.write_text(json.dumps({"branches_percent": 80}))
    assert run_tool("check_coverage.py", report, floor) == (status, f"{said}\n")


def test_our_own_floor_is_a_share() -> None:
    floor = json.loads((TOOLS / "coverage.json").read_text())
    assert set(floor) == {"branches_percent"}
    assert 50 < floor["branches_percent"] <= 100
