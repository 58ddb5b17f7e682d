"""Which failed tests are run a second time, and what becomes of the status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tool_scripts import load_tool

TOOL = load_tool("run_again")
WAITS = "tests/integration/test_waits_kernel.py::test_a_wait[futex]"
OTHER = "tests/integration/test_target_identity.py::test_it"


def test_few_are_repeated() -> None:
    assert TOOL.again([WAITS, OTHER]) == [WAITS, OTHER]
    assert TOOL.again([]) == []
    assert TOOL.again([f"{WAITS}{n}" for n in range(5)]) == []


@pytest.mark.parametrize(
    ("first", "failed", "second", "status"),
    [
        (0, [], 0, 0),
        (1, [WAITS], 0, 0),
        (1, [WAITS], 1, 1),
        (1, [OTHER], 0, 0),
        (1, [], 0, 1),
        (2, [WAITS], 0, 2),
    ],
)
def test_the_status_is_that_of_the_last_run(
    first: int,
    failed: list[str],
    second: int,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        runs.append(command)
        if len(runs) == 1:
            cache = Path(command[-1].removeprefix("cache_dir=")) / TOOL.FAILED
            cache.parent.mkdir(parents=True)
            cache.write_text(json.dumps(dict.fromkeys(failed, True)))
        return subprocess.CompletedProcess(command, first if len(runs) == 1 else second)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["run_again.py", "pytest"])
    assert TOOL.main() == status
    if len(runs) > 1:
        assert runs[1][-1] == failed[-1] and runs[1][2:5] == ["pytest", "-n", "0"]
