"""`tidscope predictd`: run the prediction service of this host, or list its models."""

import argparse
import json
import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidscope_predictd.client import SYSTEM_SOCKET, VARIABLE, ServiceError, connect, socket_path

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.settings import state_directory

SYSTEM_FOLDER = Path("/var/lib/tidscope/predictd")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--socket",
        type=Path,
        metavar="PATH",
        help=f"where it serves ({VARIABLE} in the environment, or {SYSTEM_SOCKET})",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help=f"where models are kept ({SYSTEM_FOLDER}; of other users than root: "
        "~/.local/state/tidscope/predictd)",
    )
    parser.add_argument(
        "--administrator",
        action="append",
        default=[],
        metavar="USER",
        help="user who may see and reset every model, such as the backend's; repeatable",
    )
    parser.add_argument(
        "--list", action="store_true", help="print the models of the service that runs"
    )
    parser.add_argument("--json", action="store_true", help="with --list: as JSON")


def _run(options: argparse.Namespace) -> int:
    path = options.socket or socket_path()
    if options.list:
        return _list(path, as_json=options.json)
    if options.json:
        raise CommandError("--json belongs to --list")
    # Imported here, because listing needs no server.
    from tidscope_predictd.daemon import run

    folder = options.folder or _default_folder()
    administrators = [_user(name) for name in options.administrator]
    try:
        return run(path, folder, administrators)
    except OSError as error:
        raise CommandError(f"the service cannot start: {error}") from error


def _list(path: Path, *, as_json: bool) -> int:
    try:
        connection = connect(path)
        try:
            models = connection.models()
        finally:
            connection.close()
    except ServiceError as error:
        raise CommandError(str(error)) from error
    print_lines(*(json.dumps(models, indent=2).split("\n") if as_json else table(models)))
    return 0


def table(models: list[dict[str, Any]]) -> Iterator[str]:
    """Format the models as text, one line each."""
    yield f"{'MODEL':32} {'OWNER':>8} {'SHARING':8} {'USERS':>5} {'UPDATES':>9} {'HITS':>6} WEIGHTS"
    for one in models:
        decided = one["updates"] - one["undecided"]
        hits = f"{100 * one['hits'] / decided:.0f} %" if decided else "n/a"
        yield (
            f"{one['name']:32} {one['owner']:>8} {one['sharing']:8} {one['users']:>5} "
            f"{one['updates']:>9} {hits:>6} {one['used_weights']}"
        )


def _default_folder() -> Path:
    state = None if os.geteuid() == 0 else state_directory(os.environ)
    return SYSTEM_FOLDER if state is None else state / "predictd"


def _user(name: str) -> int:
    try:
        return int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid
    except KeyError:
        raise CommandError(f"--administrator {name}: there is no such user") from None


COMMAND = Command(
    name="predictd",
    help="run the prediction service of this host, or list its models",
    add_arguments=_add_arguments,
    run=_run,
)
