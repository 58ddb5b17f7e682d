"""The way to a socket in folders of others: no link is followed, and nothing is read."""

import errno
import os
import stat
from typing import Literal, NamedTuple

Kind = Literal["missing", "wrong", "closed"]


class Obstacle(NamedTuple):
    """Why there is no socket at a path.

    Attributes:
        kind: missing: nothing is there; wrong: something that must not be there; closed: the
            kernel does not let it be opened.
        text: a sentence for people.
    """

    kind: Kind
    text: str


def open_socket(root: int, path: str) -> int | Obstacle:
    """A descriptor (O_PATH) of the socket at an absolute path below ``root``."""
    file = os.dup(root)
    try:
        kind = stat.S_IFDIR
        for part in path.split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                return Obstacle("wrong", f"{path} contains a parent folder.")
            deeper = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=file)
            file, before = deeper, file
            os.close(before)
            kind = os.fstat(file).st_mode
            if stat.S_ISLNK(kind):
                return Obstacle("wrong", f"{path} goes through a symbolic link ({part}).")
        if not stat.S_ISSOCK(kind):
            return Obstacle("wrong", f"{path} is not a socket.")
        found, file = file, -1
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return Obstacle("missing", f"There is no {path}.")
        return Obstacle("closed", f"{path} cannot be opened: {error.strerror}.")
    else:
        return found
    finally:
        if file >= 0:
            os.close(file)
