"""The benchmark of faults, small: two of its cells, as it runs them, at the same time."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from capabilities import missing, needs
from faults import cells

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "faults.py"
CELLS = ("helper/kill/process", "target/kill/process")


def outcome(cell: str) -> tuple[int, dict[str, Any]]:
    """Run a cell; the benchmark's status, and what it found."""
    command = [sys.executable, str(BENCHMARK), "--quick", "--json", "--cells", cell]
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    (found,) = json.loads(done.stdout)["cells"]
    if "unshare" in found.get("failed", ""):
        raise missing("mount-namespace", found["failed"])
    return done.returncode, found


@needs("root")
def test_nothing_is_lost_or_counted_twice() -> None:
    with ThreadPoolExecutor(len(CELLS)) as pool:
        outcomes = dict(zip(CELLS, pool.map(outcome, CELLS), strict=True))
    for cell, (status, found) in outcomes.items():
        assert (status, found["said"]) == (0, True), (cell, found)
        assert (found["lost_threads"], found["twice_threads"]) == (0, 0), found
        assert all(state.startswith("complete: ") for state in found["runs"]), found


def test_a_pattern_leaves_out_what_cannot_be() -> None:
    assert cells("helper/disk-*") == []
    assert cells("none/forks/*") == ["none/forks/tree"]
    assert len(cells("*")) == 75 - 6 + 27 - 2
