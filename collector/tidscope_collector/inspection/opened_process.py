"""A process whose files are opened first and read later, when all rights are given up.

Opening takes rights; reading what others have written must not have any.
"""

import os
from typing import NamedTuple

from tidscope_collector.inspection.inner_users import OpenedUsers, open_users
from tidscope_collector.inspection.process_files import open_file, open_folder, read_beginning
from tidscope_collector.inspection.runtimes import (
    MAPS_BYTES,
    NATIVE,
    FoundRuntime,
    embedded_runtime,
    runtime_of_executable,
)

Key = tuple[int, int, int]
"""Device, inode and change time of an executable."""


class OpenedProcess(NamedTuple):
    """Descriptors of a process; -1 for what could not be opened.

    Attributes:
        known: its executable is the one that it is known to have.
        users: how it sees users; None: as this process does, or as it is known to.
    """

    pid: int
    known: bool
    key: Key | None
    command: int
    executable: str
    file: int
    maps: int
    users: OpenedUsers | None = None


def open_process(pid: int, start_ticks: int, known: Key | None) -> OpenedProcess:
    """Open what a description needs; its executable only if that is not the known one.

    Raises:
        OSError: it has ended.
        ValueError: its /proc/PID/stat makes no sense.
    """
    folder = open_folder(pid, start_ticks)
    try:
        command = open_file(folder, "cmdline")
        try:
            executable = os.readlink("exe", dir_fd=folder)
            status = os.stat("exe", dir_fd=folder)
        except OSError:
            return OpenedProcess(pid, False, None, command, "", -1, -1)
        key = (status.st_dev, status.st_ino, status.st_mtime_ns)
        if key == known:
            return OpenedProcess(pid, True, key, command, executable, -1, -1)
        file, maps = open_file(folder, "exe"), open_file(folder, "maps")
        users = open_users(folder)
        return OpenedProcess(pid, False, key, command, executable, file, maps, users)
    finally:
        os.close(folder)


def find_runtime(one: OpenedProcess) -> FoundRuntime | None:
    """Its runtime; None if its executable is the known one or may not be seen."""
    if one.key is None or one.known:
        return None
    if one.file < 0:
        return FoundRuntime("unknown", None)
    try:
        found = runtime_of_executable(one.executable, one.file)
    except OSError:
        return NATIVE
    # A program may embed a runtime as a library.
    return embedded_runtime(read_beginning(one.maps, MAPS_BYTES)) if found is NATIVE else found
