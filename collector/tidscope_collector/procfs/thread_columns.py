"""Counters of threads that this kernel has in /proc, for a collector without taskstats."""

import errno
from dataclasses import dataclass

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import AbsentField, CatalogueField

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import TargetExitedError, parse_stat

_THREAD_FIELDS = tuple(field for field in CATALOGUE.fields if field.scope == "thread")
_FILE_BYTES = 8192


@dataclass(frozen=True, slots=True)
class ThreadColumns:
    """Columns of the threads of a process.

    Attributes:
        base: names, and the key of /proc that each is, such as schedstat[0].
        absent: further fields of the catalogue, with the reasons.
    """

    base: tuple[tuple[str, str], ...]
    absent: tuple[AbsentField, ...]


def thread_columns(procfs: ProcFs, pid: int, taskstats_refusal: str = "") -> ThreadColumns:
    """Find which files of a process' threads can be read.

    Args:
        procfs: root of /proc.
        pid: process ID.
        taskstats_refusal: why taskstats is not used, for the reasons of absent fields.

    Raises:
        TargetExitedError: the process does not exist, or has ended.
        PermissionError: the threads may not be read.
    """
    files = sorted({file for field in _THREAD_FIELDS if (file := _file(field))})
    missing = {file: reason for file in files if (reason := _why_unreadable(procfs, pid, file))}
    if "stat" in missing:
        raise PermissionError(errno.EACCES, missing["stat"])
    base, absent = [], []
    for field in _THREAD_FIELDS:
        reason = _reason(field, missing, taskstats_refusal)
        if reason:
            absent.append(AbsentField(field=field.name, reason=reason))
        elif field.procfs is not None:
            base.append((field.name, field.procfs))
    return ThreadColumns(tuple(base), tuple(absent))


def _file(field: CatalogueField) -> str:
    return "" if field.procfs is None else field.procfs.partition("[")[0]


def _why_unreadable(procfs: ProcFs, pid: int, file: str) -> str:
    """Read one file of the main thread. Return "" if it is readable."""
    where = f"/proc/{pid}/task/{pid}/{file}"
    try:
        procfs.read(f"{pid}/task/{pid}/{file}", _FILE_BYTES)
    except PermissionError:
        return (
            f"{where} may not be read by this user: run the collector as root, with "
            "CAP_SYS_PTRACE, or as the owner of the process."
        )
    except (FileNotFoundError, ProcessLookupError):
        _check_alive(procfs, pid)
        return f"{where} does not exist: the kernel was built without it."
    return ""


def _check_alive(procfs: ProcFs, pid: int) -> None:
    try:
        if not parse_stat(procfs.read(f"{pid}/task/{pid}/stat", _FILE_BYTES)).ended:
            return
    except (FileNotFoundError, ProcessLookupError):
        pass
    raise TargetExitedError(f"process {pid} has ended")


def _reason(field: CatalogueField, missing: dict[str, str], taskstats_refusal: str) -> str:
    """Return why a field is absent, or "" if it is present."""
    if field.procfs is not None:
        return missing.get(_file(field), "")
    if field.group == "state":
        return "The ledger of states needs eBPF."
    if field.since_version is None:
        return "/proc has no network counters per thread."
    reason = "Only taskstats has this field, and it is not in use here"
    return f"{reason}: {taskstats_refusal}" if taskstats_refusal else f"{reason}."
