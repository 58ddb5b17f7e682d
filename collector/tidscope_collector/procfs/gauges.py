"""Values of a process as a whole."""

import os

from tidscope_collector.procfs.files import ProcFs

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def rss_bytes(procfs: ProcFs, pid: int) -> int | None:
    """Resident memory of a process; None if it cannot be read or has no memory any more.

    Source: /proc/PID/statm, second number, in pages. A main thread that ended before the others
    has none, then one of the others is asked.
    """
    try:
        pages = _resident_pages(procfs, f"{pid}/statm")
        if pages == 0:
            with os.scandir(procfs.path(f"{pid}/task")) as tasks:
                others = [task.name for task in tasks if task.name != str(pid)]
            pages = _resident_pages(procfs, f"{pid}/task/{others[0]}/statm") if others else 0
    except OSError:
        return None
    return pages * PAGE_BYTES or None


def _resident_pages(procfs: ProcFs, path: str) -> int:
    return int(procfs.read(path, 256).split()[1])
