"""Programs and commands of workloads, built once per version by the user's own toolchains."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidscope_backend.experiments.definition import Definition, ProgramChoice
from tidscope_backend.experiments.program import check_generator
from tidscope_backend.experiments.workload import ExperimentError, ProgramSpec, Value, Workload

GO_PLACES = "/usr/local/go/bin:/usr/lib/go/bin"
RUST_VARIABLES = {"RUSTFLAGS": "--cfg tokio_unstable"}
"""Build flags; without them tokio does not report its workers."""
_BACKEND = Path(__file__).resolve().parents[1]
AGENTS = (_BACKEND / "sources" / "agents", _BACKEND.parents[1] / "agents")
"""Locations of the agents' sources: installed, or in a checkout."""
PYTHON_AGENTS = (_BACKEND / "agent_python", _BACKEND.parents[1] / "agents" / "python")
SERVER_PLACES = "/usr/lib/postgresql/*/bin"
"""Directories of Debian's server programs, which are not in the PATH."""


@dataclass(frozen=True)
class Command:
    """Command of a program: first arguments and environment variables."""

    arguments: Sequence[str]
    environment: Mapping[str, str]


def build(workload: Workload, program: ProgramSpec, environment: Mapping[str, str]) -> Command:
    """Build a program unless it is already built.

    Raises:
        ExperimentError: a toolchain is missing (the text names its package) or fails.
    """
    folder = (workload.folder / program.folder).resolve()
    if program.build == "go":
        return Command([str(_build_go(folder, workload.name, environment))], {})
    if program.build == "java":
        java = _tool("java", "default-jdk-headless")
        classes = _build_java(folder, workload.name, environment)
        return Command([java, "-cp", str(classes), program.main], {})
    if program.build == "rust":
        return Command([str(_build_rust(folder, workload.name, environment) / program.main)], {})
    if program.build == "c++":
        return Command([str(_build_cpp(folder, workload.name, environment))], {})
    places = (_first(PYTHON_AGENTS, "the Python agent"), _driver())
    paths = os.pathsep.join(map(str, places))
    return Command([sys.executable, str(folder / program.main)], {"PYTHONPATH": paths})


def _build_go(folder: Path, name: str, environment: Mapping[str, str]) -> Path:
    go = shutil.which("go") or shutil.which("go", path=GO_PLACES)
    if go is None:
        raise ExperimentError(
            f"the workload {name} needs a Go compiler: install the package golang-go, or Go from "
            "https://go.dev/dl"
        )
    sources = [
        path
        for place in (folder, _driver(), _first(AGENTS, "the agents") / "go")
        for path in sorted(place.glob("*"))
        if path.suffix in (".go", ".mod", ".sum")
    ]
    command = [go, "build", "-C", str(folder), "-trimpath", "-buildvcs=false"]
    ours = {**environment, "GOFLAGS": "-mod=readonly", "GOWORK": "off", "CGO_ENABLED": "0"}
    return _built(name, sources, command, (".",), "-o", ours)


def _build_java(folder: Path, name: str, environment: Mapping[str, str]) -> Path:
    javac = _tool("javac", "default-jdk-headless")
    agent = _first(AGENTS, "the agents") / "java" / "src"
    sources = [*sorted(agent.rglob("*.java")), *sorted(folder.glob("*.java"))]
    command = [javac, "--release", "17"]
    return _built(name, sources, command, list(map(str, sources)), "-d", environment)


def _build_cpp(folder: Path, name: str, environment: Mapping[str, str]) -> Path:
    agent = _first(AGENTS, "the agents") / "c"
    files = sorted(folder.glob("*.cc"))
    command = [_tool("c++", "g++"), "-std=c++17", "-O2", "-pthread", f"-I{agent}"]
    return _built(
        name, [*files, *agent.glob("*.h")], command, list(map(str, files)), "-o", environment
    )


def _build_rust(folder: Path, name: str, environment: Mapping[str, str]) -> Path:
    home = environment.get("CARGO_HOME", str(Path.home() / ".cargo"))
    cargo = shutil.which("cargo") or shutil.which("cargo", path=f"{home}/bin")
    if cargo is None:
        raise ExperimentError(
            f"the workload {name} needs a Rust compiler: install the package cargo, or Rust from "
            "https://rustup.rs"
        )
    agent = _first(AGENTS, "the agents") / "rust" / "tidscope_agent"
    sources = [
        path
        for place in (folder, folder / "src", agent, agent / "src")
        for path in sorted(place.glob("*"))
        if path.suffix in (".rs", ".toml", ".lock")
    ]
    command = [cargo, "build", "--release", "--locked", "--quiet", "--manifest-path"]
    command.append(str(folder / "Cargo.toml"))
    ours = {**environment, **RUST_VARIABLES}
    return _built(name, sources, command, (), "--target-dir", ours) / "release"


def _driver() -> Path:
    """Return the driver that all workloads of one language share."""
    return _first(AGENTS, "the agents").parent / "workloads" / "driver"


def check_needs(workload: Workload) -> None:
    """Check that a workload's required programs are installed. Raises ExperimentError."""
    places = os.pathsep.join(map(str, sorted(Path("/").glob(SERVER_PLACES.lstrip("/")))))
    for name, package in workload.spec.needs.items():
        if shutil.which(name) is None and shutil.which(name, path=places) is None:
            raise ExperimentError(
                f"the workload {workload.name} needs {name}: install the package {package} "
                f"(apt-get install {package})"
            )


def _tool(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ExperimentError(f"there is no {name}: install the package {package}")
    return found


def _built(
    name: str,
    sources: Sequence[Path],
    command: Sequence[str],
    last: Sequence[str],
    output: str,
    environment: Mapping[str, str],
) -> Path:
    """Run the compiler unless the same command has compiled these sources before."""
    digest = hashlib.sha256("\0".join(command).encode())
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    folder = _cache_folder(environment) / digest.hexdigest()[:16]
    result = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if result.exists():
            return result
        fresh = folder / f"{name}.new"
        done = subprocess.run(
            [*command, output, str(fresh), *last],
            env=dict(environment),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ExperimentError(f"the workload {name} does not build:\n{done.stderr.strip()}")
        fresh.rename(result)
    return result


def _cache_folder(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tidscope" / "workloads"


def _first(places: Sequence[Path], what: str) -> Path:
    for place in places:
        if place.is_dir():
            return place
    raise ExperimentError(f"this installation lacks the sources of {what}; install tidscope again")


def build_environment() -> dict[str, str]:
    """Return the environment of compilers and programs, without tidscope's variables."""
    return {
        name: value
        for name, value in os.environ.items()
        if name == "TIDSCOPE_AGENT_DIR" or not name.startswith("TIDSCOPE_")
    }


class Commands:
    """Commands that start the programs and loads of an experiment."""

    def __init__(self) -> None:
        self._programs: dict[tuple[str, str], Command] = {}
        self._loads: dict[str, Command] = {}

    def program(self, choice: ProgramChoice, values: Mapping[str, Value]) -> Command:
        """Return the command of the program that these values select."""
        return self._programs[choice.workload.name, _chosen(choice, values)]

    def load(self, choice: ProgramChoice) -> Command:
        """Return the command of a load that is a program of the workload."""
        return self._loads[choice.workload.name]

    def build(self, choice: ProgramChoice, values: Mapping[str, Value]) -> None:
        """Build the program and the load that these values select. Raises ExperimentError."""
        workload, environment = choice.workload, build_environment()
        program = workload.program(values)
        built = build(workload, program, environment)
        self._programs[workload.name, _chosen(choice, values)] = built
        load = None if workload.spec.load is None else workload.spec.load.program
        if load is not None and workload.name not in self._loads:
            self._loads[workload.name] = build(workload, load, environment)


def _chosen(choice: ProgramChoice, values: Mapping[str, Value]) -> str:
    chooser = choice.workload.chooser
    return str(values[chooser]) if chooser else ""


def prepare(definition: Definition) -> Commands:
    """Build all programs of all cells before anything is measured.

    Raises:
        ExperimentError: a toolchain, a load generator or another program is missing.
    """
    commands = Commands()
    for choice in definition.programs:
        check_generator(choice.workload)
        check_needs(choice.workload)
        chooser = choice.workload.chooser
        for value in definition.axes.get(chooser) or [choice.values.get(chooser, "")]:
            values = {**choice.values, chooser: value} if chooser else choice.values
            _check_files(choice, values)
            commands.build(choice, values)
    return commands


def _check_files(choice: ProgramChoice, values: Mapping[str, Value]) -> None:
    for name, spec in choice.workload.spec.parameters.items():
        if not spec.is_path:
            continue
        path, what = Path(str(values[name])), "folder" if spec.folder else "file"
        if not (path.is_dir() if spec.folder else path.is_file()):
            raise ExperimentError(
                f"{choice.workload.name}: {name}: there is no {what} {path}; make it, or name "
                "another"
            )
