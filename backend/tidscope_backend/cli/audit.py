"""`tidscope audit`: changes and their authors, from the audit logs of this machine."""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from tidscope_wire.audit import FILE, SYSTEM_FOLDER, default_path, read_records
from tidscope_wire.generated.models import AuditRecord

from tidscope_backend.cli.backend_user import choose_server_user
from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.settings import state_directory
from tidscope_backend.text import plural


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the lines of the logs as JSON")
    parser.add_argument(
        "--file",
        type=Path,
        action="append",
        metavar="FILE",
        help=f"log to print; repeatable (the backend's and the collector's logs of this user, and "
        f"{SYSTEM_FOLDER / FILE})",
    )


def _run(options: argparse.Namespace) -> int:
    """Print the logs, oldest entry first. Return 1 if a log is missing or unreadable."""
    found: list[AuditRecord] = []
    unreadable = 0
    for path in options.file or default_paths():
        try:
            found += read_records(path)
        except OSError as error:
            unreadable += 1
            print_lines(f"tidscope audit: {path}: {error.strerror or error}", file=sys.stderr)
    if not found and not unreadable:
        raise CommandError("there is no audit log here; name one with --file")
    for record in sorted(found, key=lambda each: each.unix_us):
        print_lines(*([record.model_dump_json()] if options.json else lines_of(record)))
    return 1 if unreadable else 0


def default_paths() -> list[Path]:
    """Return the paths of this user's logs, and of the log of a collector run by root.

    Under sudo, the backend runs as the calling user.
    """
    environ: Mapping[str, str] = dict(os.environ)
    user = choose_server_user(None, environ, os.geteuid())
    state = state_directory(environ if user is None else user.environ(environ))
    paths = [] if state is None else [state / FILE]
    return list(dict.fromkeys([*paths, default_path(), SYSTEM_FOLDER / FILE]))


def lines_of(record: AuditRecord) -> Iterator[str]:
    """Format a record as readable text."""
    if record.lost:
        yield f"({plural(record.lost, 'line')} could not be written here)"
    at = datetime.fromtimestamp(record.unix_us // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    details = "  ".join(f"{name}={text}" for name, text in record.details.items())
    parts = [at, record.actor.label, record.action, record.object or "", record.outcome, details]
    yield "  ".join(part for part in parts if part)


COMMAND = Command(
    name="audit",
    help="print who changed what: sign-ins, attaching, steering, recording, deleting",
    add_arguments=_add_arguments,
    run=_run,
)
