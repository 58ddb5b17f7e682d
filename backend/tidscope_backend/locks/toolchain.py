"""The analyser of Go programs, built once per version by the user's toolchain.

The sources are in the wheel, at `tidscope_backend/advisor`, and in a checkout at `advisor`. The
analysed program's toolchain must build the analyser, because it type-checks the toolchain's
standard library. No binary is therefore shipped.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DEFAULT_SEARCH_PATH = "/usr/local/go/bin:/usr/lib/go/bin"
_BACKEND = Path(__file__).resolve().parents[1]
PLACES = (_BACKEND / "advisor", _BACKEND.parents[1] / "advisor")
"""Locations of the sources: installed, or in a checkout."""


class ToolchainError(Exception):
    """The Go toolchain is missing or fails; the text says why and what to do."""


def go_command() -> str:
    """Return the user's `go`. Raises ToolchainError."""
    found = shutil.which("go") or shutil.which("go", path=DEFAULT_SEARCH_PATH)
    if found is None:
        raise ToolchainError(
            "there is no Go toolchain, neither in PATH nor in /usr/local/go/bin; "
            "the packages are read by the toolchain that builds them: install it from "
            "https://go.dev/dl or as the package golang-go"
        )
    return found


def sources() -> Path:
    """Return the folder of the Go program's sources. Raises ToolchainError."""
    for place in PLACES:
        if (place / "go.mod").is_file():
            return place
    raise ToolchainError("this installation lacks the sources of the Go program (advisor/go.mod)")


def build(go: str, environment: Mapping[str, str]) -> Path:
    """Return the executable, building it unless this toolchain has built this version before.

    Raises:
        ToolchainError: the build fails.
    """
    folder = sources()
    cache = _cache_folder(environment) / _key(go, folder)
    program = cache / "advisor"
    if program.exists():
        return program
    cache.mkdir(parents=True, exist_ok=True)
    # Concurrent builds are identical: the last one stays.
    with tempfile.TemporaryDirectory(dir=cache) as fresh:
        made = Path(fresh) / "advisor"
        # Settings for the analysed program do not apply to ours.
        ours = {**environment, "GOFLAGS": "-mod=readonly", "GOWORK": "off", "CGO_ENABLED": "0"}
        command = [go, "build", "-trimpath", "-buildvcs=false", "-o", str(made), "."]
        _run(command, folder, ours, "the Go program that reads packages does not build")
        made.rename(program)
    return program


def analyze(
    directory: Path,
    patterns: Sequence[str],
    profile: Path | None,
    environment: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Run the analyser on packages and return its answer (advisor/main.go, `Answer`).

    Args:
        directory: working directory for package names.
        patterns: packages, in the go command's notation.
        profile: mutex or block profile to join with.
        environment: environment of the toolchain.

    Raises:
        ToolchainError: the toolchain is missing, or the packages do not exist or compile.
    """
    go = go_command()
    program = build(go, environment)
    # The analyser calls `go`, so add its folder to PATH.
    path = os.pathsep.join([environment.get("PATH", ""), str(Path(go).parent)])
    options = [] if profile is None else ["-profile", str(profile)]
    command = [str(program), "-directory", str(directory), *options, *patterns]
    answer = _run(command, directory, {**environment, "PATH": path}, "the packages were not read")
    parsed: dict[str, Any] = json.loads(answer)
    return parsed


def _key(go: str, folder: Path) -> str:
    """Return the key of all sources and of the toolchain's version."""
    digest = hashlib.sha256()
    digest.update(_run([go, "version"], folder, os.environ, "go version failed").encode())
    for path in sorted([*folder.rglob("*.go"), folder / "go.mod", folder / "go.sum"]):
        if "testdata" not in path.parts:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tidscope" / "advisor"


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str], failed: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.strip() or f"status {done.returncode}"
        raise ToolchainError(f"{failed}:\n{said}")
    return done.stdout
