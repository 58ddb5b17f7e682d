"""Connections of an agent: one thread serves them all and waits for none."""

import os
import selectors
import socket
import struct
import time
from collections.abc import Callable

from tidscope_agent.lease import Lease
from tidscope_agent.protocol import (
    CLIENTS,
    INVALID,
    LONGEST_LINE,
    METHOD,
    PARAMS,
    RESTART_SEARCH,
    VERSION,
    Call,
    FailureError,
    answer_line,
    failure_line,
    parse_call,
    parse_set,
)
from tidscope_agent.registry import POOLS

MAX_CLIENTS = 8
_CREDENTIALS = struct.Struct("iII")
_RETRY_S = 0.05


class _Client:
    """A connection, with the buffer of an incomplete line."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.buffer = bytearray()

    def send(self, line: bytes) -> None:
        """Send a line.

        Raises:
            OSError: the client is gone, or does not read its answers.
        """
        if self.connection.send(line) != len(line):
            raise BrokenPipeError


class Server:
    """Server of clients at a listening socket, until it is stopped.

    Args:
        listener: non-blocking socket, owned by the server.
        lease: used by the thread of `run` alone.
    """

    def __init__(self, listener: socket.socket, lease: Lease) -> None:
        self._listener = listener
        self._lease = lease
        self._start_ns = time.monotonic_ns()
        self._uid = os.geteuid()
        self._clients: dict[int, _Client] = {}
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._woken, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until stopped, then restore the size."""
        try:
            while not self._stopped():
                self._step()
        finally:
            self._lease.release()
            for client in list(self._clients.values()):
                self._drop(client)
            self._close()

    def stop(self) -> None:
        """Stop `run` soon; callable from any thread."""
        self._wake.shutdown(socket.SHUT_WR)

    def restart_search(self) -> None:
        """Notify all clients soon; callable from any thread."""
        try:
            self._wake.send(b"r")
        except OSError:
            pass  # The server has stopped, or wake-ups are already pending.

    def forget(self) -> None:
        """Close everything in a forked child, where no thread serves."""
        for client in self._clients.values():
            client.connection.close()
        self._close()

    def _close(self) -> None:
        self._selector.close()
        for end in (self._listener, self._wake, self._woken):
            end.close()

    def _stopped(self) -> bool:
        """Process requests of other threads. Return True if the server must stop."""
        try:
            asked = self._woken.recv(4096, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        if asked:
            for client in list(self._clients.values()):
                self._try(client, self._notify)
        return not asked

    def _step(self) -> None:
        for key, _ in self._selector.select(self._lease.left_s()):
            if isinstance(key.data, _Client):
                self._try(key.data, self._receive)
            elif key.data is not None:
                key.data()

    def _try(self, client: _Client, action: Callable[[_Client], None]) -> None:
        try:
            action(client)
        except OSError:
            self._drop(client)

    def _notify(self, client: _Client) -> None:
        client.send(RESTART_SEARCH)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            time.sleep(_RETRY_S)  # For example, no descriptor is left; the program needs them more.
            return
        connection.setblocking(False)
        client = _Client(connection)
        if _peer_uid(connection) not in (0, self._uid):
            connection.close()
        elif len(self._clients) >= MAX_CLIENTS:
            wrong = FailureError(CLIENTS, f"there are {MAX_CLIENTS} clients already")
            try:
                client.send(failure_line(wrong, None))
            except OSError:
                pass
            connection.close()
        else:
            self._clients[connection.fileno()] = client
            self._selector.register(connection, selectors.EVENT_READ, client)

    def _drop(self, client: _Client) -> None:
        self._lease.forget(client)
        del self._clients[client.connection.fileno()]
        self._selector.unregister(client.connection)
        client.connection.close()

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._start_ns

    def _receive(self, client: _Client) -> None:
        piece = client.connection.recv(LONGEST_LINE)
        if not piece:
            raise BrokenPipeError
        client.buffer += piece
        while (end := client.buffer.find(b"\n")) >= 0 and end < LONGEST_LINE:
            line = bytes(client.buffer[:end])
            del client.buffer[: end + 1]
            self._answer(client, line)
        if len(client.buffer) >= LONGEST_LINE:
            wrong = FailureError(INVALID, f"the line is longer than {LONGEST_LINE} bytes")
            client.send(failure_line(wrong, None))
            raise BrokenPipeError

    def _answer(self, client: _Client, line: bytes) -> None:
        number = None
        try:
            call = parse_call(line)
            number = call.number
            result = answer(self._lease, client, call, self._now_ns)
        except FailureError as wrong:
            client.send(failure_line(wrong, wrong.number if number is None else number))
            if wrong.closes:
                raise BrokenPipeError from wrong
            return
        client.send(answer_line(number, result))


def _peer_uid(connection: socket.socket) -> int:
    """User of the peer process, as recorded by the kernel at connect(2)."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(credentials)[1])


def answer(
    lease: Lease, client: object, call: Call, now_ns: Callable[[], int]
) -> dict[str, object]:
    """Answer a call.

    Args:
        lease: lease of the pool.
        client: calling client.
        call: the call.
        now_ns: returns the current time.

    Raises:
        FailureError: the call is refused.
    """
    if call.method == "set":
        lease.set(client, *parse_set(call.params))
        return _sizes(lease)
    if call.method not in ("hello", "read", "read_pools", "release"):
        raise FailureError(METHOD, f"there is no method {call.method[:40]!r}")
    if call.has_params:
        raise FailureError(PARAMS, f"{call.method} takes no parameters")
    if call.method == "hello":
        return _hello(lease)
    if call.method == "read":
        counts = lease.pool.counts()
        return {
            "ops": counts.ops,
            "size": counts.size,
            "queue_wait_ns": counts.queue_wait_ns,
            "queue_waits": counts.queue_waits,
            "monotonic_ns": now_ns(),
        }
    if call.method == "read_pools":
        pools, omitted = POOLS.answer()
        return {"pools": pools, "omitted": omitted, "monotonic_ns": now_ns()}
    lease.release()
    return _sizes(lease)


def _hello(lease: Lease) -> dict[str, object]:
    return {
        "pid": os.getpid(),
        "runtime": "python",
        "version": VERSION,
        "protocol": 2,
        "knob": lease.pool.knob,
        "lower": lease.lower,
        "upper": lease.upper,
        "size": lease.pool.counts().size,
        "original": lease.original,
    } | ({"line": lease.pool.line} if lease.pool.line else {})


def _sizes(lease: Lease) -> dict[str, object]:
    return {"size": lease.pool.counts().size, "wanted": lease.pool.wanted}
