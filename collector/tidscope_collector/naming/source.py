r"""Sources of thread names: runtimes of Go, Java and Python, and process titles.

Programs with one thread per process write their activity over their arguments, such as `postgres:
app shop 10.0.0.7(40112) UPDATE waiting` or `nginx: worker process`. A title is one argument with
blanks, followed only by NUL bytes (setproctitle of BSD, src/backend/utils/misc/ps_status.c of
PostgreSQL).
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from tidscope_wire.generated.models import Process, Runtime
from tidscope_wire.redaction import redact
from tidscope_wire.role import role_of

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.conversation import ArgumentsReader
from tidscope_collector.inspection.questions import TITLE_BYTES
from tidscope_collector.inspection.reader import (
    ask_go_threads,
    ask_java_names,
    ask_python_threads,
)

LONGEST_ROLE = 128

_BEGINNING = re.compile(r"[\w.+/@-]{1,64}: \S")
_CLUSTER = re.compile(r"(postgres(?:\[\d+\])?: )\S+: ")
_KINDS = (
    (re.compile(r"postgres: (walsender|autovacuum worker) .+"), r"postgres: \1"),
    (re.compile(r"postgres: \S+ \S+ (?:\[local\]|\S+\(\d+\)) .+"), "postgres: client backend"),
)
"""Kinds of processes of PostgreSQL (pg_stat_activity.backend_type) whose titles say more."""
_POSITION = re.compile(r"\b(?:[0-9A-F]{24}|[0-9A-F]{1,8}/[0-9A-F]{1,8})\b")
SYSMON = "sysmon"
NOT_ASKED = (
    "With --ask-programs the Java virtual machine is asked for whole names; this starts its thread "
    "Attach Listener, and stops the others for some milliseconds."
)


def read_title(arguments: bytes) -> str | None:
    """Return the redacted title in /proc/PID/cmdline, or None if there is no title."""
    text = arguments[:TITLE_BYTES].rstrip(b"\0 ")
    if b"\0" in text:
        return None
    title = text.decode("utf-8", "replace")
    return redact(title) if _BEGINNING.match(title) else None


def role_of_title(title: str) -> str:
    """Return the role in a title, equal for all processes of a kind, whatever they do now.

    For PostgreSQL servers it is the kind of process, without client and activity. For others only
    numbers are replaced.
    """
    title = _CLUSTER.sub(r"\1", title, count=1)
    for pattern, kind in _KINDS:
        if found := pattern.fullmatch(title):
            title = found.expand(kind)
            break
    return role_of(_POSITION.sub("#", title))[:LONGEST_ROLE]


class RuntimeNames:
    """A `NameSource` that a runtime answers, whose names do not change without notice.

    Args:
        runtime: name of the runtime, for people.
        ask: reads the names; raises like `NameSource.read`.
    """

    every_s: float | None = None

    def __init__(self, runtime: str, ask: Callable[[], Mapping[int, str]]) -> None:
        self.runtime: str = runtime
        self._ask = ask

    def read(self) -> Mapping[int, str]:
        """See `NameSource`."""
        return self._ask()

    def close(self) -> None:
        """See `NameSource`; there is nothing to close."""


def go_names(pid: int, start_ticks: int) -> Mapping[int, str]:
    """Return names of the Go runtime's threads by thread ID. The program does not notice.

    Raises:
        NoAnswerError: the memory is unreadable, or sysmon, which every Go program has, is running.
    """
    found = ask_go_threads(pid, start_ticks)
    if SYSMON not in found.values():
        raise NoAnswerError("The runtime's thread sysmon was not seen waiting yet.")
    return found


def _java_is_not_asked() -> Mapping[int, str]:
    raise NoAnswerError(NOT_ASKED)


class TitleNames:
    """A `NameSource` for process titles: the main thread's name follows the title, within a second.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
    """

    runtime: str = "title of the process"
    every_s: float | None = 1.0

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._arguments = ArgumentsReader(pid, start_ticks)

    def read(self) -> Mapping[int, str]:
        """See `NameSource`."""
        title = read_title(self._arguments.read())
        return {} if title is None else {self._pid: role_of_title(title)}

    def close(self) -> None:
        """See `NameSource`."""
        self._arguments.close()


class NameSource(Protocol):
    """Reads the names that a program's runtime has for its threads.

    Attributes:
        runtime: name of the runtime, for people.
        every_s: interval at which names change without notice, in seconds; None if they do not.
    """

    runtime: str
    every_s: float | None

    def read(self) -> Mapping[int, str]:
        """Return names by thread ID. Slow.

        Raises:
            NoAnswerError: the program does not answer; the text says why.
        """
        ...

    def close(self) -> None:
        """Stop reading. Idempotent."""
        ...


def name_source(process: Process, *, ask: bool) -> NameSource | None:
    """Return the source of a process' thread names, or None for the kernel's names only.

    Args:
        process: process whose threads are named.
        ask: True if it may be asked.
    """
    found = runtime_source(process.pid, process.start_ticks, process.runtime, ask=ask)
    if found is not None:
        return found
    if process.command is not None and read_title(process.command.encode()) is not None:
        return TitleNames(process.pid, process.start_ticks)
    return None


def runtime_source(pid: int, start_ticks: int, runtime: Runtime, *, ask: bool) -> NameSource | None:
    """Return a runtime's source of thread names, or None if it has none.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        runtime: runtime of the program.
        ask: True if the program may be asked.
    """
    match runtime:
        case "go":
            return RuntimeNames("Go runtime", partial(go_names, pid, start_ticks))
        case "java":
            dump = partial(ask_java_names, pid, start_ticks) if ask else _java_is_not_asked
            return RuntimeNames("Java virtual machine", dump)
        case "python":
            threads = partial(ask_python_threads, pid, start_ticks)
            return RuntimeNames("start functions of CPython", threads)
        case _:
            return None
