"""The ring's process beside a collector: its socket, its program, its restarts."""

import argparse
import os
import shutil
import socket
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from tidscope_backend.cli.backend_user import BackendUser
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.supervisor import Program, Supervisor, say
from tidscope_backend.processes import run_module
from tidscope_backend.ring.listing import FOLDER
from tidscope_backend.ring.status import open_status
from tidscope_backend.settings import RUNS_VARIABLE, runs_directory

KEEPER = "tidscope_backend.ring.keeper"
MB = 1_000_000
BACKLOG = 8


class Ring:
    """The socket of the ring's process, and the record in which it says how it is. Context manager.

    A privileged collector has to reach the socket, and this process to remove its folder. So root
    makes it before rights are given up: the socket is root's, its folder the user's.

    Args:
        options: options of `add_ring_options`.
        user: user of the backend and of the ring's process; None for the current one.
        environ: environment of that user, which names the runs directory.

    Attributes:
        path: path of the socket.
        runs: the runs directory, which has the ring.
        reading: descriptor of the record, for reading.

    Raises:
        CommandError: there is no runs directory.
    """

    def __init__(
        self, options: argparse.Namespace, user: BackendUser | None, environ: Mapping[str, str]
    ) -> None:
        runs = runs_directory(environ)
        if runs is None:
            raise CommandError(f"--keep-minutes needs a runs directory; set {RUNS_VARIABLE} to one")
        self.runs = runs
        self._folder = Path(tempfile.mkdtemp(prefix="tidscope-"))
        path = self._folder / "ring"
        self.path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        path.chmod(0o600)
        self._socket.listen(BACKLOG)
        if user is not None and user.uid != os.geteuid():
            self._folder.chmod(0o711)
            os.chown(self._folder, user.uid, user.gid)
        self._status = open_status()
        self.reading = os.open(f"/proc/self/fd/{self._status}", os.O_RDONLY | os.O_CLOEXEC)
        self._arguments = (
            *("--folder", str(runs / FOLDER)),
            *("--max-bytes", str(int(options.keep_mb * MB))),
            *("--max-age-s", f"{options.keep_minutes * 60:g}"),
        )

    def program(self, environ: Mapping[str, str]) -> Program:
        """Return the program."""
        descriptors = (self._socket.fileno(), self._status)
        command = run_module(KEEPER, *self._arguments)
        command += ["--socket-fd", str(descriptors[0]), "--status-fd", str(descriptors[1])]
        own = {name: value for name, value in environ.items() if not name.startswith("TIDSCOPE_")}
        return Program("ring", command, own, descriptors=descriptors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close and remove the socket."""
        self._socket.close()
        with suppress(OSError):
            shutil.rmtree(self._folder)
        os.close(self._status)
        os.close(self.reading)


async def keep_ring(ring: Supervisor) -> None:
    """Run the ring's process. Without it everything else goes on."""
    try:
        await ring.run()
    except CommandError as error:
        say(f"no minutes are kept: {error}")
