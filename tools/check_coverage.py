"""Check the share of branches that the tests cover; it may only rise.

`python tools/check_coverage.py [REPORT [FLOOR]]` compares coverage.py's JSON report of
`make test-deep` with the floor in tools/coverage.json. It exits 1 below the floor, and says when to
raise it.

Only unit and contract tests are measured: tracing costs two thirds more CPU time, and what the
integration tests run is mostly in processes of their own.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "test-output" / "coverage" / "report.json"
FLOOR = ROOT / "tools" / "coverage.json"
ROOM = 1.0
"""Percent above the floor from which on it is to be raised; two runs differ by less."""


def verdict(percent: float, floor: float) -> tuple[int, str]:
    """Exit status, and what to say."""
    found = f"{percent:.1f} % of all branches are covered"
    if percent < floor:
        return 1, f"{found}, and tools/{FLOOR.name} asks for {floor} %"
    if percent >= floor + ROOM:
        return 0, f"{found}; raise the {floor} % in tools/{FLOOR.name} to {int(percent)}"
    return 0, f"{found}, {floor} % at least"


def main() -> int:
    """Check the files that are named, or the default ones."""
    report, floor = (*map(Path, sys.argv[1:]), *(REPORT, FLOOR)[len(sys.argv) - 1 :])
    totals = json.loads(report.read_text())["totals"]
    percent = 100 * totals["covered_branches"] / totals["num_branches"]
    status, text = verdict(percent, json.loads(floor.read_text())["branches_percent"])
    print(text, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
