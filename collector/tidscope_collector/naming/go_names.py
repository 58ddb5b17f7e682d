"""Names of the threads that the Go runtime keeps for itself; others have the program's."""

from collections.abc import Mapping

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.reader import ask_go_threads

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
