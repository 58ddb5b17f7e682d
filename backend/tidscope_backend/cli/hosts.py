"""`tidscope hosts`: secrets of hosts whose collectors connect to this user's backend."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tidscope_wire.audit import FILE as AUDIT_FILE
from tidscope_wire.audit import AuditError, AuditLog
from tidscope_wire.generated.models import Actor, AuditAction
from tidscope_wire.proof import DEFAULT_HOST_NAME, host_secret

from tidscope_backend.cli.backend_user import choose_server_user
from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.fleet_options import host_name, make_key
from tidscope_backend.cli.server_options import duration
from tidscope_backend.security.host_file import FILE_NAME, HostEntry, HostFile, HostFileError
from tidscope_backend.settings import COLLECTOR_VARIABLE, state_directory

GRACE_SECONDS = 3600.0
Work = Callable[[HostFile, argparse.Namespace], None]


def _run(options: argparse.Namespace) -> int:
    """Read or change the hosts file, and record changes in the backend's audit log."""
    work: Work = options.work
    folder = _state_folder()
    try:
        work(HostFile(folder / FILE_NAME), options)
    except HostFileError as error:
        raise CommandError(str(error)) from None
    if options.action is not None:
        caller = Actor(session=None, role=None, label=f"tidscope hosts, user {os.getuid()}")
        try:
            AuditLog(folder / AUDIT_FILE).write(options.action, "done", caller, options.name)
        except AuditError as error:
            print_lines(f"tidscope hosts: {error}", file=sys.stderr)
    return 0


def _state_folder() -> Path:
    """Return this user's state folder; under sudo, the folder of the calling user."""
    environ: dict[str, str] = dict(os.environ)
    user = choose_server_user(None, environ, os.geteuid())
    if user is not None:
        environ = user.environ(environ)
        os.setegid(user.gid)
        os.seteuid(user.uid)
    folder = state_directory(environ)
    if folder is None:
        raise CommandError("there is no state folder; set HOME or XDG_STATE_HOME")
    return folder


def _add(file: HostFile, options: argparse.Namespace) -> None:
    _print_secret(options.name, file.add(options.name, time.time()))


def _rotate(file: HostFile, options: argparse.Namespace) -> None:
    key = file.rotate(options.name, time.time(), options.grace)
    _print_secret(options.name, key)
    until = f"stays valid for {options.grace:g} s" if options.grace else "is not valid any more"
    print_lines(f"the secret before it {until}", file=sys.stderr)


def _revoke(file: HostFile, options: argparse.Namespace) -> None:
    file.revoke(options.name)
    print_lines(f"the secret of {options.name} is revoked", file=sys.stderr)


def _list(file: HostFile, _: argparse.Namespace) -> None:
    print_lines(*_table(list(file.entries().values()), time.time()))


def _nats_key(_: HostFile, options: argparse.Namespace) -> None:
    make_key(options.file, options.host)


def _table(entries: list[HostEntry], now_unix_s: float) -> Iterator[str]:
    if not entries:
        yield "no host has a secret of its own; `tidscope hosts add NAME` makes one"
        return
    width = max(len("name"), *(len(entry.name) for entry in entries))
    yield f"{'name':{width}}  {'host id':14}  {'added':16}  {'rotated':16}  old secret"
    for entry in entries:
        host_id = entry.host_ids[-1] if entry.host_ids else "(never seen)"
        rotated = "-" if entry.rotated_unix_s is None else _minute(entry.rotated_unix_s)
        old = "-"
        if entry.old is not None and entry.old.until_unix_s > now_unix_s:
            old = f"valid until {_minute(entry.old.until_unix_s)}"
        added = _minute(entry.added_unix_s)
        yield f"{entry.name:{width}}  {host_id:14}  {added}  {rotated:16}  {old}"


def _minute(unix_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(unix_s))


def _print_secret(name: str, key: bytes) -> None:
    """Print a secret as a line of an environment file; it is not shown again."""
    print_lines(f"{COLLECTOR_VARIABLE}={host_secret(name, key)}", flush=True)
    print_lines(f"give it to the collector of {name} alone: it is not shown again", file=sys.stderr)


def _name(text: str) -> str:
    """Read the name of a host."""
    host_name(text)
    if text == DEFAULT_HOST_NAME:
        raise argparse.ArgumentTypeError(
            f"{text} is the host of the backend's own {COLLECTOR_VARIABLE}; choose another name"
        )
    return text


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(metavar="SUBCOMMAND", required=True)

    def verb(
        name: str, work: Work, text: str, action: AuditAction | None = None
    ) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        made.set_defaults(work=work, action=action)
        return made

    def of_host(made: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made.add_argument("name", metavar="NAME", type=_name, help="name of the host")
        return made

    of_host(verb("add", _add, "make a secret for a host and print it", "add-secret"))
    verb("list", _list, "list the hosts that have a secret, without the secrets")
    rotate = of_host(
        verb("rotate", _rotate, "make a new secret for a host and print it", "rotate-secret")
    )
    rotate.add_argument(
        "--grace",
        type=duration,
        default=GRACE_SECONDS,
        metavar="SECONDS",
        help="how long the old secret stays valid (%(default)g)",
    )
    key = verb("nats-key", _nats_key, "make a key for NATS, and print its user for the servers")
    whose = key.add_mutually_exclusive_group(required=True)
    whose.add_argument("--host", metavar="NAME", type=host_name, help="name of the key's host")
    whose.add_argument(
        "--backend", dest="host", action="store_const", const=None, help="the key is for backends"
    )
    key.add_argument("file", metavar="FILE", type=Path, help="file to make, for its owner alone")
    of_host(verb("revoke", _revoke, "end a host's secret and its connection", "revoke-secret"))


COMMAND = Command(
    name="hosts",
    help="give each host a secret of its own, replace it, revoke it",
    description="Secrets of hosts whose collectors connect to this user's backend. A running "
    "backend notices changes within a second.",
    add_arguments=_add_arguments,
    run=_run,
)
