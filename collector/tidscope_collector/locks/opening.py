"""Which account of its locks a program gives itself."""

from tidscope_wire.generated.models import Process

from tidscope_collector.locks.go_locks import GoLocks
from tidscope_collector.locks.java_locks import JavaLocks
from tidscope_collector.locks.locks import Locks
from tidscope_collector.locks.waited import LockSource


def open_locks(process: Process, *, ask_program: bool) -> Locks:
    """Make what names the locks of a process.

    Args:
        process: the process.
        ask_program: whether it may be asked for its own account, where it has one.
    """
    source = own_account(process) if ask_program else None
    return Locks(process.pid, process.start_ticks, source)


def own_account(process: Process) -> LockSource | None:
    """The account that a program of a language's runtime gives of its locks; None of others."""
    if process.runtime == "go":
        return GoLocks(process.pid, process.start_ticks)
    if process.runtime == "java":
        return JavaLocks(process.pid, process.start_ticks)
    return None
