"""`tidscope doctor`: what this machine lets tidscope measure, as a table or as JSON."""

import argparse
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError
from tidscope_wire.generated.models import DoctorCheck, DoctorReport

from tidscope_backend.cli.collector_command import PACKAGE, collector_command
from tidscope_backend.cli.command import Command, CommandError, print_lines

WORD_WIDTH = 9
MAX_WIDTH = 100
NOT_PERMITTED = 4
"""Exit code of a collector that could not set the switch."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    switch = parser.add_mutually_exclusive_group()
    switch.add_argument(
        "--enable-delay-accounting",
        dest="delays",
        action="store_const",
        const="on",
        help="first enable the kernel's delay accounting for I/O and memory (needs root)",
    )
    switch.add_argument(
        "--disable-delay-accounting",
        dest="delays",
        action="store_const",
        const="off",
        help="first disable it again",
    )


def _run(options: argparse.Namespace) -> int:
    """Print the report; the exit code is 1 if a check failed."""
    warn_if_others_may_change_it()
    setting = () if options.delays is None else ("--delay-accounting", options.delays)
    done = subprocess.run(
        collector_command("doctor", "--json", *setting), stdout=subprocess.PIPE, check=False
    )
    if setting and done.returncode == NOT_PERMITTED:
        raise CommandError(f"delay accounting was not switched {options.delays}; see above")
    try:
        report = DoctorReport.model_validate_json(done.stdout)
    except ValidationError:
        raise CommandError(
            f"the collector gave no report (exit code {done.returncode}); see its output above"
        ) from None
    if options.json:
        print_lines(*report.model_dump_json(indent=2).split("\n"))
    else:
        width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
        print_lines(*table(report, width))
    return 1 if any(check.status == "failed" for check in report.checks) else 0


def table(report: DoctorReport, width: int) -> Iterator[str]:
    """Lay a report out for the terminal, in lines of at most `width` columns."""
    yield f"{report.host}, Linux {report.kernel}: {report.status}"
    yield ""
    for check in report.checks:
        yield from _lines(check, width)


def _lines(check: DoctorCheck, width: int) -> Iterator[str]:
    indent = " " * WORD_WIDTH
    word = check.status.upper() if check.status == "failed" else check.status
    yield from textwrap.wrap(
        f"{check.title}: {check.finding}",
        width,
        initial_indent=word.ljust(WORD_WIDTH),
        subsequent_indent=indent,
    )
    for label, text in (("impact", check.impact), ("fix", check.fix)):
        if text:
            # A command must be copied as it is: no hyphen of ours in it, no word cut.
            yield from textwrap.wrap(
                f"{label}: {text}",
                width,
                initial_indent=indent,
                subsequent_indent=indent + "      ",
                break_long_words=False,
                break_on_hyphens=False,
            )


COMMAND = Command(
    name="doctor",
    help="check what this machine lets tidscope measure, and how to fix the rest",
    add_arguments=_add_arguments,
    run=_run,
)


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
