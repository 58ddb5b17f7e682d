"""Whether root runs code that somebody else may change: the installation, and all above it."""

import os
import stat
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tidscope_backend.cli.collector_command import PACKAGE
from tidscope_backend.cli.terminal import print_lines

ROOT = 0
_PACKAGES = (
    *(PACKAGE, "tidscope_backend", "tidscope_wire", "tidscope_policies", "tidscope_predictd"),
    "tidscope_traces",
)


class WritablePath(NamedTuple):
    """A file or folder that somebody other than root may change.

    Attributes:
        path: where it is.
        who: who may.
    """

    path: Path
    who: str


def warn_if_others_may_change_it() -> None:
    """As root, warn of an installation that others may change; root would run what they put in."""
    if os.geteuid() != ROOT:
        return
    found = find_writable(installed_paths())
    if found is not None:
        print_lines(
            f"tidscope: warning: {found.path} may be changed by {found.who}, who can thereby run "
            "programs as root; install tidscope in a folder of root's, as README.md says "
            "(Installed for root)",
            file=sys.stderr,
            flush=True,
        )


def installed_paths() -> set[Path]:
    """The interpreter, its library, what is installed, and our packages."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = {Path(sys.executable), *(Path(sysconfig.get_path(kind)) for kind in kinds)}
    for package in _PACKAGES:
        spec = find_spec(package)
        paths |= {Path(place) for place in (spec and spec.submodule_search_locations) or ()}
    return paths


def find_writable(paths: Iterable[Path]) -> WritablePath | None:
    """The first of these paths, and of the folders and links on the way to them, that somebody
    other than root may change; None if there is none."""
    seen: set[Path] = set()
    for path in sorted(paths):
        for step in _way_to(path):
            if step in seen:
                continue
            seen.add(step)
            who = _who_may_write(step)
            if who:
                return WritablePath(step, who)
    return None


def _way_to(path: Path) -> Iterator[Path]:
    """From the root of the file system to the path, as it is given and with links followed."""
    for one in (path.absolute(), path.resolve()):
        yield from (*reversed(one.parents), one)


def _who_may_write(path: Path) -> str:
    """Somebody other than root who may; empty if there is nobody."""
    try:
        found = path.lstat()
    except OSError:
        return ""
    if found.st_uid != ROOT:
        return f"user {found.st_uid}"
    # Of a link the mode says nothing; in a folder with the sticky bit nobody replaces root's files.
    if stat.S_ISLNK(found.st_mode) or found.st_mode & stat.S_ISVTX:
        return ""
    if found.st_mode & stat.S_IWOTH:
        return "everybody"
    if found.st_mode & stat.S_IWGRP and found.st_gid != ROOT:
        return f"group {found.st_gid}"
    return ""
