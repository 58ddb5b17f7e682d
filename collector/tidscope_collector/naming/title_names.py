"""What a process with a title does, as the name of its main thread."""

from collections.abc import Mapping

from tidscope_collector.inspection.conversation import ArgumentsReader
from tidscope_collector.naming.titles import read_title, role_of_title


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
