"""Description of a process: language runtime, executable, and users as its namespaces see them.

Files are opened first and read after all rights are given up: opening takes rights, but a reader of
untrusted bytes must have none. Users come from the process' uid_map and /etc/passwd.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from tidscope_collector.goruntime.elf import ElfError, is_go, read_build_info, read_elf
from tidscope_collector.inspection.process_files import (
    open_below,
    open_file,
    open_folder,
    read_beginning,
)
from tidscope_collector.procfs.process import namespace_uid, read_id_map, user_in_passwd

MAPS_BYTES = 1 << 18

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?$")
_NAMES = {"java": "java", "node": "node", "nodejs": "node"}
_LIBRARIES = ((b"/libjvm.so", "java"), (b"/libpython", "python"), (b"/libnode.so", "node"))


class FoundRuntime(NamedTuple):
    """A runtime and its version, such as go1.26.8 or python3.11; None if unknown."""

    runtime: str
    version: str | None


NATIVE = FoundRuntime("native", None)


def runtime_of_executable(executable: str, file: int) -> FoundRuntime:
    """Return the runtime, from the executable's name and the Go linker's data.

    Args:
        executable: target of /proc/PID/exe.
        file: descriptor of the executable.

    Raises:
        OSError: it is unreadable.
    """
    name = executable.removesuffix(" (deleted)").rpartition("/")[2]
    if _PYTHON.match(name):
        return FoundRuntime("python", name if name[-1].isdigit() else None)
    if name in _NAMES:
        return FoundRuntime(_NAMES[name], None)
    try:
        elf = read_elf(file)
        if is_go(elf):
            info = read_build_info(elf)
            return FoundRuntime("go", info.version if info else None)
    except ElfError:
        pass
    return NATIVE


def embedded_runtime(maps: bytes) -> FoundRuntime:
    """Return the runtime that a program loads as a library, from the start of /proc/PID/maps."""
    return next(
        (FoundRuntime(name, None) for library, name in _LIBRARIES if library in maps), NATIVE
    )


_STATUS_BYTES, _MAP_BYTES, _PASSWD_BYTES = 4096, 1 << 15, 1 << 18
_LABEL = b"\nUid:"


class OpenedUsers(NamedTuple):
    """Descriptors of files about users; -1 if not opened."""

    status: int
    uid_map: int
    passwd: int


def open_users(folder: int) -> OpenedUsers | None:
    """Open the files that show a process' users; None if its users are the same as this process'.

    Args:
        folder: descriptor of the process' folder in /proc.
    """
    apart = [name for name in ("user", "mnt") if not _is_shared(folder, name)]
    if not apart:
        return None
    uid_map = open_file(folder, "uid_map") if "user" in apart else -1
    return OpenedUsers(
        open_file(folder, "status"), uid_map, open_below(folder, "root", b"/etc/passwd")
    )


def _is_shared(folder: int, name: str) -> bool:
    """Return True if a namespace is shared with this process, or inaccessible."""
    try:
        there = os.stat(f"ns/{name}", dir_fd=folder)
        here = Path("self", "ns", name).stat()
    except OSError:
        return True
    return there.st_ino == here.st_ino


def read_users(opened: OpenedUsers) -> tuple[int, int, str | None] | None:
    """Return user ID outside, user ID inside and name inside; None if unreadable."""
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


Key = tuple[int, int, int]
"""Device, inode and change time of an executable."""


class OpenedProcess(NamedTuple):
    """Descriptors of a process; -1 if not opened.

    Attributes:
        known: True if the executable is the known one.
        users: files about its users; None if they are the same, or known.
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
    """Open the files for a description; the executable only if it is not the known one.

    Raises:
        OSError: the process has ended.
        ValueError: the stat is invalid.
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
    """Return the runtime; None if the executable is the known one, or inaccessible."""
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
