"""Files with the NKey seed of a host or a backend."""

import os
import stat
from pathlib import Path

MAX_BYTES = 1024


class KeyFileError(Exception):
    """The file cannot be used; the text says why, and what to do."""


def read_seed(path: Path) -> str:
    """Read the NKey seed of a file that only its owner may read.

    Raises:
        KeyFileError: others may read the file, it is of another user, or has no seed.
    """
    try:
        with path.open("rb") as file:
            facts = os.fstat(file.fileno())
            seed = file.read(MAX_BYTES).strip()
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read: {error.strerror}") from None
    if facts.st_uid not in (os.geteuid(), 0):
        raise KeyFileError(f"{path} is of user {facts.st_uid}; make it this user's own by chown")
    if facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyFileError(f"{path} can be read by others; run chmod 600 {path}")
    if not seed.startswith(b"SU") or not seed.isalnum():
        raise KeyFileError(f"{path} has no NKey seed; `tidscope hosts nats-key` makes one")
    return seed.decode()
