"""Client of an agent: finds its socket, sends one line per call, and bounds every wait.

The collector itself may not connect to Unix sockets. A limited child finds the socket by the
process ID and hands the connection over; see `inspection.agent_sockets`.
"""

import errno
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
from tidscope_wire.readiness import is_readable

from tidscope_collector.inspection.agent_sockets import SocketId
from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.reader import NotConnectedError, ask_agent_socket, connect_agent
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat

PROTOCOLS = (1, 2)
POOLS_PROTOCOL = 2
"""First protocol version with `read_pools`."""
TIMEOUT_S = 1.0
"""Timeout of a call, in seconds. It must be short, because the caller may have a size to restore.
"""
OPENING_S = 5.0
"""Timeout of connecting and the first call, in seconds. A program on a busy machine may wait 2 s
for a CPU."""
LONGEST_LINE = 65536
MAX_NOTICES = 64
_Line = AgentAnswer | AgentFailure | AgentNotice
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)
_Result = TypeVar("_Result", AgentHello, AgentReading, AgentPools, AgentSize)


class AgentClientError(Exception):
    """Base class of agent errors; each text is a sentence for people."""


class NoAgentError(AgentClientError):
    """The program has no agent socket in any of the known places."""


class StaleSocketError(AgentClientError):
    """A socket file exists, but nobody listens: an exited program left it."""


class WrongPeerError(AgentClientError):
    """Another process or another user's process listens on the socket."""


class AgentRefusedError(AgentClientError):
    """The agent refused the call.

    Attributes:
        code: error code as in the schema of AgentError.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class AgentProtocolError(AgentClientError):
    """The agent sent a message outside the protocol; the connection is closed."""


class AgentTimeoutError(AgentClientError):
    """The agent did not answer in time; the connection is closed."""


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

    The path is resolved as the process sees it, so a program in a container is found too.

    Raises:
        NoAgentError: the process has no agent socket.
        StaleSocketError: the socket exists, but nobody listens.
        WrongPeerError: another process listens, or a symbolic link is in the way.
        AgentTimeoutError: the agent does not accept the connection in time.
        AgentClientError: the process has ended, or may not be inspected.
    """
    try:
        connection = connect_agent(pid, start_ticks, timeout_s)
    except NotConnectedError as error:
        raise _ERRORS[error.trouble](str(error)) from error
    except UnreadableError as error:
        raise _unreadable(pid, error.number) from error
    except NoAnswerError as error:
        raise AgentTimeoutError(str(error)) from error
    # The process ID may have been recycled since the kernel named the peer.
    if not _is_alive(procfs, pid, start_ticks):
        connection.close()
        raise NoAgentError(f"Process {pid} has ended.")
    connection.settimeout(timeout_s)
    return connection


def find_socket(pid: int, start_ticks: int) -> SocketId | None:
    """Return the ID of the agent's socket file, or None if it has none.

    Does not connect: the ID only shows whether a cached description of the agent is stale.
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


class AgentClient:
    """A connection to one agent; used by one thread at a time.

    A timeout or protocol error closes the connection, because the next line could answer an older
    call. Every further call raises AgentLostError; `open_agent` opens a new client. The agent keeps
    the set size until its lease expires, so a new client takes it over.

    Args:
        connection: connection to the agent, its peer checked; owned by the client.
        timeout_s: timeout of each call as a whole, in seconds.
        hello_s: timeout of the first call, in seconds; None for `timeout_s`.

    Attributes:
        hello: the agent's description of itself.
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
        """Return the agent's counters and current size.

        Raises:
            AgentClientError: as for every call; see its subclasses.
        """
        return self._call(AgentReading, "read")

    def read_pools(self) -> AgentPools:
        """Return all pools. An agent of protocol 1 only reports the pool that it steers.

        Raises:
            AgentClientError: as for every call.
        """
        if self.hello.protocol >= POOLS_PROTOCOL:
            return self._call(AgentPools, "read_pools")
        return _one_pool(self.hello, self.read())

    def set(self, size: int, lease_s: float) -> AgentSize:
        """Set the size until the lease expires; setting the same size renews the lease.

        Raises:
            AgentRefusedError: the size is out of bounds, another client steers, or the program is
                exiting.
            AgentClientError: as for every call.
        """
        params = AgentSetParams(size=size, lease_s=lease_s)
        return self._answer(AgentSize, AgentSetCall(id=self._id(), params=params))

    def release(self) -> AgentSize:
        """Restore the original size now; the agent never refuses."""
        return self._call(AgentSize, "release")

    def restart_requested(self) -> bool:
        """Return True if the program requested a new search since the previous call.

        Does not wait or raise: the next call reports a lost connection.
        """
        try:
            while self._socket.fileno() >= 0 and is_readable(self._socket):
                self._receive(0.001)
            self._take_notices()
        except (AgentLostError, AgentProtocolError, AgentTimeoutError):
            pass
        requested, self._restart_requested = self._restart_requested, False
        return requested

    def close(self) -> None:
        """Close the connection; the lease continues. Idempotent."""
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
            pass  # The agent may have sent a reason before closing, so the answer is still read.
        except OSError as error:
            raise self._lost() from error

    def _line(self, deadline: float) -> _Line:
        """Return the next whole line, parsed."""
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
    """Return the pool of a protocol 1 agent, which reports one pool and only queue-wait times."""
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
    """Find the agent of a process and connect to it.

    Args:
        procfs: root of /proc.
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        timeout_s: timeout of each call, in seconds.
        opening_s: timeout of connecting and the first call, in seconds.

    Raises:
        AgentClientError: a subclass names what was found instead.
    """
    return AgentClient(connect(procfs, pid, start_ticks, opening_s), timeout_s, opening_s)
