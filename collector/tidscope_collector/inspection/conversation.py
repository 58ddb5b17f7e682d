"""Children that answer the same question repeatedly; an answer may be late.

`ProgramReader` reads the running program, `ArgumentsReader` the command line (programs overwrite it
with their current activity), `JavaCountersReader` the counters of a Java virtual machine.
"""

import socket

from pydantic import Field, ValidationError
from tidscope_wire.readiness import is_readable

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
    """Requests to one child with one answer each; used by one thread.

    Args:
        number: number of the child.
        connection: connection to the child, owned by the conversation.
        most_bytes: maximum size of an answer, in bytes.

    Attributes:
        pending: True while a request has no answer.
    """

    def __init__(self, number: int, connection: socket.socket, most_bytes: int) -> None:
        self._number = number
        self._connection = connection
        self._connection.setblocking(False)
        self._most_bytes = most_bytes
        self.pending = False

    def request(self) -> bool:
        """Send a request, without waiting.

        Returns:
            False if nothing was sent: an earlier answer is pending, or the child has ended.
        """
        if self.pending:
            self.receive(0)  # a stale answer is discarded
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
        """Return the connection's descriptor, or None while an answer is pending."""
        if self.pending:
            self.receive(0)
        return None if self.pending or self._connection.fileno() < 0 else self._connection.fileno()

    def receive(self, patience_s: float) -> bytes:
        """Return the answer; empty if it is late, or the child has ended."""
        if not is_readable(self._connection, patience_s):
            return b""
        self.pending = False
        try:
            return self._connection.recv(self._most_bytes)
        except OSError:
            return b""

    def close(self) -> None:
        """End the child. Idempotent."""
        if self._connection.fileno() < 0:
            return
        if self.pending:
            children().give_up(self._number, self._connection)
        else:
            self._connection.close()


PATIENCE_S = 0.005
"""Maximum wait of a sample for an answer, in seconds. A late answer serves the next request."""
OPEN_S = 5.0
"""Timeout for the first answer, in seconds. On a busy machine a child may wait 2 s for a CPU."""
_PROGRAM_BYTES = 16384


class SeenProgram(Line):
    """The program of a process.

    Attributes:
        executable: path of the executable; None if inaccessible.
        stack: start address of its stack, different in each execution; 0 if inaccessible.
    """

    executable: str | None = Field(max_length=8192)
    stack: int


class ProgramReader:
    """Reads the program of one process; used by one thread.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.

    Attributes:
        first: its first answer, once `open_program` has it.

    Raises:
        ChildError: no child can be asked.
    """

    first: SeenProgram | None = None

    def __init__(self, pid: int, start_ticks: int) -> None:
        about = about_process(pid, start_ticks)
        self._conversation = Conversation(*children().begin("program", about), _PROGRAM_BYTES)

    def observe(self, patience_s: float = PATIENCE_S) -> SeenProgram | None:
        """Return the current program; None if the answer is late, or the process has ended.

        The next call gets a late answer, in place of one of its own.
        """
        if not self._conversation.pending and not self._conversation.request():
            return None
        try:
            return SeenProgram.model_validate_json(self._conversation.receive(patience_s))
        except ValidationError:
            return None

    def close(self) -> None:
        """End the child. Idempotent."""
        self._conversation.close()


def open_program(pid: int, start_ticks: int) -> ProgramReader | None:
    """Return a reader, or None if the program is inaccessible.

    A reader whose first answer takes longer than OPEN_S is returned all the same.
    """
    try:
        reader = ProgramReader(pid, start_ticks)
    except ChildError:
        return None
    reader.first = found = reader.observe(patience_s=OPEN_S)
    if found is not None and not found.stack:
        reader.close()
        return None
    return reader


TITLE_S = 5.0


class ArgumentsReader:
    """Reads the command line of one process; used by one thread.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._about = about_process(pid, start_ticks)
        self._conversation: Conversation | None = None

    def read(self) -> bytes:
        """Return the beginning of /proc/PID/cmdline.

        Raises:
            NoAnswerError: the process has ended, is inaccessible, or does not answer.
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
        """End the child. Idempotent."""
        if self._conversation is not None:
            self._conversation.close()


ANSWER_S = 3.0
_COUNTERS_BYTES = 1 << 16


class JavaCounters(Line):
    """Counters of a Java virtual machine.

    Attributes:
        numbers: numbers by the machine's own names.
        texts: texts by the machine's own names.
        flags: arguments that affect the machine's processor count.
    """

    numbers: dict[str, int] = Field(max_length=256)
    texts: dict[str, str] = Field(max_length=256)
    flags: list[str] = Field(max_length=64)


class JavaCountersReader:
    """Reads the counters of one machine; used by one thread.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.

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
        """Return the current counters.

        Raises:
            NoAnswerError: there are no counters, or the child does not answer in time.
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
        """End the child. Idempotent."""
        self._conversation.close()
