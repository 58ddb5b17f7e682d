"""`tidscope collect`: the collector alone, and its start by other verbs.

The collector is a separate program; none of its modules is imported here. A forked collector shares
the libraries already loaded, since loading takes most of a collector's start. Root is warned of an
installation that other users can change.
"""

import argparse
import gc
import os
import runpy
import signal
import stat
import sys
import sysconfig
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple, NoReturn
from urllib.parse import urlsplit, urlunsplit

from tidscope_wire.generated.limits import MIN_SECRET
from tidscope_wire.readiness import is_readable

from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.fleet_options import add_fleet_options, host_name
from tidscope_backend.cli.ring_options import add_ring_options
from tidscope_backend.cli.server_options import (
    add_ledger_options,
    add_network_option,
    add_source_option,
    add_user_option,
    source_arguments,
)
from tidscope_backend.processes import ISOLATED, exec_program, run_module, terminate_with_parent
from tidscope_backend.settings import COLLECTOR_VARIABLE, DEFAULT_HOST, DEFAULT_PORT

SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backend",
        default=f"ws://{DEFAULT_HOST}:{DEFAULT_PORT}",
        metavar="URL",
        help="address of the backend (%(default)s)",
    )
    add_fleet_options(parser, "give this host to all backends")
    parser.add_argument(
        "--fleet-name",
        metavar="NAME",
        type=host_name,
        help="name of this host, which its key is for (default: its host name)",
    )
    add_ring_options(parser)
    add_user_option(parser)
    add_network_option(parser)
    add_source_option(parser)
    add_ledger_options(parser)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    options, further = parser.parse_known_args(arguments)
    options.further = further
    return options


def _run(options: argparse.Namespace) -> int:
    """Replace this process by the collector, or run it beside its relay and the ring's process."""
    further = (*source_arguments(options), *options.further)

    def command(*words: str) -> list[str]:
        return collector_command("run", *words, *further)

    secret = "" if options.fleet else _require_secret()
    warn_if_others_may_change_it()
    backend = "" if options.fleet else socket_url(options.backend)
    if not (options.fleet or options.keep_minutes):
        exec_program(command("--backend", backend))
    from tidscope_backend.cli.collect_children import run_beside

    return run_beside(options, command, backend, secret)


def _require_secret() -> str:
    secret = os.environ.get(COLLECTOR_VARIABLE, "")
    if len(secret) < MIN_SECRET:
        what = f"has {len(secret)} characters" if secret else "is not set"
        raise CommandError(
            f"{COLLECTOR_VARIABLE} {what}; set it to the backend's collector secret, of at least "
            f"{MIN_SECRET} characters"
        )
    return secret


PATH = "/ws/collector"


def socket_url(url: str) -> str:
    """Complete a backend's address to the URL of its collector WebSocket.

    Raises:
        CommandError: the address is invalid.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise CommandError(f"--backend {url}: not an address such as ws://127.0.0.1:8787")
    path = PATH if parts.path in ("", "/") else parts.path
    return urlunsplit((SCHEMES[parts.scheme], parts.netloc, path, "", ""))


COMMAND = Command(
    name="collect",
    help="run the collector alone",
    description="Run the collector alone. It needs CAP_NET_ADMIN for complete data, and the "
    f"backend's collector secret in {COLLECTOR_VARIABLE}. Further arguments go to the "
    "collector.",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)
END_SECONDS = 15.0


class ForkedCollector:
    """A forked collector process.

    Args:
        arguments: arguments of the collector.

    Attributes:
        pid: process id.
        pidfd: file descriptor that is readable when the process has exited.
    """

    def __init__(self, arguments: list[str]) -> None:
        descriptor, name = tempfile.mkstemp(prefix="tidscope-")
        Path(name).unlink()
        self._output: IO[bytes] = os.fdopen(descriptor, "r+b")
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _run_collector(parent, arguments, self._output.fileno())
        self.pidfd = os.pidfd_open(self.pid)

    def output(self) -> str:
        """Return the output of the collector so far."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace").strip()

    def exited(self) -> bool:
        """Return True if the process has exited on its own."""
        return is_readable(self.pidfd)

    def stop(self) -> None:
        """End the process and wait for its exit."""
        os.kill(self.pid, signal.SIGTERM)
        if not is_readable(self.pidfd, END_SECONDS):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pidfd)
        self._output.close()


PACKAGE = "tidscope_collector"


def _run_collector(parent: int, arguments: list[str], output: int) -> NoReturn:
    """Become the collector, in the child process."""
    code = 1
    # The parent's handlers would only interrupt the start of the collector.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        terminate_with_parent(parent)
        # Ctrl-C must reach the command only; the parent ends this process.
        os.setsid()
        with Path(os.devnull).open("rb") as empty:
            os.dup2(empty.fileno(), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        # Collected later, inherited objects would close descriptors of the collector by number.
        gc.freeze()
        # Close inherited pipes of a held command, whose reader must see them closed.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # Discard the inherited buffer, which the parent writes.
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        sys.argv = [PACKAGE, *arguments]
        runpy.run_module(PACKAGE, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as exited:
        code = exited.code if isinstance(exited.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def collector_command(*arguments: str) -> list[str]:
    """Return the command that runs the collector with these arguments.

    Raises:
        CommandError: the collector is not installed.
    """
    if find_spec(PACKAGE) is None:
        raise CommandError(f"{PACKAGE} is not installed; reinstall tidscope")
    # Environment variables must not select the code that keeps root's privileges.
    option = ISOLATED if os.geteuid() == 0 else "-P"
    return run_module(PACKAGE, *arguments, option=option)


ROOT = 0
_PACKAGES = (
    *(PACKAGE, "tidscope_backend", "tidscope_wire", "tidscope_policies", "tidscope_predictd"),
    "tidscope_traces",
)


class WritablePath(NamedTuple):
    """A file or folder that a user other than root can change.

    Attributes:
        path: path of the file or folder.
        who: users who can change it.
    """

    path: Path
    who: str


def warn_if_others_may_change_it() -> None:
    """Warn root of an installation that other users can change: root would run their code."""
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
    """Return the paths of the interpreter, its library, installed packages and our packages."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = {Path(sys.executable), *(Path(sysconfig.get_path(kind)) for kind in kinds)}
    for package in _PACKAGES:
        spec = find_spec(package)
        paths |= {Path(place) for place in (spec and spec.submodule_search_locations) or ()}
    return paths


def find_writable(paths: Iterable[Path]) -> WritablePath | None:
    """Return the first path, or link or folder on the way, that others than root can change."""
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
    """Yield all components from the root to the path, as written and with links resolved."""
    for one in (path.absolute(), path.resolve()):
        yield from (*reversed(one.parents), one)


def _who_may_write(path: Path) -> str:
    """Return the users other than root who can write; empty if there are none."""
    try:
        found = path.lstat()
    except OSError:
        return ""
    if found.st_uid != ROOT:
        return f"user {found.st_uid}"
    # A link's mode has no effect; in a sticky folder, other users cannot replace root's files.
    if stat.S_ISLNK(found.st_mode) or found.st_mode & stat.S_ISVTX:
        return ""
    if found.st_mode & stat.S_IWOTH:
        return "everybody"
    if found.st_mode & stat.S_IWGRP and found.st_gid != ROOT:
        return f"group {found.st_gid}"
    return ""
