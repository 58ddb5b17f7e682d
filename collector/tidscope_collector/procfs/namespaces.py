"""Ids of a process as it sees them itself, where it is in a namespace of its own. Pure.

Sources: pid_namespaces(7) and proc_pid_status(5) (NSpid), user_namespaces(7) (uid_map).
"""

import re
from typing import NamedTuple

_NSPID = re.compile(rb"^NSpid:\s*([\d\t ]+)$", re.MULTILINE)
_MAX_LINES = 340
"""That a map may have (user_namespaces(7))."""


class IdRange(NamedTuple):
    """A line of uid_map: so many ids from `inside` on are those from `outside` on."""

    inside: int
    outside: int
    length: int


def namespace_pid(status: bytes) -> int | None:
    """The id of a process in its own PID namespace, by its /proc/PID/status.

    Returns:
        None if that is the namespace of whoever mounted /proc, or the kernel does not say.
    """
    found = _NSPID.search(status)
    ids = found[1].split() if found else []
    return int(ids[-1]) if len(ids) > 1 else None


def read_id_map(text: str) -> list[IdRange]:
    """The lines of /proc/PID/uid_map or gid_map; those that make no sense are left out."""
    ranges = []
    for line in text.splitlines()[:_MAX_LINES]:
        words = line.split()
        if len(words) == 3 and all(word.isdecimal() for word in words):
            ranges.append(IdRange(*map(int, words)))
    return ranges


def namespace_uid(uid: int, ranges: list[IdRange]) -> int | None:
    """The user id that a process has in its own user namespace.

    Args:
        uid: outside, as whoever read the map sees it.
        ranges: of the process' uid_map.

    Returns:
        None if it is the same there, or has no id there.
    """
    for one in ranges:
        if one.outside <= uid < one.outside + one.length:
            found = uid - one.outside + one.inside
            return None if found == uid else found
    return None


def user_in_passwd(passwd: str, uid: int) -> str | None:
    """The name of a user by the text of a passwd(5) file; None if it is not in there."""
    for line in passwd.splitlines():
        words = line.split(":")
        if len(words) >= 3 and words[2] == str(uid) and words[0]:
            return words[0][:64]
    return None
