"""The command line of a tool that makes one file of what is locked and built."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(file: Path, make: Callable[[Path], str], about: str | None) -> int:
    """Write the file, or with `--check` compare it; the exit status.

    Args:
        file: below the root of the repository.
        make: its text, from the root; raises FileNotFoundError where the page is not built.
        about: what the tool does; its first line is shown by `--help`.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    check = parser.parse_args().check
    try:
        text = make(ROOT)
    except FileNotFoundError as error:
        raise SystemExit(f"{error.filename} is missing: run `make build` first") from None
    path = ROOT / file
    if not check:
        path.write_text(text)
    elif not path.is_file() or path.read_text() != text:
        print(f"{file} differs from what is locked and built: run `make notice`", file=sys.stderr)
        return 1
    return 0
