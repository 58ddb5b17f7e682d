"""Users as a process in namespaces of its own sees them: by its uid_map and its /etc/passwd.

Descriptors are opened first and read when all rights are given up, as those of `opened_process`.
"""

import os
from pathlib import Path
from typing import NamedTuple

from tidscope_collector.inspection.process_files import open_below, open_file, read_beginning
from tidscope_collector.procfs.namespaces import namespace_uid, read_id_map, user_in_passwd

_STATUS_BYTES, _MAP_BYTES, _PASSWD_BYTES = 4096, 1 << 15, 1 << 18
_LABEL = b"\nUid:"


class OpenedUsers(NamedTuple):
    """Descriptors; -1 for what could not be opened."""

    status: int
    uid_map: int
    passwd: int


def open_users(folder: int) -> OpenedUsers | None:
    """Open what says how a process sees users; None: it sees them as this process does.

    Args:
        folder: of the process in /proc.
    """
    apart = [name for name in ("user", "mnt") if not _is_shared(folder, name)]
    if not apart:
        return None
    uid_map = open_file(folder, "uid_map") if "user" in apart else -1
    return OpenedUsers(
        open_file(folder, "status"), uid_map, open_below(folder, "root", b"/etc/passwd")
    )


def _is_shared(folder: int, name: str) -> bool:
    """Whether a namespace is that of this process, or cannot be seen."""
    try:
        there = os.stat(f"ns/{name}", dir_fd=folder)
        here = Path("self", "ns", name).stat()
    except OSError:
        return True
    return there.st_ino == here.st_ino


def read_users(opened: OpenedUsers) -> tuple[int, int, str | None] | None:
    """Its user outside and inside, and the name inside; None: it cannot be read."""
    status = read_beginning(opened.status, _STATUS_BYTES)
    words = status.partition(_LABEL)[2].split(None, 1)
    if not words or not words[0].isdigit():
        return None
    uid = inside = int(words[0])
    if opened.uid_map >= 0:
        text = read_beginning(opened.uid_map, _MAP_BYTES).decode(errors="replace")
        mapped = namespace_uid(uid, read_id_map(text))
        inside = uid if mapped is None else mapped
    passwd = read_beginning(opened.passwd, _PASSWD_BYTES).decode(errors="replace")
    return uid, inside, user_in_passwd(passwd, inside)
