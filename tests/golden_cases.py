"""Golden frames, and inputs that once broke a decoder, from JSON files of tests/contract.

`python tests/golden_cases.py TARGET NAME FILE` adds a case that fuzzing has found. A test runs each
case ever after.
"""

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CONTRACT = Path(__file__).parent / "contract"
FRAMES = CONTRACT / "frames.json"
"""Golden frames by name: `frame` in base64, and its content."""
CASES = CONTRACT / "corpus.json"
"""Inputs in base64 by target of tests/fuzz, and by name."""


def contents() -> dict[str, dict[str, Any]]:
    """Return the content of each golden frame, by name."""
    found: dict[str, dict[str, Any]] = json.loads(FRAMES.read_text("utf-8"))
    return {name: {k: v for k, v in one.items() if k != "frame"} for name, one in found.items()}


def golden_frames() -> dict[str, bytes]:
    """Return the golden frames by name, in the order of their names."""
    found = json.loads(FRAMES.read_text("utf-8"))
    return {name: b64decode(found[name]["frame"]) for name in sorted(found)}


def write_frames(frames: Mapping[str, bytes], contents: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the golden frames with their contents."""
    made = {
        name: {"frame": b64encode(frames[name]).decode(), **content}
        for name, content in contents.items()
    }
    _write(FRAMES, made)


def cases() -> dict[str, dict[str, bytes]]:
    """Return the inputs that once broke a decoder, by target and name."""
    found = json.loads(CASES.read_text("utf-8"))
    return {
        target: {name: b64decode(text) for name, text in named.items()}
        for target, named in found.items()
    }


def add_case(target: str, name: str, data: bytes) -> None:
    """Add an input of a target of tests/fuzz."""
    found = json.loads(CASES.read_text("utf-8"))
    found.setdefault(target, {})[name] = b64encode(data).decode()
    _write(CASES, {one: dict(sorted(found[one].items())) for one in sorted(found)})


def _write(path: Path, made: object) -> None:
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    add_case(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_bytes())
