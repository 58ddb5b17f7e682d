"""Eviction of connections: the choice, their peers, and the log."""

import asyncio
import logging
import os
import socket
from dataclasses import dataclass, field
from typing import Any

import pytest
from tidscope_backend.connections.connection import (
    BYTES_PER_WAIT,
    STATE_KEY,
    Awaited,
    Connection,
    PeerLookup,
    Waits,
)
from tidscope_backend.connections.protocols import BURST_SECONDS, WebSocketProtocol
from tidscope_backend.connections.server import PERIOD_SECONDS, LogLimit
from tidscope_backend.connections.table import (
    EVICTIONS_PER_SECOND,
    ConnectionLimits,
    Connections,
)
from uvicorn import Config
from uvicorn.server import ServerState

LIMITS = ConnectionLimits(total=16, peer=10, unauthenticated=8, unauthenticated_peer=4)
FLOOD, PERSON = "user id 65534", "user id 1000"


@dataclass
class Clock:
    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Server:
    """A table of connections, and when it is."""

    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.table = Connections(LIMITS, Waits(), self.clock)

    def connect(
        self, peer: str, count: int = 1, authenticated: bool = False, speaks: bool = False
    ) -> list[Connection]:
        """Admitted connections."""
        admitted = []
        for _ in range(count):
            connection = self.table.admit(peer, speaks)
            if connection is not None:
                connection.authenticate(authenticated)
                admitted.append(connection)
        return admitted


def test_a_flood_takes_places_only_from_itself() -> None:
    server = Server()
    (person,) = server.connect(PERSON)
    flood = server.connect(FLOOD, 50)
    assert len(flood) == 50
    # The oldest have made room for the newest.
    assert [one.listed for one in flood] == [False] * 46 + [True] * 4
    assert person.listed
    assert (server.table.counts.open, server.table.counts.evicted) == (5, 46)


def test_many_peers_take_places_from_the_one_that_has_most() -> None:
    server = Server()
    most = server.connect("address 192.0.2.1", 3)
    for number in range(2, 7):
        server.connect(f"address 192.0.2.{number}")
    assert server.table.counts.open == LIMITS.unauthenticated
    (newest,) = server.connect("address 192.0.2.99")
    assert [one.listed for one in (*most, newest)] == [False, True, True, True]


def test_one_that_is_being_answered_ends_behind_those_that_are_silent() -> None:
    server = Server()
    (first,) = server.connect(FLOOD)
    served(first)
    flood = server.connect(FLOOD, 6)
    assert first.listed
    assert not flood[0].listed


def test_who_speaks_is_read_before_it_can_end_for_the_flood_of_its_own_peer() -> None:
    server = Server()
    flood = server.connect(FLOOD, 4)
    (speaking,) = server.connect(FLOOD, speaks=True)
    protocol = served(speaking, wanted="head")
    flood += server.connect(FLOOD, EVICTIONS_PER_SECOND)
    assert speaking.listed
    assert server.connect(FLOOD) == []
    # The flood is refused for this second, and who speaks is not.
    (second,) = server.connect(FLOOD, speaks=True)
    assert speaking.listed and second.listed
    # A byte that is no request is as good as none.
    protocol.received = 1
    server.connect(FLOOD, 4, speaks=True)
    assert not speaking.listed


def test_connections_with_a_session_stay_and_too_many_are_refused() -> None:
    server = Server()
    signed_in = server.connect(PERSON, 12, authenticated=True)
    assert len(signed_in) == LIMITS.peer
    others = server.connect("user id 1001", 10, authenticated=True)
    assert len(signed_in) + len(others) == LIMITS.total
    assert server.connect(FLOOD, 5) == []
    assert all(one.listed for one in (*signed_in, *others))
    counts = server.table.counts
    assert (counts.authenticated, counts.refused) == (LIMITS.total, 2 + 4 + 5)
    signed_in[0].end()
    assert len(server.connect(FLOOD)) == 1
    # A connection of a person takes the place of one without a session.
    assert len(server.connect("user id 1002", authenticated=True)) == 1


def test_one_that_shows_no_credential_any_more_can_end_again() -> None:
    server = Server()
    (one,) = server.connect(FLOOD, authenticated=True)
    one.authenticate(False)
    server.connect(FLOOD, 4)
    assert not one.listed
    assert server.table.counts.authenticated == 0


def test_a_peer_that_reopens_without_end_is_refused_for_the_rest_of_the_second() -> None:
    server = Server()
    many = EVICTIONS_PER_SECOND + 100
    assert len(server.connect(FLOOD, many)) == EVICTIONS_PER_SECOND + LIMITS.unauthenticated_peer
    server.clock.now_s += 1
    assert len(server.connect(FLOOD)) == 1


def test_nothing_is_kept_of_peers_that_have_gone() -> None:
    server = Server()
    for number in range(1000):
        (one,) = server.connect(f"address 192.0.2.{number}")
        one.end()
    server.table.end_overdue()
    assert not server.table.peers
    assert server.table.counts.open == 0


@dataclass
class Peer:
    """A peer of a connection, and the protocol that serves it."""

    wanted: Awaited | None = None
    received: int = 0
    expired: list[Awaited] = field(default_factory=list)

    def awaited(self) -> tuple[Awaited | None, int, int]:
        return self.wanted, 1, self.received

    def expire(self, awaited: Awaited) -> None:
        self.expired.append(awaited)


class Unread(asyncio.Transport):
    """A transport with nothing to send."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self.aborted = True


def served(connection: Connection, **peer: Any) -> Peer:
    """Serve a connection."""
    protocol = Peer(**peer)
    connection.serve(Unread(), protocol)
    return protocol


def test_a_body_may_be_slow_if_it_comes_on() -> None:
    server = Server()
    (connection,) = server.connect(PERSON)
    peer = served(connection, wanted="body")
    for _ in range(10):
        server.table.end_overdue()
        server.clock.now_s += Waits().body
        peer.received += BYTES_PER_WAIT
    assert peer.expired == []
    server.table.end_overdue()
    server.clock.now_s += Waits().body
    peer.received += BYTES_PER_WAIT - 1
    server.table.end_overdue()
    assert peer.expired == ["body"]
    assert server.table.counts.timed_out == 1


def test_a_head_may_not_take_long_whatever_comes() -> None:
    server = Server()
    (connection,) = server.connect(PERSON)
    peer = served(connection, wanted="head")
    server.table.end_overdue()
    server.clock.now_s += Waits().head - 0.1
    peer.received += 10 * BYTES_PER_WAIT
    server.table.end_overdue()
    assert peer.expired == []
    server.clock.now_s += 0.1
    server.table.end_overdue()
    assert peer.expired == ["head"]


@pytest.mark.parametrize(
    ("listening", "connecting", "host"),
    [
        (socket.AF_INET, socket.AF_INET, "127.0.0.1"),
        (socket.AF_INET6, socket.AF_INET6, "::1"),
        (socket.AF_INET6, socket.AF_INET, "127.0.0.1"),
    ],
)
def test_a_local_peer_is_a_user(listening: int, connecting: int, host: str) -> None:
    lookup = PeerLookup()
    with socket.socket(listening) as server, socket.socket(connecting) as client:
        if listening == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("::" if listening == socket.AF_INET6 else host, 0))
        server.listen()
        client.connect((host, server.getsockname()[1]))
        accepted, address = server.accept()
        with accepted:
            assert lookup.peer(accepted, address) == f"user id {os.getuid()}"
            client.close()
            # The kernel reports a closed socket as root's.
            assert lookup.peer(accepted, address) == f"local address {host}"
    lookup.close()


def test_a_remote_peer_is_an_address_or_a_network() -> None:
    lookup = PeerLookup()
    with socket.socket() as unbound:
        assert lookup.peer(unbound, ("192.0.2.1", 5)) == "address 192.0.2.1"
        assert lookup.peer(unbound, ("::ffff:192.0.2.1", 5)) == "address 192.0.2.1"
        for host in ("2001:db8::1", "2001:db8::ffff:1"):
            assert lookup.peer(unbound, (host, 5)) == "network 2001:db8::/64"
    lookup.close()


def test_a_kind_of_line_is_logged_once_in_a_while_with_a_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    log = logging.getLogger("test_connections")
    limit = LogLimit(clock)
    log.addFilter(limit)
    try:
        for number in range(5):
            log.warning("a connection of %s is refused", number)
        log.warning("another kind")
        clock.now_s += PERIOD_SECONDS
        log.warning("a connection of %s is refused", 5)
    finally:
        log.removeFilter(limit)
    assert caplog.messages == [
        "a connection of 0 is refused",
        "another kind",
        "a connection of 5 is refused (4 more like it since the last such line)",
    ]


UPGRADE = (
    b"GET /ws/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
PONG = b"\x8a\x80" + bytes(4)
MANY = 1_000_000


class Transport(asyncio.Transport):
    """Remembers whether it would be read from."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = asyncio.Event()
        self.reading.set()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def pause_reading(self) -> None:
        self.reading.clear()

    def resume_reading(self) -> None:
        self.reading.set()

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass


async def _accept(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    await receive()


async def test_pongs_without_end_are_read_at_a_bounded_rate() -> None:
    config = Config(_accept, ws_max_size=4096, log_config=None, ws_per_message_deflate=False)
    config.load()
    protocol = WebSocketProtocol(config, ServerState(), {STATE_KEY: Connection("")})
    transport = Transport()
    protocol.connection_made(transport)

    def receive(data: bytes) -> None:
        buffer = protocol.get_buffer(len(data))
        buffer[: len(data)] = data
        protocol.buffer_updated(len(data))

    receive(UPGRADE)
    assert len(protocol.get_buffer(-1)) <= 4096
    sent = 0
    while transport.reading.is_set():
        receive(PONG * 100)
        sent += 100
        assert sent < MANY, "nothing stops it"
    assert sent >= 1000 * BURST_SECONDS
    await transport.reading.wait()
    protocol.connection_lost(None)
