"""The arguments of a process, again and again: programs write over them what they are at."""

from tidscope_collector.confinement.children import ChildError
from tidscope_collector.inspection.conversation import Conversation
from tidscope_collector.inspection.name_questions import TITLE_BYTES
from tidscope_collector.inspection.reader import NoAnswerError, about_process, children

PATIENCE_S = 5.0


class ArgumentsReader:
    """Asks about one process; one thread uses it at a time.

    Args:
        pid: of the process.
        start_ticks: its start.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._about = about_process(pid, start_ticks)
        self._conversation: Conversation | None = None

    def read(self) -> bytes:
        """The beginning of its /proc/PID/cmdline.

        Raises:
            NoAnswerError: the process has ended, may not be looked at, or does not answer.
        """
        if self._conversation is None:
            try:
                begun = children().begin("arguments", self._about)
            except ChildError as error:
                raise NoAnswerError(str(error)) from error
            self._conversation = Conversation(*begun, TITLE_BYTES + 1)
        answer = self._conversation.receive(PATIENCE_S) if self._conversation.request() else b""
        if not answer:
            raise NoAnswerError("Its arguments cannot be read.")
        return answer[1:]

    def close(self) -> None:
        """End the child; twice does no harm."""
        if self._conversation is not None:
            self._conversation.close()
