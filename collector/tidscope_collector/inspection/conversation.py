"""Children that answer the same question repeatedly, and whose answers may be late.

`ProgramReader` asks which program runs, `ArgumentsReader` for the command line (programs overwrite
it with their current activity), `JavaCountersReader` for the counters of a Java virtual machine.
"""

import select
import socket

from pydantic import Field, ValidationError

from tidscope_collector.confinement.children import ChildError
from tidscope_collector.inspection.asking import (
    DamagedLine,
    Line,
    NoAnswerError,
    about_process,
    children,
)
from tidscope_collector.inspection.questions import TITLE_BYTES


class Conversation:
    """Requests to one child, each of which it answers once; one thread uses it at a time.

    Args:
        number: of the child.
        connection: to it, owned by the conversation.
        most_bytes: of an answer.

    Attributes:
        pending: whether a request has no answer yet.
    """

    def __init__(self, number: int, connection: socket.socket, most_bytes: int) -> None:
        self._number = number
        self._connection = connection
        self._connection.setblocking(False)
        self._most_bytes = most_bytes
        self.pending = False

    def request(self) -> bool:
        """Ask; returns at once.

        Returns:
            Whether it was asked: not while the answer to an earlier request is still to come, and
            not after the end of the child.
        """
        if self.pending:
            self.receive(0)  # An answer to a request of long ago says nothing of now.
            if self.pending:
                return False
        try:
            self._connection.send(b"?")
        except OSError:
            return False
        self.pending = True
        return True

    @property
    def free(self) -> int | None:
        """The connection's descriptor, while no answer is to come; None else."""
        if self.pending:
            self.receive(0)
        return None if self.pending or self._connection.fileno() < 0 else self._connection.fileno()

    def receive(self, patience_s: float) -> bytes:
        """The answer, if it comes soon; empty if it does not, and after the end of the child."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        if not poll.poll(patience_s * 1000):
            return b""
        self.pending = False
        try:
            return self._connection.recv(self._most_bytes)
        except OSError:
            return b""

    def close(self) -> None:
        """End the child; twice does no harm."""
        if self._connection.fileno() < 0:
            return
        if self.pending:
            children().give_up(self._number, self._connection)
        else:
            self._connection.close()


PATIENCE_S = 0.005
"""What a sample waits for an answer; one that is late is there for the next question."""
OPEN_S = 5.0
"""For the first answer: on a busy machine a child may wait 2 s for a CPU."""
_PROGRAM_BYTES = 16384


class SeenProgram(Line):
    """What a process runs.

    Attributes:
        executable: path; None if it may not be seen.
        stack: address at which its stack begins, another one in each execution; 0 if it may not be
            seen.
    """

    executable: str | None = Field(max_length=8192)
    stack: int


class ProgramReader:
    """Asks about one process; one thread uses it at a time.

    Args:
        pid: of the process.
        start_ticks: its start.

    Raises:
        ChildError: no child can be asked.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        about = about_process(pid, start_ticks)
        self._conversation = Conversation(*children().begin("program", about), _PROGRAM_BYTES)

    def look(self, patience_s: float = PATIENCE_S) -> SeenProgram | None:
        """What it runs now; None if the answer is late, or the process has ended."""
        if not self._conversation.request():
            return None
        try:
            return SeenProgram.model_validate_json(self._conversation.receive(patience_s))
        except ValidationError:
            return None

    def close(self) -> None:
        """End the child; twice does no harm."""
        self._conversation.close()


def open_program(pid: int, start_ticks: int) -> ProgramReader | None:
    """Make a reader; None where nothing can be seen that way either."""
    try:
        reader = ProgramReader(pid, start_ticks)
    except ChildError:
        return None
    found = reader.look(patience_s=OPEN_S)
    if found is None or not found.stack:
        reader.close()
        return None
    return reader


TITLE_S = 5.0


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
        answer = self._conversation.receive(TITLE_S) if self._conversation.request() else b""
        if not answer:
            raise NoAnswerError("Its arguments cannot be read.")
        return answer[1:]

    def close(self) -> None:
        """End the child; twice does no harm."""
        if self._conversation is not None:
            self._conversation.close()


ANSWER_S = 3.0
_COUNTERS_BYTES = 1 << 16


class JavaCounters(Line):
    """What the machine counts.

    Attributes:
        numbers: by the machine's own names.
        texts: the same.
        flags: those of its arguments that say how many processors it uses.
    """

    numbers: dict[str, int] = Field(max_length=256)
    texts: dict[str, str] = Field(max_length=256)
    flags: list[str] = Field(max_length=64)


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
                *children().begin("java_counters", about), _COUNTERS_BYTES
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
            why = DamagedLine.model_validate_json(line).damaged
        except ValidationError:
            why = "a child does not answer"
        raise NoAnswerError(f"Counters of the Java virtual machine cannot be read: {why}.")

    def close(self) -> None:
        """End the child; twice does no harm."""
        self._conversation.close()
