"""GOMAXPROCS of a running Go program, read from its memory by a dedicated child.

The runtime keeps it in the int32 variable runtime.gomaxprocs (runtime/runtime2.go). The symbol
table gives its address, or in stripped programs the code that uses it
(goruntime/runtime_variables.py). Reading four bytes neither stops nor slows the program. A page of
memory may never arrive (userfaultfd(2), a mapped file of an unresponsive file system); then only
the child waits.
"""

import errno
import socket
from dataclasses import dataclass

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.conversation import Conversation
from tidscope_collector.inspection.go_questions import MAX_PROCESSORS, SYMBOL, WORD
from tidscope_collector.inspection.reader import GoLine, ask_gomaxprocs

DEADLINE_S = 3.0
"""Timeout of a reading, in seconds; shorter than the limit of a release."""
PATIENCE_S = 0.005
"""Maximum wait of a sample for the answer, in seconds; none while an answer is late."""

_REFUSED = (errno.EACCES, errno.EPERM)
_RIGHTS = "run the collector as root or with CAP_SYS_PTRACE"


class GomaxprocsReader:
    """Reads GOMAXPROCS of one process; used by one thread.

    The child keeps the memory of this execution open. After an exec, the end of the process, or
    recycling of its ID, nothing more is read.

    Args:
        number: number of the child.
        connection: connection to the child, owned by the reader.

    Attributes:
        missed: number of late answers.
    """

    def __init__(self, number: int, connection: socket.socket) -> None:
        self._conversation = Conversation(number, connection, WORD.size)
        self._late = False
        self.missed = 0

    def request(self) -> None:
        """Request the value, without waiting."""
        self._late = not self._conversation.request()

    def collect(self, patience_s: float = PATIENCE_S) -> int | None:
        """Return the answer if it arrives soon.

        Returns:
            The value in effect; None if it is late, implausible, or the program has ended.
        """
        if not self._conversation.pending:
            return None
        word = b"" if self._late else self._conversation.receive(patience_s)
        if self._conversation.pending:
            self._late = True
            self.missed += 1
        if len(word) != WORD.size:
            return None
        (value,) = WORD.unpack(word)
        return int(value) if 1 <= value <= MAX_PROCESSORS else None

    @property
    def free(self) -> int | None:
        """Return a descriptor for requests by others, or None while an answer is late."""
        return self._conversation.free

    def asked(self, pending: bool) -> None:
        """Record that others sent a request; `pending` tells if its answer is outstanding."""
        self._conversation.pending = pending

    def read(self) -> int | None:
        """Return the value in effect, or None after DEADLINE_S."""
        self.request()
        return self.collect(DEADLINE_S)

    def close(self) -> None:
        """End the child. Idempotent."""
        self._conversation.close()


@dataclass(frozen=True, slots=True)
class GoProgram:
    """Go properties of a process.

    Attributes:
        reader: reader to be closed by the caller; None if GOMAXPROCS is unreadable.
        reason: why it is unreadable, and what would help; empty if there is a reader.
        version: version of Go; None for other programs, or if unknown.
        settings: build settings.
    """

    reader: GomaxprocsReader | None
    reason: str
    version: str | None
    settings: dict[str, str]


def open_gomaxprocs(pid: int, start_ticks: int) -> GoProgram:
    """Find GOMAXPROCS in a process.

    The executable is read through /proc/PID/exe, which works for containers and replaced or deleted
    files. A child reads the symbol table in up to some tens of milliseconds.
    """
    try:
        found, number, connection = ask_gomaxprocs(pid, start_ticks)
    except UnreadableError as error:
        reason = f"Process {pid} has no executable to read: {error}."
        if error.number in _REFUSED:
            reason = f"The executable of process {pid} may not be read: {_RIGHTS}."
        return GoProgram(None, reason, None, {})
    except (DamagedError, NoAnswerError) as error:
        return GoProgram(None, str(error), None, {})
    reader = GomaxprocsReader(number, connection)
    if not found.go:
        reader.close()
        return GoProgram(None, "Not a Go program.", None, {})
    reason = ""
    try:
        _check_reader(pid, reader, found)
    except UnreadableError as error:
        reason = f"The memory of process {pid} cannot be read: {error}."
        if error.number in _REFUSED:
            reason = f"The memory of process {pid} may not be read: {_RIGHTS}."
    except NoAnswerError as error:
        reason = str(error)
    if reason:
        reader.close()
    return GoProgram(None if reason else reader, reason, found.version, found.settings)


def _check_reader(pid: int, reader: GomaxprocsReader, found: GoLine) -> None:
    """Check that GOMAXPROCS is readable.

    Raises:
        UnreadableError: the memory is inaccessible.
        NoAnswerError: the variable is missing or unreadable; the text says why.
    """
    if not found.symbols and found.size is None:
        raise NoAnswerError(
            "The program has no symbols (linked with -s, or stripped), and its code does not say "
            "where GOMAXPROCS is: build it with symbols, or link the Go agent into it, which "
            "reports GOMAXPROCS."
        )
    if found.size != WORD.size:
        raise NoAnswerError(
            f"The program's symbol table has no {WORD.size}-byte variable {SYMBOL}."
        )
    if found.memory:
        raise UnreadableError(found.memory)
    if reader.read() is None:
        raise NoAnswerError(
            f"The memory of process {pid} does not answer."
            if reader.missed
            else f"There is no plausible value at {SYMBOL} of process {pid}."
        )
