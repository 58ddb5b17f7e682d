"""The daemon as a process: socket and folder are made, rights given up, clients served."""

import errno
import os
import resource
import signal
import socket
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tidscope_predictd.confinement import confine
from tidscope_predictd.server import BACKLOG, Server
from tidscope_predictd.storage import Storage

_DESCRIPTORS = 2048
"""Enough for all models and connections that there may be."""


def run(path: Path, folder: Path, administrators: Collection[int]) -> int:
    """Serve until SIGTERM or SIGINT; the exit code.

    Args:
        path: of the socket; its folder is made if it is not there.
        folder: of the models; made if it is not there.
        administrators: user ids that may do with every model what its owner may.

    Raises:
        OSError: socket or folder cannot be made, or another daemon serves the socket.
    """
    os.umask(0o022)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _allow_descriptors()
    listening = listen(path)
    server = Server(listening, Storage(folder), administrators)
    for gap in confine(folder):
        print(f"predictd: not confined in {gap}", file=sys.stderr)
    print(f"predictd: serving {path}, models in {folder}", file=sys.stderr, flush=True)
    signal.set_wakeup_fd(server.stop_end.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server.serve()
    signal.set_wakeup_fd(-1)
    return 0


def listen(path: Path) -> socket.socket:
    """The socket of a daemon, which every user may connect to.

    Raises:
        OSError: it cannot be made, or another daemon serves it.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
                other.connect(str(path))
            raise OSError(errno.EADDRINUSE, f"another daemon serves {path}")
        path.unlink(missing_ok=True)
        listening.bind(str(path))
        path.chmod(0o666)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _allow_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
