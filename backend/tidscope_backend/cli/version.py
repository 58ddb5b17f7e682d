"""Version and commit of this installation, and its compiled parts."""

import argparse
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tidscope_backend import VERSION
from tidscope_backend.cli.command import print_lines

PACKAGE = Path(__file__).parents[1]
BUILD_FILE = PACKAGE / "build.json"
"""Written into the wheel by tools/wheel_hook.py; a checkout has none."""
_DIRTY = "-dirty"


class PrintVersion(argparse.Action):
    """The option --version: prints what this installation is, and exits."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print and exit."""
        print_lines(*version_lines())
        parser.exit()


def version_lines() -> Iterator[str]:
    """Lines that name version, commit, and each compiled part or why it is missing."""
    yield f"tidscope {VERSION}"
    yield f"commit   {_commit()}"
    yield from _sampler()
    yield f"stacks   {'built in' if _has_stacks() else 'not built in (`make stacks` needs Go)'}"
    page = (PACKAGE / "web" / "index.html").exists()
    yield f"page     {'built in' if page else 'not built in (`make build` needs Node)'}"


def _commit() -> str:
    try:
        commit: str | None = json.loads(BUILD_FILE.read_text())["commit"]
    except FileNotFoundError:
        return f"that of the checkout {PACKAGE.parents[1]}"
    if commit is None:
        return "unknown: built outside of a git checkout"
    name, dirty, _ = commit.partition(_DIRTY)
    return f"{name}, with changes" if dirty else name


def _sampler() -> Iterator[str]:
    """Two lines: the sampler, and the eBPF programs in it. Loads it, so an unfit glibc shows."""
    try:
        native = import_module("tidscope_sampler.native")
    except ImportError as error:
        yield f"sampler  cannot be loaded: {error}"
        yield "eBPF     none: the sampler carries the programs"
    else:
        yield f"sampler  {native.VERSION}"
        yield f"eBPF     {', '.join(native.BPF_OBJECTS)}"


def _has_stacks() -> bool:
    spec = find_spec("tidscope_collector")
    places = (spec and spec.submodule_search_locations) or ()
    return any((Path(place) / "stacks" / "tidscope-stacks").exists() for place in places)
