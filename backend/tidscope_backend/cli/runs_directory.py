"""Which runs directory a command of the terminal works on."""

import argparse
import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tidscope_backend.cli.command import CommandError
from tidscope_backend.settings import RUNS_VARIABLE, runs_directory


def add_runs_dir_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names another runs directory."""
    parser.add_argument(
        "--runs-dir", metavar="DIR", help=f"runs directory (default: ${RUNS_VARIABLE})"
    )


def chosen_runs_directory(options: argparse.Namespace) -> Path:
    """The directory that the option names, or the user's own. Raises CommandError."""
    return Path(options.runs_dir) if options.runs_dir else user_runs_directory(os.environ)


def user_runs_directory(environ: Mapping[str, str]) -> Path:
    """The runs directory of this user; under sudo, of the user who called it.

    Raises:
        CommandError: there is none.
    """
    known = dict(environ)
    if os.geteuid() == 0 and int(known.get("SUDO_UID", "0")):
        known.pop("XDG_DATA_HOME", None)
        with suppress(KeyError):
            known["HOME"] = pwd.getpwuid(int(known["SUDO_UID"])).pw_dir
    runs = runs_directory(known)
    if runs is None:
        raise CommandError(f"there is no runs directory; set {RUNS_VARIABLE} to one")
    return runs
