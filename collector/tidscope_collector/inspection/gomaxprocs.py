"""GOMAXPROCS of a running Go program, read from its memory by a child of its own.

The runtime keeps it in the int32 variable runtime.gomaxprocs (runtime/runtime2.go); where that is,
the symbol table says, or in stripped programs the code that uses it (goruntime/stripped.py).
Reading four bytes of memory neither stops nor slows the program. A page of it may never come
(userfaultfd(2), a mapped file of a file system that does not answer): then only the child waits.
"""

import errno
import socket
from dataclasses import dataclass

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.conversation import Conversation
from tidscope_collector.inspection.go_questions import MAX_PROCESSORS, SYMBOL, WORD
from tidscope_collector.inspection.reader import GoLine, ask_gomaxprocs

DEADLINE_S = 3.0
"""Below what a release may take."""
PATIENCE_S = 0.005
"""What a sample waits for it, once; while an answer is late samples do not wait at all."""

_REFUSED = (errno.EACCES, errno.EPERM)
_RIGHTS = "run the collector as root or with CAP_SYS_PTRACE"


class GomaxprocsReader:
    """Reads GOMAXPROCS of one process; one thread uses it at a time.

    The child has the memory of this execution of a program open: after an exec or the end of the
    process, and after its id went to another one, nothing is read from it any more.

    Args:
        number: of the child.
        connection: to it, owned by the reader.

    Attributes:
        missed: readings that were not there in time.
    """

    def __init__(self, number: int, connection: socket.socket) -> None:
        self._conversation = Conversation(number, connection, WORD.size)
        self._late = False
        self.missed = 0

    def request(self) -> None:
        """Ask for the value; returns at once."""
        self._late = not self._conversation.request()

    def collect(self, patience_s: float = PATIENCE_S) -> int | None:
        """The answer to the request, if it comes soon.

        Returns:
            The value in effect; None when it is late, or the program is gone or says nonsense.
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
        """A descriptor that others may ask on as `request` does; None: an answer is late."""
        return self._conversation.free

    def asked(self, pending: bool) -> None:
        """Others have asked; whether the answer is still to come."""
        self._conversation.pending = pending

    def read(self) -> int | None:
        """The value in effect; None when there is none within DEADLINE_S."""
        self.request()
        return self.collect(DEADLINE_S)

    def close(self) -> None:
        """End the child; twice does no harm."""
        self._conversation.close()


@dataclass(frozen=True, slots=True)
class GoProgram:
    """What could be found out of a process with regard to Go.

    Attributes:
        reader: to be closed by the caller; None if GOMAXPROCS cannot be read.
        reason: why not, and what would change that; empty if there is a reader.
        version: of Go; None if it is not a Go program or does not say.
        settings: of the build.
    """

    reader: GomaxprocsReader | None
    reason: str
    version: str | None
    settings: dict[str, str]


def open_gomaxprocs(pid: int, start_ticks: int) -> GoProgram:
    """Look for GOMAXPROCS in a process.

    The executable is read through /proc/PID/exe, so that containers and replaced or deleted files
    do not matter. A child reads the symbol table, up to some tens of milliseconds.
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
    """Read GOMAXPROCS once.

    Raises:
        UnreadableError: the memory may not be read.
        NoAnswerError: the variable is not there, or cannot be read; why.
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
