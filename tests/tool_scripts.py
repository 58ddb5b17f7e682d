"""Scripts of tools/: run on a made-up source tree, or loaded as modules."""

import importlib.util
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

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


def load_tool(name: str) -> ModuleType:
    """The script of that name, without its .py; it may import its neighbours."""
    if str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    spec = importlib.util.spec_from_file_location(f"tools_{name}", TOOLS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
