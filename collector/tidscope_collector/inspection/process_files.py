"""Files of another process, opened through its folder in /proc.

/proc is the working folder of the fork server and its children. Process IDs are recycled at any
time. An open folder whose start time was verified stays bound to one process, and its opened files
stay readable after all rights are given up.
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Collection

from tidscope_collector.procfs.process import parse_stat

MAX_THREADS = 4096
ENVIRONMENT_BYTES = 1 << 20
LONGEST_VALUE = 4096

_PROC_MAGIC = 0x9FA0  # PROC_SUPER_MAGIC, linux/magic.h
_STATFS_BYTES = 256  # larger than any struct statfs
_OPENAT2 = 437  # the same on all architectures
_HOW = struct.Struct("=3Q")  # struct open_how: flags, mode, resolve
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH, _IN_ROOT = 0x02, 0x04, 0x08, 0x10  # linux/openat2.h
_NO_LINKS = _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
_NOT_THERE = (errno.ENOSYS, errno.EPERM)
"""Errors without openat2(2): before Linux 5.6, or refused by a system call filter."""

_libc = ctypes.CDLL(None, use_errno=True)


def hold_proc(path: str, *, made: bool) -> int:
    """Open /proc; a later mount over it does not replace the descriptor.

    Args:
        path: path of /proc.
        made: True if it need not be the kernel's.

    Raises:
        OSError: it cannot be opened, or is no process file system.
    """
    folder = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    found = ctypes.create_string_buffer(_STATFS_BYTES)
    if _libc.fstatfs(folder, found) != 0:
        raise OSError(ctypes.get_errno(), "fstatfs")
    if not made and ctypes.c_long.from_buffer(found).value != _PROC_MAGIC:
        os.close(folder)
        raise OSError(errno.ENODEV, f"{path} is no process file system")
    return folder


def open_folder(pid: int, start_ticks: int) -> int:
    """Open a process' folder, which stays bound to that process.

    Args:
        pid: process ID.
        start_ticks: start time of the process, as in /proc/PID/stat.

    Raises:
        OSError: ESRCH if the ID belongs to another process now.
        ValueError: the stat is invalid.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(f"{pid:d}", flags)
    try:
        file = os.open("stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            found = parse_stat(os.read(file, 4096))
        finally:
            os.close(file)
        if found.start_ticks != start_ticks:
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    except BaseException:
        os.close(folder)
        raise
    return folder


def open_without_links(folder: int, path: str | bytes) -> int:
    """Open (O_PATH) the file at an absolute path as seen from a folder.

    Args:
        folder: descriptor of the path's root.
        path: path without links and `..`, either of which could lead out of the folder.

    Raises:
        OSError: ELOOP for a link, EXDEV for `.`, `..` or an empty part.
    """
    return _open_path(folder, path, _NO_LINKS)


def _open_path(folder: int, path: str | bytes, resolve: int) -> int:
    first, *parts = os.fsencode(path).split(b"/")
    if first or not parts or any(part in (b"", b".", b"..") for part in parts):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    how = _HOW.pack(os.O_PATH | os.O_CLOEXEC, 0, resolve)
    file: int = _libc.syscall(_OPENAT2, folder, b"/".join(parts), how, ctypes.c_size_t(len(how)))
    if file >= 0:
        return file
    number = ctypes.get_errno()
    if number in _NOT_THERE:
        return _walk(folder, parts)
    raise OSError(number, os.strerror(number))


def _walk(folder: int, parts: list[bytes]) -> int:
    """Open a path part by part, for kernels without openat2(2)."""
    file = os.dup(folder)
    try:
        for part in parts:
            deeper = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=file)
            os.close(file)
            file = deeper
            if stat.S_ISLNK(os.fstat(file).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except BaseException:
        os.close(file)
        raise
    return file


def open_file(folder: int, name: str) -> int:
    """Open a file, or return -1. O_NONBLOCK avoids waiting for a FIFO's writer."""
    try:
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return -1


def open_below(folder: int, name: str, path: bytes) -> int:
    """Open a regular file at an absolute path below a process' folder, or return -1.

    Links are not followed, because they could lead out of the folder.

    Args:
        folder: descriptor of the process' folder.
        name: name of the subfolder, such as root.
        path: path as the process sees it.
    """
    try:
        root = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return -1
    try:
        return _open_regular(root, path, _NO_LINKS)
    finally:
        os.close(root)


def open_inside(root: int, path: bytes) -> int:
    """Open a regular file at an absolute path inside a root folder, or return -1.

    Links are followed as a process with this root follows them, so that none leads out of it.
    Before Linux 5.6 a path with links is not opened.
    """
    return _open_regular(root, path, _IN_ROOT | _NO_MAGICLINKS)


def _open_regular(root: int, path: bytes, resolve: int) -> int:
    try:
        file = _open_path(root, path, resolve)
    except OSError:
        return -1
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return -1
        return os.open(f"self/fd/{file}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
    finally:
        os.close(file)


def thread_ids(folder: int) -> list[int]:
    """Return at most MAX_THREADS thread IDs of a process; none if it has ended."""
    try:
        tasks = os.open("task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return []
    try:
        return [int(name) for name in os.listdir(tasks)[:MAX_THREADS]]
    except OSError:
        return []
    finally:
        os.close(tasks)


def read_beginning(file: int, limit: int) -> bytes:
    """Return the beginning of an open file; empty for -1."""
    data = b""
    try:
        while file >= 0 and len(data) < limit:
            piece = os.read(file, min(limit - len(data), 1 << 16))
            if not piece:
                break
            data += piece
    except OSError:
        pass
    return data


def read_variables(file: int, names: Collection[str]) -> dict[str, str]:
    """Return variables of an open /proc/PID/environ by name; the first duplicate wins."""
    found: dict[str, str] = {}
    for entry in read_beginning(file, ENVIRONMENT_BYTES).split(b"\0"):
        key, _, value = entry.partition(b"=")
        name = key.decode(errors="replace")
        if name in names:
            found.setdefault(name, os.fsdecode(value[:LONGEST_VALUE]))
    return found
