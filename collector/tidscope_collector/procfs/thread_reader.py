"""Reader of threads from /proc, for a collector without taskstats.

It gives fewer fields, and costs ten to fifty times more per thread (four files each).
"""

import errno
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import AbsentField, CatalogueField

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import Stat, parse_stat
from tidscope_collector.threads.reading import Reading, TargetExitedError

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_THREAD_FIELDS = tuple(field for field in CATALOGUE.fields if field.scope == "thread")
_GONE = (errno.ENOENT, errno.ESRCH)
_FILE_BYTES = 8192  # status, the longest of the four, has about 1,500
_US_PER_TICK = 1_000_000 // TICKS_PER_SECOND


@dataclass(frozen=True, slots=True)
class _Column:
    """Source of a field: ``key`` of /proc/PID/task/TID/``file``."""

    field: str
    file: str
    key: str


class ProcThreadReader:
    """A `ThreadReader` of one process.

    Args:
        procfs: root of /proc.
        pid: process ID.
        taskstats_refusal: why taskstats is not used, for the reasons of absent fields.

    Raises:
        TargetExitedError: the process does not exist, or has ended.
        PermissionError: the threads may not be listed.
    """

    def __init__(self, procfs: ProcFs, pid: int, taskstats_refusal: str = "") -> None:
        try:
            # A descriptor of the folder stays bound to this process; a recycled ID is another
            # folder.
            self._tasks = os.open(
                procfs.path(f"{pid}/task"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            )
        except (FileNotFoundError, ProcessLookupError) as error:
            raise TargetExitedError(f"process {pid} has ended") from error
        self._pid = pid
        columns = tuple(column for field in _THREAD_FIELDS if (column := _column(field)))
        try:
            missing = {
                file: reason
                for file in sorted({column.file for column in columns})
                if (reason := self._why_unreadable(file))
            }
            if "stat" in missing:
                raise PermissionError(errno.EACCES, missing["stat"])
        except BaseException:
            self.close()
            raise
        self._columns = tuple(column for column in columns if column.file not in missing)
        self._files = tuple(file for file in _KEYS if file not in missing)
        places = [(file, key) for file in self._files for key in _KEYS[file]]
        self._order = [places.index((column.file, column.key)) for column in self._columns]
        self._absent = tuple(
            AbsentField(field=field.name, reason=reason)
            for field in _THREAD_FIELDS
            if (reason := _reason(field, missing, taskstats_refusal))
        )

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(column.field for column in self._columns)

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._absent

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        """Read threads; those that have exited are left out.

        Threads are read one by one; the files of each within some tens of microseconds. I/O
        counters are exact here, not rounded as in taskstats.

        Raises:
            TargetExitedError: the process has ended; it may still be a zombie.
        """
        tid: list[int] = []
        rows: list[list[int]] = []
        holes: list[tuple[int, int]] = []
        start_ticks: list[int] = []
        names: list[bytes] = []
        for asked in tids.tolist():
            contents = self._contents(asked)
            if contents is None:
                continue
            stat = parse_stat(contents["stat"] or b"")
            if stat.ended and asked == self._pid:
                raise TargetExitedError(f"process {self._pid} has ended (zombie)")
            values: list[int] = []
            for file in self._files:
                content = contents[file]
                if content is None:
                    holes.extend((len(rows), len(values) + place) for place in range(_WIDTH[file]))
                    values.extend([0] * _WIDTH[file])
                else:
                    values.extend(_READ[file](content, stat))
            tid.append(asked)
            rows.append(values)
            start_ticks.append(stat.start_ticks)
            names.append(stat.name[:15])
        if not rows:
            self._check_alive()
        counters = np.array(rows, np.uint64).reshape(len(rows), len(self._order))
        return Reading(
            tid=np.array(tid, np.uint32),
            counters=counters[:, self._order],
            absent=self._absent_values(len(rows), holes),
            start_ns=monotonic_ns(np.array(start_ticks, np.int64)),
            name=np.array(names, "S16"),
        )

    def _absent_values(
        self, rows: int, holes: list[tuple[int, int]]
    ) -> npt.NDArray[np.bool_] | None:
        if not holes:
            return None
        absent = np.zeros((rows, len(self._order)), np.bool_)
        absent[tuple(np.array(holes).T)] = True
        return absent[:, self._order]

    def close(self) -> None:
        """Close the descriptor. Idempotent."""
        if self._tasks >= 0:
            os.close(self._tasks)
            self._tasks = -1

    def _contents(self, tid: int) -> dict[str, bytes | None] | None:
        """Return a thread's files, None for an unreadable one; None if the thread has exited."""
        contents: dict[str, bytes | None] = {}
        for file in self._files:
            try:
                contents[file] = self._read(tid, file)
            except PermissionError:
                if file == "stat":
                    raise
                contents[file] = None
            except OSError as error:
                if error.errno in _GONE:
                    return None
                raise
        return contents

    def _read(self, tid: int, file: str) -> bytes:
        opened = os.open(f"{tid}/{file}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._tasks)
        try:
            return os.read(opened, _FILE_BYTES)
        finally:
            os.close(opened)

    def _check_alive(self) -> None:
        try:
            if not parse_stat(self._read(self._pid, "stat")).ended:
                return
        except (FileNotFoundError, ProcessLookupError):
            pass
        raise TargetExitedError(f"process {self._pid} has ended")

    def _why_unreadable(self, file: str) -> str:
        """Read one file of the main thread. Return "" if it is readable."""
        where = f"/proc/{self._pid}/task/{self._pid}/{file}"
        try:
            self._read(self._pid, file)
        except PermissionError:
            return (
                f"{where} may not be read by this user: run the collector as root, with "
                "CAP_SYS_PTRACE, or as the owner of the process."
            )
        except (FileNotFoundError, ProcessLookupError):
            self._check_alive()
            return f"{where} does not exist: the kernel was built without it."
        return ""


def monotonic_ns(start_ticks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Convert start ticks on CLOCK_BOOTTIME (stat, field 22) to nanoseconds on CLOCK_MONOTONIC.

    The clocks differ by the time that the machine was suspended.
    """
    asleep = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(
        time.CLOCK_MONOTONIC
    )
    return start_ticks * (1_000_000_000 // TICKS_PER_SECOND) - asleep


def _column(field: CatalogueField) -> _Column | None:
    if field.procfs is None:
        return None
    file, _, key = field.procfs.rstrip("]").partition("[")
    return _Column(field.name, file, key)


def _reason(field: CatalogueField, missing: dict[str, str], taskstats_refusal: str) -> str:
    """Return why a field is absent, or "" if it is present."""
    column = _column(field)
    if column is not None:
        return missing.get(column.file, "")
    if field.group == "state":
        return "The ledger of states needs eBPF."
    if field.since_version is None:
        return "/proc has no network counters per thread."
    reason = "Only taskstats has this field, and it is not in use here"
    return f"{reason}: {taskstats_refusal}" if taskstats_refusal else f"{reason}."


def _read_schedstat(content: bytes, _: Stat) -> list[int]:
    return [int(number) for number in content.split(None, 3)[:3]]


def _read_stat(_: bytes, stat: Stat) -> list[int]:
    return [
        stat.minor_faults,
        stat.major_faults,
        stat.user_ticks * _US_PER_TICK,
        stat.system_ticks * _US_PER_TICK,
    ]


def _read_status(content: bytes, _: Stat) -> list[int]:
    """Parse the last two lines. A line break in the name is escaped, so it cannot match."""
    start = content.rindex(b"\nvoluntary_ctxt_switches:")
    words = content[start:].split(None, 4)
    return [int(words[1]), int(words[3])]


def _read_io(content: bytes, _: Stat) -> list[int]:
    return [int(number) for number in content.split(None, 14)[1:14:2]]


# Keys of the catalogue in each file's order.
_KEYS = {
    "schedstat": ("0", "1", "2"),
    "stat": ("minflt", "majflt", "utime", "stime"),
    "status": ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"),
    "io": (
        "rchar",
        "wchar",
        "syscr",
        "syscw",
        "read_bytes",
        "write_bytes",
        "cancelled_write_bytes",
    ),
}
_WIDTH = {file: len(keys) for file, keys in _KEYS.items()}
_READ: dict[str, Callable[[bytes, Stat], list[int]]] = {
    "schedstat": _read_schedstat,
    "stat": _read_stat,
    "status": _read_status,
    "io": _read_io,
}
