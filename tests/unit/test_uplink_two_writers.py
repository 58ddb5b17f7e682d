"""A connection that two threads write to: whole messages, in order, and only while it is open."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator

import pytest
from tidscope_collector.compiled import link as compiled_link
from tidscope_collector.compiled.link import Link
from tidscope_collector.compiled.structs import LINK, Struct
from tidscope_collector.uplink import direct
from tidscope_collector.uplink.direct import SharedConnection, binary_message
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

LARGE = bytes(range(256)) * 4096
"""More than a small socket buffer takes."""
NOBODY = 2**64 - 1


class Transport(asyncio.Transport):
    """Keeps what the event loop writes, and shows a socket.

    Attributes:
        written: by the event loop.
        wrote: set once it wrote anything.
        waiting: bytes that the kernel has not taken.
    """

    def __init__(self, near: socket.socket | None) -> None:
        super().__init__({"socket": near, "ssl_object": None if near else object()})
        self.written = b""
        self.wrote = asyncio.Event()
        self.waiting = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data
        self.wrote.set()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def can_write_eof(self) -> bool:
        return False

    def close(self) -> None:
        pass


class SharedLink(Link):
    """State shared with compiled code, without compiled code."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = self.shared = Struct(LINK)
        self.refuse()


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No compiled code, and messages that are the same each time."""
    monkeypatch.setattr(compiled_link, "_COMPILED", None)
    for source in ("os.urandom", "secrets.token_bytes"):
        monkeypatch.setattr(source, lambda count: (b"mask" * count)[:count])


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    with near, far:
        near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        far.setblocking(False)
        yield near, far


class Wire:
    """A connection, and what arrives at its other end."""

    def __init__(self, ends: tuple[socket.socket, socket.socket]) -> None:
        near, self.far = ends
        self.transport = Transport(near)
        self.link = connection()
        self.link.connection_made(self.transport)
        self._lost = False

    def lose(self) -> None:
        """The connection is lost, if it was not before."""
        if not self._lost:
            self.link.connection_lost(None)
        self._lost = True

    def arrived(self) -> bytes:
        """Messages written directly since the last call."""
        got = b""
        while True:
            try:
                got += self.far.recv(1 << 20)
            except BlockingIOError:
                return got


def connection(state: State = State.OPEN) -> SharedConnection:
    return SharedConnection(ClientProtocol(parse_uri("ws://localhost/"), state=state))


@pytest.fixture
async def wire(ends: tuple[socket.socket, socket.socket]) -> AsyncIterator[Wire]:
    made = Wire(ends)
    yield made
    made.lose()


@pytest.fixture
async def compiled(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Wire]:
    """One that compiled code may write to."""
    monkeypatch.setattr(direct, "Link", SharedLink)
    made = Wire(ends)
    yield made
    made.lose()


def begun(wire: Wire) -> Struct:
    """State of a starting round for compiled code."""
    link = wire.link.begin_round()
    assert isinstance(link, SharedLink)
    return link.memory


async def test_a_message_goes_out_at_once(wire: Wire) -> None:
    assert wire.link.send_now(b"frame")
    assert wire.arrived() == binary_message(b"frame")
    assert wire.transport.written == b""


async def test_the_loop_writes_the_rest_before_anything_else(wire: Wire) -> None:
    assert wire.link.send_now(LARGE)
    first = wire.arrived()
    assert 0 < len(first) < len(LARGE)
    # The rest waits: nothing may get in between.
    assert not wire.link.send_now(b"frame")
    wire.link.protocol.send_text(b"text")
    wire.link.send_data()
    text = Frame(Opcode.TEXT, b"text").serialize(mask=True)
    assert first + wire.transport.written == binary_message(LARGE) + text
    assert wire.link.send_now(b"frame")
    assert wire.arrived() == binary_message(b"frame")


async def test_the_loop_is_asked_to_write_the_rest(wire: Wire) -> None:
    assert await asyncio.to_thread(wire.link.send_now, LARGE)
    first = wire.arrived()
    async with asyncio.timeout(200):
        await wire.transport.wrote.wait()
    assert first + wire.transport.written == binary_message(LARGE)


async def test_nothing_is_written_where_the_loop_has_something_to_write(wire: Wire) -> None:
    wire.transport.waiting = 1
    assert not wire.link.send_now(b"frame")
    wire.transport.waiting = 0
    assert wire.link.send_now(b"frame")
    assert wire.arrived() == binary_message(b"frame")


async def test_nothing_is_written_to_a_connection_that_is_closing(wire: Wire) -> None:
    wire.link.protocol.send_close(1000)
    wire.link.send_data()
    assert not wire.link.send_now(b"frame")
    assert wire.arrived() == b""


async def test_a_full_socket_takes_nothing(wire: Wire) -> None:
    near = wire.transport.get_extra_info("socket")
    near.setblocking(False)
    filled = near.send(LARGE)
    with pytest.raises(BlockingIOError):
        near.send(b"x")
    assert not wire.link.send_now(b"frame")
    assert wire.arrived() == LARGE[:filled]
    # The message counts as unwritten: the next one is whole.
    assert wire.link.send_now(b"frame")
    assert wire.arrived() == binary_message(b"frame")


async def test_a_lost_peer_is_no_error(wire: Wire) -> None:
    wire.far.close()
    assert not wire.link.send_now(b"frame")


async def test_nothing_is_written_after_the_connection_is_lost(wire: Wire) -> None:
    wire.lose()
    assert not wire.link.send_now(b"frame")
    assert wire.link.begin_round() is None
    # The socket of the transport is the transport's to close.
    assert wire.transport.get_extra_info("socket").fileno() >= 0


async def test_an_encrypted_connection_is_the_loops_alone() -> None:
    link, transport = connection(), Transport(None)
    link.connection_made(transport)
    assert not link.send_now(b"frame")
    link.protocol.send_binary(b"frame")
    link.send_data()
    assert transport.written == binary_message(b"frame")
    link.connection_lost(None)
    assert not link.send_now(b"frame")


async def test_no_round_begins_without_compiled_code(wire: Wire) -> None:
    assert wire.link.begin_round() is None
    wire.link.end_round(memoryview(b"message"))
    assert wire.link.send_now(b"frame")
    assert wire.arrived() == binary_message(b"frame")


async def test_compiled_code_writes_to_the_same_socket(compiled: Wire) -> None:
    number = begun(compiled)["socket"]
    with socket.socket(fileno=number) as own:
        own.send(b"message")
        own.detach()
    assert compiled.arrived() == b"message"
    compiled.link.end_round(memoryview(b"message"))
    assert compiled.transport.written == b""
    assert compiled.link.send_now(b"frame")


async def test_no_round_begins_while_the_loop_has_something_to_write(compiled: Wire) -> None:
    compiled.transport.waiting = 1
    assert compiled.link.begin_round() is None
    compiled.transport.waiting = 0
    assert compiled.link.begin_round() is not None


async def test_compiled_code_stops_where_the_loop_could_not_write_all(compiled: Wire) -> None:
    shared = begun(compiled)
    compiled.link.protocol.send_text(b"text")
    compiled.link.send_data()
    assert shared["socket"] != NOBODY
    compiled.transport.waiting = 1
    compiled.link.send_data()
    assert shared["socket"] == NOBODY


async def test_compiled_code_stops_when_the_connection_is_lost(compiled: Wire) -> None:
    shared = begun(compiled)
    compiled.lose()
    assert shared["socket"] == NOBODY


async def test_the_loop_goes_on_with_what_compiled_code_wrote_in_part(compiled: Wire) -> None:
    link = compiled.link.begin_round()
    assert isinstance(link, SharedLink)
    # Like compiled code, it holds the link from a partly written message on.
    link.__enter__()
    link.memory["rest_bytes"] = 3
    compiled.link.end_round(memoryview(b"message"))
    assert link.memory["socket"] == NOBODY
    assert not compiled.link.send_now(b"frame")
    assert compiled.link.begin_round() is None
    async with asyncio.timeout(200):
        await compiled.transport.wrote.wait()
    assert compiled.transport.written == b"age"
    assert compiled.link.send_now(b"frame")


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_a_binary_message_is_what_the_library_makes(size: int) -> None:
    expected = Frame(Opcode.BINARY, LARGE[:size]).serialize(mask=True)
    assert binary_message(LARGE[:size]) == expected
