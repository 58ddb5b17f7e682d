"""Sockets that ended programs left: a signal such as SIGTERM gives a program no time to tidy up."""

import errno
import os
import re
import socket
import stat
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"([1-9][0-9]{0,9})\.sock")
MAX_FILES = 256
"""Maximum directory entries checked per cleanup."""


def sweep(folder: Path) -> None:
    """Remove this user's sockets at which nobody listens any more.

    A process id may be of another namespace, so that it is asked whether somebody listens; programs
    that are there are not disturbed by that.
    """
    try:
        names = os.listdir(folder)[:MAX_FILES]
    except OSError:
        return
    for name in names:
        match = _NAME.fullmatch(name)
        if match and not Path("/proc", match[1]).exists():
            with suppress(OSError):
                _remove_if_stale(folder / name)


def _remove_if_stale(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        refused = probe.connect_ex(str(path)) == errno.ECONNREFUSED
    # A program may have taken the name meanwhile.
    if refused and os.path.samestat(path.lstat(), found):
        path.unlink()
