"""Agents and workloads build with the tools of their languages, and their own tests pass."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from capabilities import needs
from programs.agent_program import AGENTS
from programs.build import GO, build_rust, go_command, go_environment
from tidscope_agent import VERSION


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


def test_maven_builds_the_java_agent(tmp_path: Path) -> None:
    maven = shutil.which("mvn")
    assert maven is not None, "no mvn in PATH: tools/install-test-packages installs it"
    folder = Path(shutil.copytree(AGENTS / "java", tmp_path / "java", ignore=lambda *_: ["target"]))
    run([maven, "-q", "-B", "package"], folder)
    with zipfile.ZipFile(folder / "target" / "tidscope-agent-0.1.0.jar") as jar:
        assert "tidscope/agent/Agent.class" in jar.namelist()


def test_the_python_agent_becomes_a_wheel(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(AGENTS / "python", tmp_path / "python"))
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], folder, dict(os.environ))
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    assert {"tidscope_agent/py.typed", "tidscope_agent/pool.py"} <= names


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("go/tidscope.go", r'const Version = "(.+)"'),
        ("java/src/main/java/tidscope/agent/Agent.java", r'String VERSION = "(.+)"'),
        ("java/pom.xml", r"<version>(.+)</version>"),
        ("rust/tidscope_agent/Cargo.toml", r'(?m)^version = "(.+)"'),
    ],
)
def test_versions_are_the_same(path: str, pattern: str) -> None:
    found = re.search(pattern, (AGENTS / path).read_text())
    project = tomllib.loads((AGENTS / "python" / "pyproject.toml").read_text())["project"]
    assert found is not None
    assert found[1] == VERSION == project["version"]


WORKLOADS = Path(__file__).parents[2] / "workloads"


@needs("go")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("module", ["driver", "parallel"])
def test_go_tests_of_workloads_pass(module: str) -> None:
    assert GO is not None
    command = [GO, "test", "-C", str(WORKLOADS / module), "./..."]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no test files" not in done.stdout
