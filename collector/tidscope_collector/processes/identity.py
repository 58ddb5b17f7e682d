"""Identity of a process, by ID and start time because IDs are recycled, and refusals to attach."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from tidscope_wire.generated.models import Problem
from tidscope_wire.problems import make_problem

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat


class Absence(Enum):
    """Why nothing is known about a process ID."""

    MISSING = "no process has this id"
    HIDDEN = "there is such a process, and /proc does not show it to this user"


@dataclass(frozen=True, slots=True)
class Identity:
    """A process, or a thread given instead of one.

    Attributes:
        pid: requested ID.
        group: ID of the process (thread group); differs from `pid` for a thread.
        start_ticks: start time in clock ticks since boot (field 22 of stat).
        uid: real user ID.
        ended: True for a zombie without live threads.
    """

    pid: int
    group: int
    start_ticks: int
    name: str
    uid: int
    kernel_thread: bool
    ended: bool


def identify(
    procfs: ProcFs, pid: int, exists: Callable[[int], bool] | None = None
) -> Identity | Absence:
    """Identify the process with an ID.

    Args:
        procfs: root of /proc.
        pid: process ID.
        exists: returns True if the kernel knows an ID that /proc hides (hidepid); by default sends
            signal 0.
    """
    try:
        stat = parse_stat(procfs.read(f"{pid}/stat"))
        group, uid = group_and_uid(procfs.read(f"{pid}/status"))
        # hidepid=1 shows the folder, but ptrace rules may close it; sampling needs it open.
        with os.scandir(procfs.path(f"{pid}/task")):
            pass
    except PermissionError:
        return Absence.HIDDEN
    except (FileNotFoundError, ProcessLookupError):
        known = (exists or known_to_kernel)(pid)
        return Absence.HIDDEN if known else Absence.MISSING
    return Identity(
        pid=pid,
        group=group,
        start_ticks=stat.start_ticks,
        name=stat.name.decode(errors="replace"),
        uid=uid,
        kernel_thread=stat.kernel_thread,
        ended=stat.ended,
    )


def group_and_uid(status: bytes) -> tuple[int, int]:
    """Return thread group ID and real user ID from /proc/PID/status.

    Raises:
        ValueError: a value is missing.
    """
    return _first_number(status, b"\nTgid:"), _first_number(status, b"\nUid:")


def _first_number(status: bytes, label: bytes) -> int:
    start = status.find(label)
    if start < 0:
        raise ValueError(f"status without {label.decode().strip()}")
    return int(status[start + len(label) :].split(None, 1)[0])


def known_to_kernel(pid: int) -> bool:
    """Return True if a process or thread has this ID, even if hidden. Signal 0 is not delivered."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def attach_refusal(
    pid: int, found: Identity | Absence, expected_start_ticks: int | None
) -> Problem | None:
    """Return the reason not to attach to ``pid``, or None.

    Args:
        pid: requested process ID.
        found: identity of that ID.
        expected_start_ticks: start time of the intended process, or None for any.
    """
    match found:
        case Absence.MISSING:
            return unknown_process(pid)
        case Absence.HIDDEN:
            return not_permitted(pid)
        case Identity():
            return _judge(found, expected_start_ticks)
        case _:
            assert_never(found)


def _judge(found: Identity, expected_start_ticks: int | None) -> Problem | None:
    if found.group != found.pid:
        return make_problem(
            "unknown-process",
            f"{found.pid} is a thread ({found.name}), not a process.",
            f"Attach to its process instead: {found.group}.",
        )
    if expected_start_ticks is not None and expected_start_ticks != found.start_ticks:
        return make_problem(
            "process-id-reused",
            f"The requested process {found.pid} started {expected_start_ticks} clock ticks after "
            f"boot; the process with this id now ({found.name}) started {found.start_ticks} ticks "
            "after boot.",
            "The requested process has exited. List the processes again and choose one.",
        )
    if found.kernel_thread:
        return kernel_thread(found.pid, found.name)
    if found.ended:
        return make_problem(
            "target-exited",
            f"Process {found.pid} ({found.name}) has exited; its parent has not collected its exit "
            "code yet (a zombie).",
            "Start the program again and attach to the new process.",
        )
    return None


def unknown_process(pid: int) -> Problem:
    """Return the problem that no process has this ID."""
    return make_problem(
        "unknown-process",
        f"No process has the id {pid}.",
        "It may have exited: list the processes again. Ids are those of the collector's PID "
        "namespace; inside a container they differ.",
    )


def not_permitted(pid: int) -> Problem:
    """Return the problem that a process' threads cannot be listed."""
    return make_problem(
        "not-permitted",
        f"Process {pid} exists, but the collector may not list its threads in /proc.",
        "Run the collector as root or as the owner of the process, or mount /proc without "
        "hidepid: mount -o remount,hidepid=0 /proc",
    )


def kernel_thread(pid: int, name: str) -> Problem:
    """Return the problem that a kernel thread has no program."""
    return make_problem(
        "kernel-thread",
        f"{pid} ({name}) is a kernel thread: it belongs to no program.",
        "Attach to the process that causes this kernel work.",
    )
