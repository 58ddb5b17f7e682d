"""Which account of its locks a program gives itself."""

from tidscope_wire.generated.models import Process

from tidscope_collector.locks.go_locks import GoLocks
from tidscope_collector.locks.java_locks import JavaLocks
from tidscope_collector.locks.locks import Locks
from tidscope_collector.locks.waited import LockSource
from tidscope_collector.procfs.files import ProcFs


def open_locks(procfs: ProcFs, process: Process, *, ask_program: bool) -> Locks:
    """Make what names the locks of a process.

    Args:
        procfs: where it is.
        process: the process.
        ask_program: whether it may be asked for its own account, where it has one.
    """
    source = own_account(procfs, process) if ask_program else None
    return Locks(procfs, process.pid, process.start_ticks, source)


def own_account(procfs: ProcFs, process: Process) -> LockSource | None:
    """The account that a program of a language's runtime gives of its locks; None of others."""
    if process.runtime == "go":
        return GoLocks(procfs, process.pid, process.start_ticks)
    if process.runtime == "java":
        return JavaLocks(procfs, process.pid, process.start_ticks)
    return None
