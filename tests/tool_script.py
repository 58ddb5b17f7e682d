"""Runs a script of tools/ on a made-up source tree."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

TOOLS = Path(__file__).parent.parent / "tools"


def write_tree(root: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder: path to text."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def run_tool(script: str, *arguments: str | Path) -> tuple[int, str]:
    """Run it; returns the exit code, and what it complained of."""
    done = subprocess.run(
        [sys.executable, TOOLS / script, *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr
