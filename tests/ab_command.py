"""`tidscope ab`, run as a user would, without a running tidscope."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PYTHON = sys.executable
LOOP = "sum(range({count}))"
TIDSCOPE = (PYTHON, "-m", "tidscope_backend")
NO_SITE = (PYTHON, "-I", "-S", "-c")


def alone(folder: Path) -> dict[str, str]:
    """The environment, without a running tidscope; runs and temporary files are in a folder."""
    (folder / "tmp").mkdir()
    known = {k: value for k, value in os.environ.items() if not k.startswith("TIDSCOPE_")}
    return {
        **known,
        "TIDSCOPE_RUNS": str(folder / "runs"),
        "TMPDIR": str(folder / "tmp"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_RUNTIME_DIR": str(folder / "state"),
    }


def ab(
    environment: dict[str, str], *arguments: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it; without input."""
    return subprocess.run(
        [*TIDSCOPE, "ab", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def answer(environment: dict[str, str], *arguments: str, folder: Path | None = None) -> Any:
    """Run it; its line of JSON."""
    done = ab(environment, "--json", *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def looping(count: int) -> list[str]:
    """A command that counts, which takes about 30 ns of CPU time each."""
    return [*NO_SITE, LOOP.format(count=count)]


def command_of(pid: int) -> bytes:
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
