r"""What a process does, by the title that it writes over its arguments. Pure.

Programs with one thread a process say there what they are at: `postgres: app shop 10.0.0.7(40112)
UPDATE waiting`, `nginx: worker process`. A title is one argument with blanks in it, and nothing but
NUL bytes behind (setproctitle of BSD, src/backend/utils/misc/ps_status.c of PostgreSQL).
"""

import re
from collections.abc import Mapping
from typing import Protocol

from tidscope_wire.generated.models import Process, Runtime
from tidscope_wire.redaction import redact
from tidscope_wire.role import role_of

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.conversation import ArgumentsReader
from tidscope_collector.inspection.questions import TITLE_BYTES
from tidscope_collector.inspection.reader import ask_go_threads, ask_java_names

LONGEST_ROLE = 128

_BEGINNING = re.compile(r"[\w.+/@-]{1,64}: \S")
_CLUSTER = re.compile(r"(postgres(?:\[\d+\])?: )\S+: ")
_CLIENT = re.compile(r"postgres: \S+ \S+ (?:\[local\]|\S+\(\d+\)) (.+)")
_AUTOVACUUM = re.compile(r"postgres: (autovacuum worker) .+")
_POSITION = re.compile(r"\b(?:[0-9A-F]{24}|[0-9A-F]{1,8}/[0-9A-F]{1,8})\b")


def read_title(arguments: bytes) -> str | None:
    """The title in /proc/PID/cmdline, what looks like a secret left out; None: it is none."""
    text = arguments[:TITLE_BYTES].rstrip(b"\0 ")
    if b"\0" in text:
        return None
    title = text.decode("utf-8", "replace")
    return redact(title) if _BEGINNING.match(title) else None


def role_of_title(title: str) -> str:
    """What a process with a title does: the same for all that do the same.

    A server process of PostgreSQL does what its title ends with, whoever its client is; elsewhere
    only numbers are left out.
    """
    title = _CLUSTER.sub(r"\1", title, count=1)
    for pattern in (_CLIENT, _AUTOVACUUM):
        if found := pattern.fullmatch(title):
            title = f"postgres: {found[1]}"
            break
    return role_of(_POSITION.sub("#", title))[:LONGEST_ROLE]


SYSMON = "sysmon"


class GoNames:
    """A `NameSource`. Nothing in the program takes notice of it.

    Args:
        pid: of the process.
        start_ticks: its start.
    """

    runtime: str = "Go runtime"
    every_s: float | None = None

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks

    def read(self) -> Mapping[int, str]:
        """See `NameSource`."""
        found = ask_go_threads(self._pid, self._start_ticks)
        if SYSMON not in found.values():
            # Every Go program has it; it did not wait at that instant.
            raise NoAnswerError("The runtime's thread sysmon was not seen waiting yet.")
        return found

    def close(self) -> None:
        """See `NameSource`; there is nothing to close."""


class JavaNames:
    """A `NameSource`. A dump stops all Java threads for the moment that it takes.

    Args:
        pid: of the process.
        start_ticks: its start.
    """

    runtime: str = "Java virtual machine"
    every_s: float | None = None

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks

    def read(self) -> Mapping[int, str]:
        """See `NameSource`."""
        return ask_java_names(self._pid, self._start_ticks)

    def close(self) -> None:
        """See `NameSource`; there is nothing to close."""


class TitleNames:
    """A `NameSource`: the name changes as often as the title does, seen once a second.

    Args:
        pid: of the process.
        start_ticks: its start.
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
        runtime: which one, for people.
        every_s: how often names change without a sign of it, seconds; None: never.
    """

    runtime: str
    every_s: float | None

    def read(self) -> Mapping[int, str]:
        """Names by thread id; takes its time.

        Raises:
            NoAnswerError: there is no answer; the text says why.
        """
        ...

    def close(self) -> None:
        """It is not read any more; twice does no harm."""
        ...


def name_source(process: Process) -> NameSource | None:
    """What a process' threads are named by; None: by the kernel alone."""
    found = runtime_source(process.pid, process.start_ticks, process.runtime)
    if found is not None:
        return found
    if process.command is not None and read_title(process.command.encode()) is not None:
        return TitleNames(process.pid, process.start_ticks)
    return None


def runtime_source(pid: int, start_ticks: int, runtime: Runtime) -> NameSource | None:
    """What a runtime names the threads of a process by; None: it names none.

    Args:
        pid: its id.
        start_ticks: its start.
        runtime: that its program has.
    """
    if runtime == "java":
        return JavaNames(pid, start_ticks)
    if runtime == "go":
        return GoNames(pid, start_ticks)
    return None
