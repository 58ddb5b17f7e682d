"""Tools: the gates, stages and times of the test run, and the audit of dependencies."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

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
    output = run(tmp_path, "-o", "addopts=", "-o", "timeout=3", CI="true")
    assert outcomes(output) == {
        "test_hangs": "FAILED",
        "test_hangs_in_a_coroutine": "FAILED",
        "test_hangs_in_a_fixture": "ERROR",
        "test_warns": "FAILED",
        "test_skips": "FAILED",
        "test_misses_something": "FAILED",
        "test_passes": "PASSED",
    }, output
    assert output.count("Timeout (>3.0s)") >= 3
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
TEST_STAGES = (
    "check",
    "sampler-test",
    "vitest",
    "unit",
    "kernel-if-possible",
    "integration",
    "e2e",
    "site",
    "audit",
)
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
    return {line.split()[0]: line.partition(" CPUs  ")[2] for line in table[:-1]}


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
<testcase classname="tests.unit.test_a" name="test_slower" time="4.0">
<failure message="assert 1 == 2&#10;  by far">the whole story</failure></testcase>
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


def test_the_end_of_a_log_says_what_was_wrong(tmp_path: Path) -> None:
    report = tmp_path / "unit.xml"
    report.write_text(REPORT)
    assert test_times.read_failures([report]) == [
        "failed: tests/unit/test_a::test_slower: assert 1 == 2 by far"
    ]


ROOT = Path(__file__).resolve().parents[2]
HASH = "0" * 64


audit = load_tool("audit")

OSV = {
    "vulns": [
        {
            "id": "GHSA-made-up",
            "modified": "2026-01-01T00:00:00Z",
            "summary": "made for a test",
            "affected": [
                {
                    "package": {"name": "jinja2", "ecosystem": "PyPI"},
                    "ranges": [
                        {
                            "type": "ECOSYSTEM",
                            "events": [{"introduced": "0"}, {"fixed": "3.1.6"}],
                        }
                    ],
                }
            ],
        }
    ]
}
NPM = {
    "react": [
        {
            "id": 1,
            "url": "https://example.invalid/1",
            "title": "made for a test",
            "severity": "high",
            "vulnerable_versions": "<99",
        }
    ]
}

CRATE = {"vulns": [{"id": "RUSTSEC-made-up"}]}
MODULE = {"vulns": [{"id": "GO-made-up"}]}
BY_OSV: dict[tuple[str, str], dict[str, Any]] = {
    ("PyPI", "jinja2"): OSV,
    ("crates.io", "bytes"): CRATE,
    ("Go", "golang.org/x/sys"): MODULE,
}


class Advisories(BaseHTTPRequestHandler):
    """Answers as OSV and as an npm registry, with one advisory each."""

    def do_POST(self) -> None:
        """Answer a query."""
        sent = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            sent = gzip.decompress(sent)
        asked = json.loads(sent)
        if self.path.endswith("/bulk"):
            answer: dict[str, Any] = {name: NPM[name] for name in asked if name in NPM}
        else:
            package = asked["package"]
            assert not asked["version"].startswith("v")
            answer = BY_OSV.get((package["ecosystem"], package["name"]), {})
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        """Answer with a package that has no other versions."""
        body = json.dumps({"name": unquote(self.path[1:]), "versions": {}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def advisories() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Advisories)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Lock files with one vulnerable package and one that is not."""
    for lock in audit.LOCKS:
        (tmp_path / lock).write_text("")
    (tmp_path / "requirements.lock").write_text(
        f"jinja2==2.0 \\\n    --hash=sha256:{HASH}\nidna==3.20 \\\n    --hash=sha256:{HASH}\n"
    )
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("sampler/Cargo.lock", "stacks/go.mod", "advisor/go.mod"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_vulnerable_packages_are_found(checkout: Path, advisories: str) -> None:
    findings = audit.audit(checkout, f"{advisories}/query", advisories)
    python, (npm, sampler, stacks, advisor) = findings[0], findings[-4:]
    assert (python.audited, python.unaudited) == (2, 0)
    assert python.vulnerable == ("jinja2 2.0: GHSA-made-up, fixed in 3.1.6",)
    assert npm.audited > 100 and npm.unaudited == 0
    assert [line for line in npm.vulnerable if line.startswith("react ")], npm.vulnerable
    (line,) = sampler.vulnerable
    assert line.startswith("bytes ") and line.endswith(": RUSTSEC-made-up")
    assert sampler.audited > 20 and sampler.unaudited == 0
    (line,) = stacks.vulnerable
    assert line.startswith("golang.org/x/sys 0.") and line.endswith(": GO-made-up")
    assert (stacks.lock, stacks.unaudited) == ("stacks/go.sum", 0) and stacks.audited > 20
    assert (advisor.lock, advisor.unaudited, advisor.vulnerable) == ("advisor/go.sum", 0, ())


def test_a_registry_that_does_not_answer_is_named(checkout: Path) -> None:
    nobody = "http://127.0.0.1:9"
    findings = audit.audit(checkout, f"{nobody}/query", nobody)
    python, (npm, sampler, stacks, _) = findings[0], findings[-4:]
    assert (python.audited, python.unaudited, python.vulnerable) == (0, 2, ())
    assert (npm.audited, npm.vulnerable) == (0, ())
    assert npm.unaudited > 100 and "127.0.0.1:9" in npm.reason
    assert (sampler.audited, sampler.vulnerable) == (0, ())
    assert sampler.unaudited > 20 and "127.0.0.1:9" in sampler.reason
    assert (stacks.audited, stacks.vulnerable) == (0, ())
    assert stacks.unaudited > 20 and "127.0.0.1:9" in stacks.reason
    assert "not: " in npm.lines()[0]
