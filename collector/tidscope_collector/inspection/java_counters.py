"""Counters of a Java virtual machine, from a child that reads its file."""

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidscope_collector.confinement.children import ChildError
from tidscope_collector.inspection.conversation import Conversation
from tidscope_collector.inspection.reader import NoAnswerError, about_process, children

ANSWER_S = 3.0
_LINE_BYTES = 1 << 16


class JavaCounters(BaseModel):
    """What the machine counts.

    Attributes:
        numbers: by the machine's own names.
        texts: the same.
        flags: those of its arguments that say how many processors it uses.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    numbers: dict[str, int] = Field(max_length=256)
    texts: dict[str, str] = Field(max_length=256)
    flags: list[str] = Field(max_length=64)


class _DamagedLine(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    damaged: str = Field(max_length=1024)


class JavaCountersReader:
    """Asks about one process; one thread uses it at a time.

    Args:
        pid: of the process.
        start_ticks: its start.

    Raises:
        NoAnswerError: no child can be asked.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        about = about_process(pid, start_ticks)
        try:
            self._conversation = Conversation(
                *children().begin("java_counters", about), _LINE_BYTES
            )
        except ChildError as error:
            raise NoAnswerError(str(error)) from error

    def read(self) -> JavaCounters:
        """The counters as they are now.

        Raises:
            NoAnswerError: there are none, or the child does not answer in time.
        """
        if not self._conversation.request():
            raise NoAnswerError("Counters of the Java virtual machine are not read any more.")
        line = self._conversation.receive(ANSWER_S)
        try:
            return JavaCounters.model_validate_json(line)
        except ValidationError:
            pass
        try:
            why = _DamagedLine.model_validate_json(line).damaged
        except ValidationError:
            why = "a child does not answer"
        raise NoAnswerError(f"Counters of the Java virtual machine cannot be read: {why}.")

    def close(self) -> None:
        """End the child; twice does no harm."""
        self._conversation.close()
