"""A Unix socket in a private folder, for a collector of the same user."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SocketError(Exception):
    """No socket can be opened; the text says why, and what to do."""


@contextmanager
def open_private_socket(user: int | None = None) -> Iterator[socket.socket]:
    """Open a listening Unix socket in a folder that only this user can enter.

    Args:
        user: user ID that root is about to become, and that removes the folder then; None for the
            current user. Root still enters it, by its group.

    Raises:
        SocketError: no socket can be opened there.
    """
    folder = Path(tempfile.mkdtemp(prefix="tidscope-"))
    try:
        if user is not None:
            os.chown(folder, user, os.getgid())
            folder.chmod(0o710)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            try:
                listening.bind(str(folder / "socket"))
                listening.listen(2)
            except OSError as error:
                raise SocketError(
                    f"no socket can be opened in {folder}: {error}; set TMPDIR to another folder, "
                    "one with a short path"
                ) from None
            yield listening
    finally:
        shutil.rmtree(folder, ignore_errors=True)
