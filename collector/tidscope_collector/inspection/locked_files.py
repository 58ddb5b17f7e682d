"""Paths of files that processes have locked, by their descriptors."""

import os
from itertools import islice

from tidscope_collector.inspection.ports import MAX_DESCRIPTORS
from tidscope_collector.procfs.files import ProcFs

LONGEST_PATH = 4096
"""Maximum length of a path, in characters."""


def path_of(procfs: ProcFs, pid: int, file: str) -> str:
    """Return the path by which a process has a file open; empty if unknown.

    The kernel names inodes in fdinfo since Linux 5.14. Files themselves are not touched, as those
    of a network may hang.

    Args:
        procfs: root of /proc.
        pid: process ID.
        file: device and inode, as in /proc/locks: `08:01:131`.
    """
    inode = b"ino:\t" + file.rpartition(":")[2].encode() + b"\n"
    locked = f" {file} ".encode()
    path = ""
    try:
        with os.scandir(procfs.path(f"{pid}/fdinfo")) as entries:
            numbers = [entry.name for entry in islice(entries, MAX_DESCRIPTORS)]
    except OSError:
        return ""
    for number in numbers:
        try:
            info = procfs.read(f"{pid}/fdinfo/{number}", 1 << 14)
            if inode in info:
                path = procfs.link(f"{pid}/fd/{number}")
        except OSError:
            continue
        # A lock in fdinfo has the device, too; a waiter's descriptor has none.
        if locked in info:
            break
    return path
