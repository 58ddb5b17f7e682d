"""Whether a port is still that of the process whose counters are read there."""

from tidscope_collector.foreign.reader import NoAnswerError, UnreadableError, ask_port
from tidscope_collector.procfs.files import ProcFs


class OwnedPort:
    """A TCP port of the collector's own network namespace that must be one process'.

    Args:
        procfs: where processes are looked at.
        pid: the process.
        start_ticks: its start.
        port: the port.
    """

    def __init__(self, procfs: ProcFs, pid: int, start_ticks: int, port: int) -> None:
        self._procfs = procfs
        self._pid = pid
        self._start_ticks = start_ticks
        self._port = port
        self._files: dict[int, str] = {}

    def refusal(self) -> str:
        """Why the port must not be asked now; empty: all that listen on it are this process'."""
        try:
            refusal, self._files = ask_port(
                self._procfs, self._pid, self._start_ticks, self._port, self._files
            )
        except (NoAnswerError, UnreadableError) as error:
            return f"Whose port {self._port} is cannot be found out: {error}"
        return refusal
