"""Whether a port is still that of the process whose counters are read there."""

from tidscope_collector.inspection.reader import NoAnswerError, UnreadableError, ask_port


class OwnedPort:
    """A TCP port of the collector's own network namespace that must be one process'.

    Args:
        pid: the process.
        start_ticks: its start.
        port: the port.
    """

    def __init__(self, pid: int, start_ticks: int, port: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._port = port

    def refusal(self) -> str:
        """Why the port must not be asked now; empty: all that listen on it are this process'."""
        try:
            return ask_port(self._pid, self._start_ticks, self._port)
        except (NoAnswerError, UnreadableError) as error:
            return f"Whose port {self._port} is cannot be found out: {error}"
