"""Programs build with the tools of their languages, and their own tests pass."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from capabilities import missing, needs
from programs.agent_program import AGENTS
from programs.build import GO, build_rust, go_command, go_environment
from tidscope_agent import VERSION
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


def test_the_rust_agent_is_adopted_from_its_package(tmp_path: Path) -> None:
    """The first lines of its README compile and run with what `cargo package` packs."""
    folder = Path(shutil.copytree(AGENTS / "rust", tmp_path / "rust"))
    made = tmp_path / "target"
    package = ["cargo", "package", "--allow-dirty", "--no-verify", "--target-dir", str(made)]
    try:
        run(package, folder / "tidscope_agent")
    except AssertionError as error:
        raise missing("crates", str(error)[-300:]) from None
    (packed,) = (made / "package").glob("*.crate")
    shutil.unpack_archive(packed, tmp_path / "unpacked", "gztar")
    (crate,) = (tmp_path / "unpacked").iterdir()
    lines = re.findall(r"```rust\n(.*?)```", (crate / "README.md").read_text(), re.DOTALL)[0]
    crate = crate.rename(crate.with_name("tidscope_agent"))
    main = tmp_path / "adopted" / "main.rs"
    main.parent.mkdir()
    main.write_text(
        "fn main() -> Result<(), Box<dyn std::error::Error>> {\n"
        "let (sender, handled) = std::sync::mpsc::channel();\n"
        "let request = 7;\n"
        "let handle = move |one| {\n"
        "  sender.send(one).unwrap();\n"
        "  Ok::<(), tidscope_agent::Failed>(())\n"
        "};\n"
        f"{lines}\nassert_eq!(handled.recv()?, 7);\nOk(()) }}\n"
    )
    sockets = tmp_path / "sockets"
    sockets.mkdir(mode=0o700)
    adopted = build_rust(main, crate)
    run([str(adopted)], tmp_path, {**os.environ, "TIDSCOPE_AGENT_DIR": str(sockets)})


def test_maven_builds_the_java_agent(tmp_path: Path) -> None:
    maven = shutil.which("mvn")
    assert maven is not None, "no mvn in PATH: tools/install-test-packages installs it"
    folder = Path(shutil.copytree(AGENTS / "java", tmp_path / "java", ignore=lambda *_: ["target"]))
    run([maven, "-q", "-B", "package"], folder)
    with zipfile.ZipFile(folder / "target" / "tidscope-agent-0.1.0.jar") as jar:
        assert "tidscope/agent/Agent.class" in jar.namelist()


def test_the_python_agent_is_adopted_from_its_wheel(tmp_path: Path) -> None:
    """The first lines of its README run with the package alone."""
    folder = Path(shutil.copytree(AGENTS / "python", tmp_path / "python"))
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], folder, dict(os.environ))
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    assert {"tidscope_agent/py.typed", "tidscope_agent/pool.py"} <= names
    installed, sockets = tmp_path / "installed", tmp_path / "sockets"
    sockets.mkdir(mode=0o700)
    uv = [str(Path(sys.executable).parent / "uv"), "pip", "install", "--quiet", "--offline"]
    run([*uv, "--python", sys.executable, "--target", str(installed), str(wheel)], tmp_path)
    lines = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)[0]
    program = tmp_path / "program.py"
    program.write_text(
        f"handle, request = print, 'done'\n{lines}\nimport tidscope_agent as used\n"
        f"assert used.__file__.startswith({str(installed)!r}), used.__file__\n"
        "pool.shutdown()\nassert pool.counts().ops == 1, pool.counts()\n"
    )
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PYTHONPATH": str(installed),
        "TIDSCOPE_AGENT_DIR": str(sockets),
    }
    run([sys.executable, str(program)], tmp_path, environment)


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


ROOT = Path(__file__).parents[2]
WORKLOADS = ROOT / "workloads"


@needs("go")
@pytest.mark.timeout(240)
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
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=lambda *_: [PROGRAM.name])
    (tmp_path / "tools").mkdir()
    for tool in ("build-stacks", "find-go"):
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
