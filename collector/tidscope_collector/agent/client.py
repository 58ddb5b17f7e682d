"""What can go wrong with an agent; each text is a sentence for people."""

import errno
import select
import socket
import time
from typing import Literal, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from tidscope_wire.generated.agent import (
    AgentAnswer,
    AgentCall,
    AgentFailure,
    AgentHello,
    AgentNotice,
    AgentPool,
    AgentPools,
    AgentReading,
    AgentSetCall,
    AgentSetParams,
    AgentSize,
)

from tidscope_collector.inspection.agent_sockets import SocketId
from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.reader import NotConnectedError, ask_agent_socket, connect_agent
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat


class AgentClientError(Exception):
    """Something is wrong with an agent, or with the way to it."""


class NoAgentError(AgentClientError):
    """The program has no agent: there is no socket of it in any of the places."""


class StaleSocketError(AgentClientError):
    """There is a socket of that name, and nobody listens: a program that ended left it."""


class WrongPeerError(AgentClientError):
    """Another process, or another user's, listens in the program's place."""


class AgentRefusedError(AgentClientError):
    """The agent understood and said no.

    Attributes:
        code: as in the schema of AgentError.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class AgentProtocolError(AgentClientError):
    """What came from the agent is not the protocol; the connection is closed."""


class AgentTimeoutError(AgentClientError):
    """There was no answer in time; the connection is closed."""


class AgentLostError(AgentClientError):
    """The agent closed the connection, or its program has ended."""


_ERRORS = {
    "none": NoAgentError,
    "stale": StaleSocketError,
    "wrong-peer": WrongPeerError,
    "timeout": AgentTimeoutError,
    "other": AgentClientError,
}


def connect(procfs: ProcFs, pid: int, start_ticks: int, timeout_s: float) -> socket.socket:
    """Connect to the agent of a process.

    Paths are those that the process sees, so that one in a container is found too.

    Raises:
        NoAgentError: there is no socket of it.
        StaleSocketError: there is one, and nobody listens.
        WrongPeerError: somebody else listens, or a symbolic link is in the way.
        AgentTimeoutError: the agent does not take the connection.
        AgentClientError: the process is gone, or may not be looked at.
    """
    try:
        connection = connect_agent(pid, start_ticks, timeout_s)
    except NotConnectedError as error:
        raise _ERRORS[error.trouble](str(error)) from error
    except UnreadableError as error:
        raise _unreadable(pid, error.number) from error
    except NoAnswerError as error:
        raise AgentTimeoutError(str(error)) from error
    # The id that the kernel names may have been another process' by now.
    if not _is_alive(procfs, pid, start_ticks):
        connection.close()
        raise NoAgentError(f"Process {pid} has ended.")
    connection.settimeout(timeout_s)
    return connection


def find_socket(pid: int, start_ticks: int) -> SocketId | None:
    """The file that an agent of a process would be reached at; None without one.

    Nothing is connected to: it only tells whether a description of the agent may be out of date.
    """
    try:
        return ask_agent_socket(pid, start_ticks)
    except (UnreadableError, NoAnswerError):
        return None


def _unreadable(pid: int, number: int | None) -> AgentClientError:
    if number in (errno.EACCES, errno.EPERM):
        return AgentClientError(
            f"Process {pid} belongs to another user: run the collector as root."
        )
    return NoAgentError(f"Process {pid} has ended.")


def _is_alive(procfs: ProcFs, pid: int, start_ticks: int) -> bool:
    try:
        return parse_stat(procfs.read(f"{pid}/stat", 4096)).start_ticks == start_ticks
    except OSError:
        return False


PROTOCOLS = (1, 2)
POOLS_PROTOCOL = 2
"""The first one with `read_pools`."""
TIMEOUT_S = 1.0
"""For a call: whoever waits for it has a size to restore."""
OPENING_S = 5.0
"""For connecting, and for the first call. A program on a busy machine may wait 2 s for a CPU."""
LONGEST_LINE = 65536
MAX_NOTICES = 64

_Line = AgentAnswer | AgentFailure | AgentNotice
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)
_Result = TypeVar("_Result", AgentHello, AgentReading, AgentPools, AgentSize)


class AgentClient:
    """A connection to one agent; one thread uses it at a time.

    After a timeout or nonsense the connection is closed, since what comes next could be the answer
    to an older call; every further call raises AgentLostError, and `open_agent` makes a new one.
    The agent keeps the size that was set until its lease is over, so a new client takes it over.

    Args:
        connection: to the agent, its peer checked; owned by the client.
        timeout_s: for each call as a whole.
        hello_s: for the first one; None: as for each.

    Attributes:
        hello: what the agent said of itself at the beginning.
    """

    def __init__(
        self,
        connection: socket.socket,
        timeout_s: float = TIMEOUT_S,
        hello_s: float | None = None,
    ) -> None:
        self._socket = connection
        self._timeout_s = timeout_s if hello_s is None else hello_s
        self._buffer = bytearray()
        self._next_id = 0
        self._restart_requested = False
        try:
            self.hello = self._call(AgentHello, "hello")
            if self.hello.protocol not in PROTOCOLS:
                raise AgentProtocolError(
                    f"The agent speaks version {self.hello.protocol} of the protocol, "
                    f"the collector {PROTOCOLS[0]} and {PROTOCOLS[-1]}."
                )
        except BaseException:
            self.close()
            raise
        self._timeout_s = timeout_s

    def read(self) -> AgentReading:
        """Its counters and the current size.

        Raises:
            AgentClientError: as every call does; see the module of errors.
        """
        return self._call(AgentReading, "read")

    def read_pools(self) -> AgentPools:
        """All pools of the program. Of an agent of protocol 1 what it says of the one it steers.

        Raises:
            AgentClientError: as every call does.
        """
        if self.hello.protocol >= POOLS_PROTOCOL:
            return self._call(AgentPools, "read_pools")
        return _one_pool(self.hello, self.read())

    def set(self, size: int, lease_s: float) -> AgentSize:
        """Set the size until the lease is over; the same size again renews it.

        Raises:
            AgentRefusedError: out of bounds, another client steers, or the program is ending.
            AgentClientError: as every call does.
        """
        params = AgentSetParams(size=size, lease_s=lease_s)
        return self._answer(AgentSize, AgentSetCall(id=self._id(), params=params))

    def release(self) -> AgentSize:
        """Let the agent restore the original size now; it never refuses."""
        return self._call(AgentSize, "release")

    def restart_requested(self) -> bool:
        """Whether the program asked for a new search since the last time this was asked.

        Does not wait, and raises nothing: the next call tells of a lost connection.
        """
        try:
            while self._socket.fileno() >= 0 and select.select([self._socket], [], [], 0)[0]:
                self._receive(0.001)
            self._take_notices()
        except (AgentLostError, AgentProtocolError, AgentTimeoutError):
            pass
        requested, self._restart_requested = self._restart_requested, False
        return requested

    def close(self) -> None:
        """Close the connection; the lease runs on. Twice does no harm."""
        self._socket.close()

    def _id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _call(
        self,
        result: type[_Result],
        method: Literal["hello", "read", "read_pools", "release"],
    ) -> _Result:
        return self._answer(result, AgentCall(id=self._id(), method=method))

    def _answer(self, result: type[_Result], call: AgentCall | AgentSetCall) -> _Result:
        deadline = time.monotonic() + self._timeout_s
        self._send(call, deadline)
        while True:
            line = self._line(deadline)
            if isinstance(line, AgentNotice):
                self._restart_requested = True
            elif isinstance(line, AgentFailure) and line.id in (call.id, None):
                raise AgentRefusedError(line.error.code, line.error.message)
            elif line.id != call.id:
                raise self._nonsense("an answer to another call")
            elif isinstance(line, AgentAnswer) and isinstance(line.result, result):
                return line.result
            else:
                raise self._nonsense(f"an answer that does not fit the call {call.method!r}")

    def _send(self, message: BaseModel, deadline: float) -> None:
        try:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            self._socket.sendall(message.model_dump_json().encode() + b"\n")
        except TimeoutError as error:
            raise self._late() from error
        except (BrokenPipeError, ConnectionResetError):
            pass  # It may have said why: the answer is read all the same.
        except OSError as error:
            raise self._lost() from error

    def _line(self, deadline: float) -> _Line:
        """The next whole line, understood."""
        while b"\n" not in self._buffer:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise self._late()
            self._receive(left_s)
        text, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer[:] = rest
        try:
            return _LINE.validate_json(text, strict=True)
        except ValidationError as error:
            raise self._nonsense(f"a line outside the protocol: {text[:80]!r}") from error

    def _take_notices(self) -> None:
        while b"\n" in self._buffer:
            if not isinstance(self._line(0), AgentNotice):
                raise self._nonsense("an unexpected answer")
            self._restart_requested = True

    def _receive(self, timeout_s: float) -> None:
        try:
            self._socket.settimeout(timeout_s)
            piece = self._socket.recv(LONGEST_LINE)
        except TimeoutError as error:
            raise self._late() from error
        except OSError as error:
            raise self._lost() from error
        if not piece:
            raise self._lost()
        self._buffer += piece
        if len(self._buffer) > LONGEST_LINE * MAX_NOTICES or (
            len(self._buffer) > LONGEST_LINE and b"\n" not in self._buffer
        ):
            raise self._nonsense(f"a line longer than {LONGEST_LINE} bytes")

    def _late(self) -> AgentTimeoutError:
        self.close()
        return AgentTimeoutError(f"The agent did not answer within {self._timeout_s:g} s.")

    def _lost(self) -> AgentLostError:
        self.close()
        return AgentLostError("The agent closed the connection.")

    def _nonsense(self, what: str) -> AgentProtocolError:
        self.close()
        return AgentProtocolError(f"The agent sent {what}.")


def _one_pool(hello: AgentHello, now: AgentReading) -> AgentPools:
    """The pool of an agent that knows only of the one it steers, and no times but queue waits."""
    pool = AgentPool(
        name="pool" if hello.knob == "pool" else "GOMAXPROCS",
        kind="threads" if hello.knob == "pool" else "gomaxprocs",
        size=now.size,
        busy=None,
        queue=None,
        submitted=None,
        started=now.queue_waits,
        finished=now.ops,
        failed=None,
        response_ns=None,
        run_ns=None,
        queue_wait_ns=now.queue_wait_ns,
        idle_ns=None,
        parks=None,
        steals=None,
        polls=None,
        response=None,
        queue_wait=None,
    )
    return AgentPools(pools=[pool], omitted=0, monotonic_ns=now.monotonic_ns)


def open_agent(
    procfs: ProcFs,
    pid: int,
    start_ticks: int,
    timeout_s: float = TIMEOUT_S,
    opening_s: float = OPENING_S,
) -> AgentClient:
    """Find the agent of a process and say hello.

    Args:
        procfs: where the process is.
        pid: its id.
        start_ticks: its start.
        timeout_s: for each call.
        opening_s: for connecting, and for the first call.

    Raises:
        AgentClientError: one of its kinds, which say what there is instead.
    """
    return AgentClient(connect(procfs, pid, start_ticks, opening_s), timeout_s, opening_s)
