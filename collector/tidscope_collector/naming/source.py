"""What names of threads are read from."""

from collections.abc import Mapping
from typing import Protocol

from tidscope_wire.generated.models import Process, Runtime

from tidscope_collector.naming.go_names import GoNames
from tidscope_collector.naming.java_names import JavaNames
from tidscope_collector.naming.title_names import TitleNames
from tidscope_collector.naming.titles import read_title


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
