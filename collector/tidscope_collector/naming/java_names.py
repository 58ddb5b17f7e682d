"""Names of a Java virtual machine's threads, by a dump as `jcmd PID Thread.print` prints it."""

from collections.abc import Mapping

from tidscope_collector.inspection.reader import ask_java_names


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
