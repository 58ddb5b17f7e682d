"""`make test`: stages one after another, and an exit status that tells of a failure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "test_stages.py"
NEEDED = ("install-dev", "build")
TESTS = ("check", "vitest", "unit", "kernel-if-possible", "integration", "e2e", "audit")
STAGES = (*NEEDED, *TESTS)
MAKE = """#!/bin/sh
# Says its target twice, and fails if that is the one to fail.
echo "begin $1"
sleep 0.05
echo "end $1"
test "$1" != "$FAILS"
"""


def run(folder: Path, fails: str = "") -> tuple[int, str]:
    """Status and output of the tool, with a make that only says what it is asked for."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / TOOL.name).write_text(TOOL.read_text())
    make = folder / "make"
    make.write_text(MAKE)
    make.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(tools / TOOL.name)],
        env={**os.environ, "MAKE": str(make), "FAILS": fails},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def outcomes(output: str) -> dict[str, str]:
    """By stage: how the table at the end says that it ended."""
    table = output.rpartition("\n\n")[2].splitlines()
    assert table[-1].startswith("all ")
    return {line.split()[0]: line.partition(" s  ")[2] for line in table[:-1]}


def test_each_stage_is_timed_and_its_output_is_in_one_piece(tmp_path: Path) -> None:
    status, output = run(tmp_path)
    assert status == 0
    assert outcomes(output) == dict.fromkeys(STAGES, "ok")
    for stage in STAGES:
        assert f"=== {stage}\nbegin {stage}\nend {stage}\n" in output


@pytest.mark.parametrize("stage", TESTS)
def test_a_stage_that_fails_fails_all_and_stops_none(tmp_path: Path, stage: str) -> None:
    status, output = run(tmp_path, fails=stage)
    assert status == 1
    assert outcomes(output) == dict.fromkeys(STAGES, "ok") | {stage: "FAILED with status 1"}


@pytest.mark.parametrize("stage", NEEDED)
def test_without_an_installation_or_a_page_nothing_runs(tmp_path: Path, stage: str) -> None:
    status, output = run(tmp_path, fails=stage)
    assert status == 1
    assert "begin integration" not in output
    assert outcomes(output)[stage] == "FAILED with status 1"
