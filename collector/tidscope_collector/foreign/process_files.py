"""Files of another process, opened through its folder in /proc.

A process id may be reused at any time. An open folder whose start time was checked stays that of
one process, and what is opened in it can still be read after all rights are given up.
"""

import errno
import os
import stat

from tidscope_collector.procfs.stat import parse_stat

MOST_THREADS = 4096


def open_folder(root: str, pid: int, start_ticks: int) -> int:
    """A process' folder: below it is that process, or nothing once it has ended.

    Args:
        root: of /proc.
        pid: of the process.
        start_ticks: its start, as in /proc/PID/stat.

    Raises:
        OSError: ESRCH if another process has the id now.
    """
    folder = os.open(f"{root}/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    file = os.open("stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    found = parse_stat(os.read(file, 4096))
    os.close(file)
    if found.start_ticks != start_ticks:
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    return folder


def open_file(folder: int, name: str) -> int:
    """A descriptor, or -1. Nothing in there is a terminal or waits for a writer (O_NONBLOCK)."""
    try:
        return os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return -1


def open_below(folder: int, name: str, path: bytes) -> int:
    """A descriptor of a regular file at an absolute path below a folder of a process, or -1.

    No link is followed on the way: it could lead out of there.

    Args:
        folder: of the process.
        name: of the folder in it, such as root.
        path: as the process sees it.
    """
    parts = path.split(b"/")[1:]
    flags = os.O_PATH | os.O_CLOEXEC
    try:
        file = os.open(name, flags | os.O_DIRECTORY, dir_fd=folder)
    except OSError:
        return -1
    try:
        for part in parts:
            if part in (b"", b".", b".."):
                return -1
            deeper = os.open(part, flags | os.O_NOFOLLOW, dir_fd=file)
            os.close(file)
            file = deeper
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return -1
        return os.open(f"/proc/self/fd/{file}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
    finally:
        os.close(file)


def thread_ids(folder: int) -> list[int]:
    """Ids of the threads of a process, at most MOST_THREADS of them; none of one that ended."""
    try:
        tasks = os.open("task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return []
    try:
        return [int(name) for name in os.listdir(tasks)[:MOST_THREADS]]
    except OSError:
        return []
    finally:
        os.close(tasks)


def read_beginning(file: int, limit: int) -> bytes:
    """The beginning of what is open; nothing of what is not."""
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
