"""One accepted connection: peer, deadlines, and close codes of WebSockets."""

import socket
import struct
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import asyncio
from contextlib import suppress
from ipaddress import IPv6Address
from typing import TYPE_CHECKING

from tidscope_wire.generated.close_code import CloseCode

if TYPE_CHECKING:
    from fastapi import WebSocket


STATE_KEY = "connection"
"""Key of a request's connection in the ASGI scope's state."""
BYTES_PER_WAIT = 16 * 1024
"""Minimum bytes of a body or an answer that a peer must move within each deadline."""
Awaited = Literal["head", "body", "discard"]
"""Awaited input: a request's head, its body, or the body of an already answered request."""
Stage = Literal["silent", "unread", "answering"]
"""Stage of a request: none has arrived, unread bytes are waiting, or an answer is in progress."""
_BYTES_ACKED_AT = 120
"""tcpi_bytes_acked in struct tcp_info (linux/tcp.h)."""


@dataclass(frozen=True)
class Waits:
    """Deadlines of a peer, in seconds.

    Attributes:
        head: deadline of a request's head, from its first byte; of the first request, from
            connecting.
        body: deadline of each 16 KiB of a body.
        discard: deadline of the rest of an unread body.
        unsent: deadline of each 16 KiB sent to the peer.
        check: interval between checks of the other deadlines.
    """

    head: float = 10
    body: float = 15
    discard: float = 3
    unsent: float = 60
    check: float = 1


class ServedProtocol(Protocol):
    """Interface of a protocol that serves a connection."""

    def awaited(self) -> tuple[Awaited | None, int, int]:
        """Return the awaited event, the number of the request and the bytes received."""

    def expire(self, awaited: Awaited) -> None:
        """End the connection because the peer exceeded a deadline."""


class ConnectionTable(Protocol):
    """Interface of the table that contains a connection."""

    def authenticate(self, connection: "Connection", succeeded: bool) -> None:
        """Note whether a request has shown a required credential."""

    def remove(self, connection: "Connection") -> None:
        """Remove a connection that has ended or is ending."""

    def closed(self, connection: "Connection") -> None:
        """Note that the socket of an evicted connection is closed."""


@dataclass(frozen=True)
class MessageLimits:
    """Bounds on the messages of a WebSocket's peer.

    Attributes:
        max_bytes: maximum bytes of a message.
        per_second: messages, fragments and control frames; further ones are read later.
        read_bytes: maximum bytes per read from the socket.
    """

    max_bytes: int
    per_second: float
    read_bytes: int


Peer = str


class Connection:
    """A connection of a peer.

    Args:
        peer: peer of the connection.
        table: table that contains the connection.
        speaks: whether data had arrived at the time of acceptance.

    Attributes:
        authenticated: whether the last request that required a credential showed a valid one.
        message_limits: message bounds of its WebSocket, set by the endpoint.
    """

    def __init__(
        self, peer: Peer, table: ConnectionTable | None = None, speaks: bool = False
    ) -> None:
        self.peer = peer
        self._speaks = speaks
        self.authenticated = False
        self._table = table
        self.message_limits: MessageLimits | None = None
        self._transport: asyncio.Transport | None = None
        self._protocol: ServedProtocol | None = None
        self._dropped_from: ConnectionTable | None = None
        self._wait: tuple[Awaited, int] | None = None
        self._wait_since_s = 0.0
        self._wait_bytes = 0
        self._unsent_since_s: float | None = None
        self._unsent_acked = 0

    @property
    def listed(self) -> bool:
        """True while the connection is open and not evicted."""
        return self._table is not None

    @property
    def stage(self) -> Stage:
        """Stage of the current request."""
        awaited, _, received = self._protocol.awaited() if self._protocol else ("head", 0, 0)
        if self._speaks and not received:
            return "unread"
        return "silent" if awaited == "head" else "answering"

    def serve(self, transport: "asyncio.Transport", protocol: ServedProtocol) -> None:
        """Note the protocol that serves the connection."""
        self._transport, self._protocol = transport, protocol
        if self._dropped_from is not None:
            transport.abort()

    def authenticate(self, succeeded: bool) -> None:
        """Note whether a request has shown a required credential."""
        if self._table is not None and succeeded != self.authenticated:
            self._table.authenticate(self, succeeded)

    def end(self) -> None:
        """Note that the connection has ended and its socket is closed."""
        if self._dropped_from is not None:
            self._dropped_from.closed(self)
            self._dropped_from = None
        elif self._table is not None:
            self._table.remove(self)
            self._table = None

    def drop(self) -> None:
        """End the connection: remove it from the table and close its socket as soon as possible."""
        if self._table is not None:
            self._table.remove(self)
            self._dropped_from, self._table = self._table, None
        if self._transport is not None:
            self._transport.abort()

    def end_if_overdue(self, now_s: float, waits: Waits) -> bool:
        """End the connection if its peer exceeded a deadline; call about once a second."""
        if self._transport is None or self._protocol is None:
            return False
        awaited, request, received = self._protocol.awaited()
        current = None if awaited is None else (awaited, request)
        if current != self._wait:
            self._wait, self._wait_since_s, self._wait_bytes = current, now_s, received
        elif awaited is not None and now_s - self._wait_since_s >= getattr(waits, awaited):
            if awaited != "body" or received - self._wait_bytes < BYTES_PER_WAIT:
                self._protocol.expire(awaited)
                return True
            self._wait_since_s, self._wait_bytes = now_s, received
        return self._end_if_unread(now_s, waits.unsent)

    def _end_if_unread(self, now_s: float, seconds: float) -> bool:
        transport = self._transport
        if transport is None or not transport.get_write_buffer_size():
            self._unsent_since_s = None
            return False
        acked = bytes_acked(transport.get_extra_info("socket"))
        if self._unsent_since_s is None or acked - self._unsent_acked >= BYTES_PER_WAIT:
            self._unsent_since_s, self._unsent_acked = now_s, acked
        elif now_s - self._unsent_since_s >= seconds:
            transport.abort()
            return True
        return False


def connection_of(scope: MutableMapping[str, Any]) -> Connection:
    """Return the connection of a request or WebSocket; an unlisted one without our server."""
    connection: Connection = scope.setdefault("state", {}).setdefault(STATE_KEY, Connection(""))
    return connection


def bytes_acked(sock: socket.socket) -> int:
    """Return the number of bytes acknowledged by the peer of a TCP socket."""
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_ACKED_AT + 8)
    acked: int = struct.unpack_from("=Q", info, _BYTES_ACKED_AT)[0]
    return acked


_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_ESTABLISHED = 1
_MAPPED = "::ffff:"
_HEADER = struct.Struct("=IHHII")
"""nlmsghdr (linux/netlink.h): length, type, flags, sequence, port."""
_QUESTION = struct.Struct("=BBBBI")
"""Start of inet_diag_req_v2 (linux/inet_diag.h): family, protocol, extensions, pad, states."""
_UID_AT = _HEADER.size + 4 + 48 + 12
"""Offset of the user ID in inet_diag_msg, after four bytes, a socket ID (48) and three numbers."""


class PeerLookup:
    """Names the peer of an accepted connection.

    All users of this machine share its addresses, so a local peer is identified by the user who
    owns the remote socket. The kernel returns the owner through sock_diag(7): one exact lookup of 5
    µs, without privileges.
    """

    def __init__(self) -> None:
        self._netlink: socket.socket | None = None
        self._sequence = 0
        try:
            self._netlink = socket.socket(
                socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, _NETLINK_SOCK_DIAG
            )
        except OSError:
            pass  # No kernel support: local peers are distinguished by address only.

    def close(self) -> None:
        """Close the netlink socket."""
        if self._netlink is not None:
            self._netlink.close()

    def peer(self, connection: socket.socket, address: tuple[str, int]) -> Peer:
        """Name a peer.

        Args:
            connection: connection as accepted.
            address: remote address from accept().
        """
        host = address[0].removeprefix(_MAPPED)
        try:
            own = connection.getsockname()
        except OSError:
            return f"address {host}"
        own_host = own[0].removeprefix(_MAPPED)
        if host == own_host or host.startswith("127.") or host == "::1":
            return self.local((host, address[1]), (own_host, own[1]))
        if ":" in host:
            # A /64 network has one owner and more addresses than any table could hold.
            prefix = IPv6Address(host.partition("%")[0]).packed[:8]
            return f"network {IPv6Address(prefix + bytes(8))}/64"
        return f"address {host}"

    def local(self, client: tuple[str, int], server: tuple[str, int]) -> Peer:
        """Name the peer of a local connection, by the addresses of both ends."""
        uid = self._uid(client, server)
        return f"local address {client[0]}" if uid is None else f"user id {uid}"

    def _uid(self, client: tuple[str, int], server: tuple[str, int]) -> int | None:
        """Return the owner of the client's socket; None if unknown or closed."""
        if self._netlink is None:
            return None
        family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
        ends = b"".join(
            socket.inet_pton(family, host.partition("%")[0]).ljust(16, b"\0")
            for host in (client[0], server[0])
        )
        question = (
            _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
            + struct.pack("!HH", client[1], server[1])
            + ends
            + struct.pack("=I", 0)
            + b"\xff" * 8
        )
        self._sequence = self._sequence + 1 & 0xFFFFFFFF
        header = _HEADER.pack(
            *(_HEADER.size + len(question), _SOCK_DIAG_BY_FAMILY),
            *(_NLM_F_REQUEST, self._sequence, 0),
        )
        try:
            self._netlink.send(header + question)
            answer = self._netlink.recv(4096)
            while _HEADER.unpack_from(answer)[3] != self._sequence:
                answer = self._netlink.recv(4096)
        except (OSError, struct.error):
            return None
        # A socket closed by its owner is reported as root's.
        if len(answer) < _UID_AT + 4 or answer[_HEADER.size + 1] != _ESTABLISHED:
            return None
        uid: int = struct.unpack_from("=I", answer, _UID_AT)[0]
        return uid


MAX_REASON_BYTES = 123
"""Maximum bytes of a reason: a close frame holds 125 with the code (RFC 6455, section 5.5)."""


class CloseError(Exception):
    """The connection has to be closed.

    Attributes:
        code: close code, as in the schemas.
        reason: cause of the closing.
    """

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def fit_reason(reason: str) -> str:
    """Truncate a reason to fit into a close frame."""
    encoded = reason.encode()
    if len(encoded) <= MAX_REASON_BYTES:
        return reason
    return encoded[: MAX_REASON_BYTES - 3].decode(errors="ignore") + "…"


async def close(socket: "WebSocket", code: CloseCode, reason: str) -> None:
    """Close a WebSocket; a disconnected peer counts as closed."""
    # Imported here, because a collector's session needs the errors above without the server.
    from fastapi import WebSocketDisconnect

    with suppress(RuntimeError, WebSocketDisconnect):
        await socket.close(code, fit_reason(reason))
