"""The gates of the test run itself: each is broken once here, in a run of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

from capabilities import DETECTED, PREFIX, TRIED, allowed

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
    """By test: the outcome that the summary gives it."""
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
