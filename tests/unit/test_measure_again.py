"""Which failed tests are measured a second time, and what becomes of the status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tool_modules import TOOLS, load_tool

TOOL = load_tool("measure_again")
WAITS = "tests/integration/test_waits_kernel.py::test_a_wait[futex]"
OTHER = "tests/integration/test_target_exec.py::test_it"


def test_only_measurements_are_repeated_and_few() -> None:
    assert TOOL.again([WAITS]) == [WAITS]
    assert TOOL.again([WAITS, OTHER]) == []
    assert TOOL.again([]) == []
    assert TOOL.again([f"{WAITS}{n}" for n in range(5)]) == []


def test_measured_files_exist() -> None:
    folder = TOOLS.parent / "tests" / "integration"
    assert {path.stem for path in folder.glob("test_*.py")} >= TOOL.MEASURED


@pytest.mark.parametrize(
    ("first", "failed", "second", "status"),
    [
        (0, [], 0, 0),
        (1, [WAITS], 0, 0),
        (1, [WAITS], 1, 1),
        (1, [OTHER], 0, 1),
        (2, [WAITS], 0, 2),
    ],
)
def test_the_status_is_that_of_the_last_run(
    first: int,
    failed: list[str],
    second: int,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache, runs = tmp_path / "lastfailed", []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        runs.append(command)
        if len(runs) == 1:
            cache.write_text(json.dumps(dict.fromkeys([*failed, "tests/unit/test_x.py::x"], True)))
        return subprocess.CompletedProcess(command, first if len(runs) == 1 else second)

    monkeypatch.setattr(TOOL, "FAILED", cache)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["measure_again.py", "pytest"])
    assert TOOL.main() == status
    if len(runs) > 1:
        assert runs[1][-1] == WAITS and runs[1][2:5] == ["pytest", "-n", "0"]
