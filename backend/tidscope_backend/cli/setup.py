"""`tidscope setup`: collector and backend as services of systemd, used without sudo afterwards."""

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tidscope_wire.proof import DEFAULT_HOST_NAME, KEY_BYTES, host_secret

from tidscope_backend.cli.collect import find_writable, installed_paths
from tidscope_backend.cli.command import Command, CommandError, print_lines
from tidscope_backend.cli.server_options import port
from tidscope_backend.security.token_file import find_service_token
from tidscope_backend.settings import COLLECTOR_VARIABLE, DEFAULT_PORT

TEMPLATES = Path(__file__).parents[1] / "units"
UNITS = ("tidscope-backend.socket", "tidscope-backend.service", "tidscope-collector.service")
ENABLED = ("tidscope-backend.socket", "tidscope-collector.service")
USERS = ("tidscope-collector", "tidscope")
KEPT = ("var/lib/tidscope", "var/log/tidscope-collector")
"""Folders of runs and audit logs; --remove keeps them."""
READY_SECONDS = 60.0
POLL_SECONDS = 0.1
_MARK = "# Written by `tidscope setup`; `tidscope setup --remove` deletes it."
_SHARED = "etc/tidscope/secret.env"
"""File of the secret that backend and collector share."""
_HIDDEN = ("home", "root", "run/user", "tmp", "var/tmp")
"""Folders below the root that the units hide."""
_PACKAGED = ("lib/systemd/system", "usr/lib/systemd/system")
"""Folders of units of packages."""
_RUNNING = Path("/run/systemd/system")


@dataclass(frozen=True)
class File:
    """A file that setup writes.

    Attributes:
        path: path below the root folder.
        text: content.
        mode: permissions.
        shown: content for the terminal, without secrets.
    """

    path: str
    text: str
    mode: int = 0o644
    shown: str = ""


def files(listen_port: int) -> list[File]:
    """Return the files, with a new secret."""
    places = {"@PORT@": str(listen_port), "@PYTHON@": sys.executable}

    def filled(template: str, path: str) -> File:
        text = (TEMPLATES / template).read_text()
        for name, value in places.items():
            text = text.replace(name, value)
        return File(path, f"{_MARK}\n{text}")

    return [
        filled("sysusers.conf", "etc/sysusers.d/tidscope.conf"),
        File(
            _SHARED,
            f"{_MARK}\n{secret_line()}\n",
            0o600,
            f"{_MARK}\n{COLLECTOR_VARIABLE}=(random)\n",
        ),
        *(filled(unit, f"etc/systemd/system/{unit}") for unit in UNITS),
    ]


def secret_line() -> str:
    """Return a new secret between backend and collector, as a line of an EnvironmentFile=."""
    secret = host_secret(DEFAULT_HOST_NAME, secrets.token_bytes(KEY_BYTES))
    return f"{COLLECTOR_VARIABLE}={secret}"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--remove",
        action="store_true",
        help="stop the services, and delete files, users and group; runs and audit logs stay",
    )
    parser.add_argument(
        "--port",
        type=port,
        default=DEFAULT_PORT,
        metavar="PORT",
        help="port of the page on 127.0.0.1 (%(default)s)",
    )
    parser.add_argument(
        "--root",
        type=Path,
        default=Path("/"),
        metavar="DIR",
        help="set up the system below DIR, such as an image; nothing is started",
    )


def _run(options: argparse.Namespace) -> int:
    """Show what would be done, ask, and do it."""
    root: Path = options.root.absolute()
    if os.geteuid() != 0:
        raise CommandError("only root can set up services: sudo tidscope setup")
    live = root == Path("/")
    if live and not _RUNNING.exists():
        raise CommandError("systemd does not run this machine; start `sudo tidscope up` instead")
    if any((root / folder / ENABLED[0]).exists() for folder in _PACKAGED):
        raise CommandError(
            "the services are those of the Debian package: `apt-get purge tidscope` removes them, "
            "`systemctl edit` changes them"
        )
    if options.remove:
        return _remove(root, live, ask=not options.yes)
    _check_place()
    wanted = files(options.port)
    for file in wanted:
        _check_replaceable(root / file.path)
    print_lines(*_plan(root, wanted, live))
    if not options.yes:
        _ask("Set this up?")
    for file in wanted:
        _write(root, file)
    _call("systemd-sysusers", f"--root={root}", str(root / "etc/sysusers.d/tidscope.conf"))
    _call("systemctl", f"--root={root}", "enable", "--quiet", *ENABLED)
    if live:
        _call("systemctl", "daemon-reload")
        _call("systemctl", "restart", *ENABLED)
        _wait(options.port)
    print_lines(
        "done; `sudo usermod -aG tidscope NAME` lets NAME look, from the next login on",
        "then `tidscope up` prints the page's address, without sudo",
    )
    return 0


def _wait(listen_port: int) -> None:
    """Wait until the backend offers its token. Raises CommandError."""
    deadline = time.monotonic() + READY_SECONDS
    while find_service_token(listen_port) is None:
        if time.monotonic() > deadline:
            raise CommandError("the services did not start; see journalctl -u 'tidscope*'")
        time.sleep(POLL_SECONDS)


def _plan(root: Path, wanted: Sequence[File], live: bool) -> Iterator[str]:
    """Yield what setup does: each file as a whole, and each command."""
    for file in wanted:
        yield f"write {root / file.path} (mode {file.mode:03o}):"
        yield from (f"    {line}" for line in (file.shown or file.text).splitlines())
    yield "add the users and groups tidscope and tidscope-collector (systemd-sysusers)"
    yield f"enable {' and '.join(ENABLED)}{' and start them' if live else ''}"


def _remove(root: Path, live: bool, ask: bool) -> int:
    found = [root / file.path for file in files(DEFAULT_PORT) if (root / file.path).exists()]
    for path in found:
        _check_replaceable(path)
    users = [name for name in USERS if _is_listed(root / "etc/passwd", name)]
    if not found and not users:
        raise CommandError(f"nothing of `tidscope setup` is below {root}")
    print_lines(
        f"stop and disable {', '.join(UNITS)}" if live else f"disable {', '.join(ENABLED)}",
        *(f"delete {path}" for path in found),
        *(f"delete user and group {name}" for name in users),
        *(f"keep {root / kept}" for kept in KEPT if (root / kept).exists()),
    )
    if ask:
        _ask("Remove it?")
    _call("systemctl", f"--root={root}", "disable", "--quiet", *ENABLED)
    if live:
        _call("systemctl", "stop", *reversed(UNITS))
        # One that failed meanwhile would stay in lists; a pattern fits units that are loaded alone.
        _call("systemctl", "reset-failed", "tidscope-*")
    for path in found:
        path.unlink()
    with_secret = (root / _SHARED).parent
    if with_secret.is_dir() and not any(with_secret.iterdir()):
        with_secret.rmdir()
    prefix = () if live else ("--prefix", str(root))
    for name in users:
        _call("userdel", *prefix, name)
        if _is_listed(root / "etc/group", name):
            _call("groupdel", *prefix, name)
    if live:
        _call("systemctl", "daemon-reload")
    return 0


def _check_place() -> None:
    """Check that services may run this installation: nobody but root changes it, and they see it.

    Raises:
        CommandError: it lies in a folder that units hide, or others can change it.
    """
    paths = installed_paths()
    for path in sorted(paths):
        for hidden in _HIDDEN:
            if path.resolve().is_relative_to(f"/{hidden}"):
                raise CommandError(
                    f"services cannot run {path}, since they see nothing of /{hidden}; install "
                    "tidscope under /opt, as README.md says (Installed for root)"
                )
    found = find_writable(paths)
    if found is not None:
        raise CommandError(
            f"{found.path} may be changed by {found.who}, who could then run programs as a "
            "service; install tidscope in a folder of root's, as README.md says"
        )


def _check_replaceable(path: Path) -> None:
    """Raise CommandError if a file exists that setup did not write."""
    if path.exists() and not path.read_text().startswith(_MARK):
        raise CommandError(f"{path} exists and is not of `tidscope setup`; move it away first")


def _write(root: Path, file: File) -> None:
    """Write a file, and its folder if missing; a secret that exists stays."""
    path = root / file.path
    if file.path == _SHARED and path.exists():
        return
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, file.mode)
    with os.fdopen(handle, "w") as opened:
        os.fchmod(handle, file.mode)
        opened.write(file.text)
    fresh.rename(path)


def _is_listed(file: Path, name: str) -> bool:
    """Return True if a file such as /etc/passwd has an entry of this name."""
    return file.exists() and any(
        line.startswith(f"{name}:") for line in file.read_text().splitlines()
    )


def _call(program: str, *arguments: str) -> None:
    found = shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if found is None:
        raise CommandError(f"there is no {program}, which `tidscope setup` needs")
    done = subprocess.run([found, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandError(f"{program} {arguments[-1]}: {done.stderr.strip()}")


def _ask(question: str) -> None:
    """Ask on the terminal. Raises CommandError unless the answer is yes."""

    def refuse(reason: str) -> NoReturn:
        raise CommandError(f"nothing was changed: {reason}")

    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:
        refuse("there is nobody to ask; --yes does not ask")
    if answer.strip().lower() not in ("y", "yes"):
        refuse("you did not agree")


COMMAND = Command(
    name="setup",
    help="run collector and backend as services, for use without sudo",
    description="Set up collector and backend as services of systemd: the collector with the "
    "capabilities to measure alone, the backend as a user without rights. Members of the group "
    "tidscope may look afterwards, without sudo. Prints each file and asks first.",
    add_arguments=_add_arguments,
    run=_run,
)
