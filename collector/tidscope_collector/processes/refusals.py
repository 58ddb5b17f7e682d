"""Whether a process may be attached to, and if not, why and what to do."""

from typing import assert_never

from tidscope_wire.generated.models import Problem
from tidscope_wire.problems import make_problem

from tidscope_collector.processes.identity import Absence, Identity


def attach_refusal(
    pid: int, found: Identity | Absence, expected_start_ticks: int | None
) -> Problem | None:
    """The reason not to attach to ``pid``, or None.

    Args:
        pid: what was asked for.
        found: what is there.
        expected_start_ticks: start time of the process that is meant; None if any will do.
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
    """Nothing has this id."""
    return make_problem(
        "unknown-process",
        f"No process has the id {pid}.",
        "It may have exited: list the processes again. Ids are those of the collector's PID "
        "namespace; inside a container they differ.",
    )


def not_permitted(pid: int) -> Problem:
    """There is a process, and its threads cannot be listed."""
    return make_problem(
        "not-permitted",
        f"Process {pid} exists, but the collector may not list its threads in /proc.",
        "Run the collector as root or as the owner of the process, or mount /proc without "
        "hidepid: mount -o remount,hidepid=0 /proc",
    )


def kernel_thread(pid: int, name: str) -> Problem:
    """It has no program of its own."""
    return make_problem(
        "kernel-thread",
        f"{pid} ({name}) is a kernel thread: it belongs to no program.",
        "Attach to the process that causes this kernel work.",
    )
