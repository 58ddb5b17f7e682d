"""The test run itself: its gates, stages and times."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from capabilities import DETECTED, PREFIX, TRIED, allowed
from tool_scripts import load_tool

TESTS = Path(__file__).parents[1]
BROKEN = """
import asyncio, threading, warnings
import pytest
from capabilities import missing

def test_hangs() -> None:
    threading.Event().wait()

async def test_hangs_in_a_coroutine() -> None:
    await asyncio.Event().wait()

@pytest.fixture
def stuck():
    threading.Event().wait()

def test_hangs_in_a_fixture(stuck) -> None: ...

def test_warns() -> None:
    warnings.warn("old", DeprecationWarning)

def test_skips() -> None:
    pytest.skip("just so")

def test_misses_something() -> None:
    raise missing("mount", "not here")

def test_passes() -> None: ...
"""


def run(folder: Path, *arguments: str, **variables: str) -> str:
    (folder / "test_broken.py").write_text(BROKEN)
    command = [sys.executable, "-m", "pytest", "-c", str(TESTS.parent / "pyproject.toml")]
    for plugin in ("conftest", "no:cacheprovider", "no:schemathesis", "no:typeguard"):
        command += ["-p", plugin]
    command += ["-rA", f"--rootdir={folder}"]
    done = subprocess.run(
        [*command, *arguments, "test_broken.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def outcomes(output: str) -> dict[str, str]:
    """Outcome in the summary, by test."""
    return {
        name: outcome
        for outcome, name in re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", output, re.MULTILINE)
    }


def test_hangs_warnings_and_skips_fail_under_ci(tmp_path: Path) -> None:
    output = run(tmp_path, "-o", "addopts=", "-o", "timeout=0.5", CI="true")
    assert outcomes(output) == {
        "test_hangs": "FAILED",
        "test_hangs_in_a_coroutine": "FAILED",
        "test_hangs_in_a_fixture": "ERROR",
        "test_warns": "FAILED",
        "test_skips": "FAILED",
        "test_misses_something": "FAILED",
        "test_passes": "PASSED",
    }, output
    assert output.count("Timeout (>0.5s)") >= 3
    assert "not listed in tests/allowed_skips.toml" in output


def test_files_stay_in_one_worker_and_those_about_the_machine_in_the_same(tmp_path: Path) -> None:
    files = ("test_budget", "test_exits", "test_one", "test_two")
    for name in files:
        (tmp_path / f"{name}.py").write_text(
            "import pytest\n@pytest.mark.parametrize('at', range(4))\ndef test_it(at): ...\n"
        )
    arguments = ("-n", "2", "--dist", "loadfile", "-v", *(f"{name}.py" for name in files))
    output = run(tmp_path, "-k", "test_it", *arguments)
    workers: dict[str, set[str]] = {name: set() for name in files}
    for worker, name in re.findall(r"^\[(gw\d)\] .* PASSED (\w+)\.py::", output, re.MULTILINE):
        workers[name].add(worker)
    assert {name: len(found) for name, found in workers.items()} == dict.fromkeys(files, 1), output
    assert workers["test_budget"] == workers["test_exits"]


def test_a_skip_elsewhere_is_a_skip(tmp_path: Path) -> None:
    output = run(tmp_path, "-o", "addopts=", "-k", "skips or misses", CI="")
    assert "2 skipped" in output, output
    assert f"{PREFIX} mount: no file system can be mounted: not here" in output


def test_allowed_skips_name_capabilities_and_say_why() -> None:
    assert allowed().keys() <= {*DETECTED, *TRIED}
    assert all(len(reason.split()) > 3 for reason in allowed().values())


TOOL = Path(__file__).parents[2] / "tools" / "test_stages.py"
NEEDED = ("install-dev", "build")
TEST_STAGES = ("check", "vitest", "unit", "kernel-if-possible", "integration", "e2e", "audit")
STAGES = (*NEEDED, *TEST_STAGES)
MAKE = """#!/bin/sh
# Says its target twice, and fails if that is the one to fail.
echo "begin $1"
sleep 0.05
echo "end $1"
test "$1" != "$FAILS"
"""


def run_stages(folder: Path, fails: str = "") -> tuple[int, str]:
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


def stage_outcomes(output: str) -> dict[str, str]:
    """Outcome in the final table, by stage."""
    table = output.rpartition("\n\n")[2].splitlines()
    assert table[-1].startswith("all ")
    return {line.split()[0]: line.partition(" s  ")[2] for line in table[:-1]}


def test_each_stage_is_timed_and_its_output_is_in_one_piece(tmp_path: Path) -> None:
    status, output = run_stages(tmp_path)
    assert status == 0
    assert stage_outcomes(output) == dict.fromkeys(STAGES, "ok")
    for stage in STAGES:
        assert f"=== {stage}\nbegin {stage}\nend {stage}\n" in output


@pytest.mark.parametrize("stage", TEST_STAGES)
def test_a_stage_that_fails_fails_all_and_stops_none(tmp_path: Path, stage: str) -> None:
    status, output = run_stages(tmp_path, fails=stage)
    assert status == 1
    assert stage_outcomes(output) == dict.fromkeys(STAGES, "ok") | {stage: "FAILED with status 1"}


@pytest.mark.parametrize("stage", NEEDED)
def test_without_an_installation_or_a_page_nothing_runs(tmp_path: Path, stage: str) -> None:
    status, output = run_stages(tmp_path, fails=stage)
    assert status == 1
    assert "begin integration" not in output
    assert stage_outcomes(output)[stage] == "FAILED with status 1"


test_times = load_tool("test_times")
REPORT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.unit.test_a" name="test_slow" time="2.5" />
<testcase classname="tests.unit.test_a" name="test_slower" time="4.0"><failure /></testcase>
<testcase classname="tests.unit.test_b" name="test_middle" time="3.0" />
</testsuite></testsuites>"""


def test_the_dearest_come_first(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(REPORT)
    assert test_times.table(test_times.read_times([report]), tests=2, files=5) == [
        "3 tests took 10 s, on all workers together",
        "     4.0 s  tests/unit/test_a::test_slower",
        "     3.0 s  tests/unit/test_b::test_middle",
        "by file",
        "     6.5 s  tests/unit/test_a",
        "     3.0 s  tests/unit/test_b",
    ]
