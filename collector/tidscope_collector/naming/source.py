"""What names of threads are read from."""

from collections.abc import Mapping
from typing import Protocol

from tidscope_wire.generated.models import Process

from tidscope_collector.naming.java_names import JavaNames
from tidscope_collector.procfs.files import ProcFs


class NameSource(Protocol):
    """Reads the names that a program's runtime has for its threads.

    Attributes:
        runtime: which one, for people.
        complete: whether the last answer named every thread that it can ever name; else asking
            again later may give more.
    """

    runtime: str
    complete: bool

    def read(self) -> Mapping[int, str]:
        """Names by thread id; takes its time.

        Raises:
            NoAnswerError: there is no answer; the text says why.
        """
        ...


def name_source(procfs: ProcFs, process: Process) -> NameSource | None:
    """What a process' threads are named by; None: by the kernel alone."""
    if process.runtime == "java":
        return JavaNames(procfs, process.pid, process.start_ticks)
    return None
