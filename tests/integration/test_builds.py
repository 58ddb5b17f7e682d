"""Programs build with the tools of their languages, and their own tests pass."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from capabilities import needs
from programs.agent_program import AGENTS
from programs.build import GO, build_rust, go_command, go_environment
from tidscope_collector.stacks.program import PROGRAM


def run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def test_go_tests_pass() -> None:
    run([go_command(), "test", "./..."], AGENTS / "go", go_environment())


def test_rust_tests_pass(tmp_path: Path) -> None:
    crate = AGENTS / "rust" / "tidscope_agent"
    built = build_rust(crate / "src" / "lib.rs", None, "--test")
    run([str(built)], tmp_path)


ROOT = Path(__file__).parents[2]
WORKLOADS = ROOT / "workloads"


@needs("go")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("module", ["driver", "parallel", "pool-trace/go"])
def test_go_tests_of_workloads_pass(module: str) -> None:
    assert GO is not None
    command = [GO, "test", "-C", str(WORKLOADS / module), "./..."]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no test files" not in done.stdout


@needs("stacks")
@pytest.mark.timeout(600)
def test_go_tests_of_the_program_that_takes_stacks_pass() -> None:
    command = [go_command(), "test", "-mod=readonly", "-trimpath", "./..."]
    run(command, ROOT / "stacks", go_environment())


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy of the sources and build tools of the program that takes stacks."""
    for folder in ("stacks", PROGRAM.parent.relative_to(ROOT)):
        ignored = shutil.ignore_patterns(PROGRAM.name, "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    (tmp_path / "tools").mkdir()
    for tool in ("build-stacks", "find-go", "processor"):
        shutil.copy(ROOT / "tools" / tool, tmp_path / "tools")
    return tmp_path


def build_stacks(checkout: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "tools" / "build-stacks"],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@needs("stacks")
@pytest.mark.timeout(600)
def test_the_same_sources_give_the_same_program(checkout: Path) -> None:
    """Whatever the folder and the builder's settings are."""
    settings = {"GOAMD64": "v3", "GOFLAGS": "-trimpath=false", "CGO_ENABLED": "1"}
    done = build_stacks(checkout, **settings)
    assert done.returncode == 0, done.stderr
    program = checkout / PROGRAM.relative_to(ROOT)
    assert program.read_bytes() == PROGRAM.read_bytes()
    assert [path.name for path in program.parent.glob(f"{PROGRAM.name}*")] == [PROGRAM.name]


@pytest.mark.parametrize(
    "says", ["echo go1.25.9", "exit 2", "echo go1.3"], ids=["old", "broken", "older"]
)
def test_without_a_new_go_the_program_is_left_out(checkout: Path, says: str) -> None:
    program = checkout / PROGRAM.relative_to(ROOT)
    program.write_text("of other sources")
    go = checkout / "go"
    go.write_text(f"#!/bin/sh\n{says}\n")
    go.chmod(0o755)
    done = build_stacks(checkout, GO=str(go), PATH="/usr/bin:/bin")
    assert done.returncode == 3
    assert "install Go 1.26 or newer" in done.stderr
    assert not program.exists()


@needs("go")
def test_without_its_modules_the_program_is_left_out(checkout: Path, tmp_path: Path) -> None:
    done = build_stacks(checkout, GOPROXY="off", GOMODCACHE=str(tmp_path / "modules"))
    assert done.returncode == 3, done.stderr
    assert "module lookup disabled" in done.stderr
    assert "could not be fetched" in done.stderr
