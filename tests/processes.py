"""Watching processes from outside, by events of the kernel where there are any."""

import errno
import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tidscope_wire.readiness import is_readable


def wait_for_end(pid: int, seconds: float = 120) -> None:
    """Wait until a process has ended (pidfd_open(2)); one that is gone already has."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert is_readable(descriptor, seconds), f"process {pid} still runs after {seconds} s"
    finally:
        os.close(descriptor)


def is_running(pid: int) -> bool:
    """True if a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def arguments(pid: int) -> list[str]:
    """Command line of a process."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]


def status(pid: int, key: str) -> list[str]:
    """Values of a line of /proc/PID/status."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, values = line.partition(":")
        if name == key:
            return values.split()
    raise KeyError(key)


def thread_files(pid: int, name: str) -> dict[int, str]:
    """Content of a file in /proc/PID/task/TID, by thread ID; of none that ends meanwhile."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            found[int(task.name)] = (task / name).read_text()
    return found


def thread_names(pid: int) -> set[str]:
    """Comms of the threads of a process."""
    return {name.strip() for name in thread_files(pid, "comm").values()}


def thread_states(pid: int) -> set[str]:
    """States of the threads of a process, one letter each (proc(5): field 3 of stat)."""
    return {stat.rpartition(")")[2].split()[0] for stat in thread_files(pid, "stat").values()}


def children(pid: int) -> list[int]:
    """Children of a process, those that have ended but are not reaped included."""
    texts = thread_files(pid, "children").values()
    return [int(child) for text in texts for child in text.split()]


def stop(pid: int) -> None:
    """Stop a process, and wait until all its threads stand still.

    The signal is only the beginning: until one of the threads has taken it, on a busy machine some
    time later, the others run and answer.
    """
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: thread_states(pid) <= {"T"})


def start_ticks(pid: int) -> int:
    """Start of a process in clock ticks since boot (proc(5): field 22 of stat)."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[19])


def descendants(pid: int) -> list[int]:
    """Children of a process, and theirs."""
    children: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and status(int(entry.name), "PPid") == [str(pid)]:
                children += [int(entry.name), *descendants(int(entry.name))]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return children


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Poll a condition that gives no event, such as a file, until a timeout."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def remove_group(folder: Path, home: Path) -> None:
    """Remove a control group; processes that are in it move to another one.

    The kernel does not move a process that is ending, and keeps its group until it has ended.
    """

    def is_removed() -> bool:
        for left in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (home / "cgroup.procs").write_text(left)
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
        return True

    wait_until(is_removed)


def interpreters() -> dict[tuple[int, int], str]:
    """Return interpreters of this machine by version: of the system, and those of pyenv."""
    places = [*Path("/usr/bin").glob("python3.*"), *Path.home().glob(".pyenv/versions/*/bin/*")]
    found: dict[tuple[int, int], str] = {}
    for place in sorted(places):
        match = re.fullmatch(r"python3\.(\d+)", place.name)
        if match is not None:
            found.setdefault((3, int(match[1])), str(place))
    return found
