"""Command lines of tools: for making one file, and for checking a tree."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_file(
    file: Path, make: Callable[[Path], str], about: str | None, target: str = "notice"
) -> int:
    """Write the file, or with `--check` compare it. Return the exit status.

    Args:
        file: path below the root of the repository.
        make: makes the text from the root; raises FileNotFoundError if the page is not built.
        about: description of the tool; `--help` shows its first line.
        target: target of the Makefile that rewrites the file.
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
        print(f"{file} differs from its sources: run `make {target}`", file=sys.stderr)
        return 1
    return 0


def check_tree(check: Callable[[Path], Iterable[str]]) -> int:
    """Check the tree that the command names, or this one. Return the exit status.

    Args:
        check: complaints about a tree, one line each; they are printed to standard error.
    """
    wrong = list(check(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT).resolve()))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0
