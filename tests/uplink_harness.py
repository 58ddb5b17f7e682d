"""The collector's real uplink inside a test, a scripted backend, and a relay that can be cut."""

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Self

from backend_builders import HOST_ID, TARGET_ID, host, target
from backend_server import SECRET
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.commands import CommandHandler
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.frames import FramesLink
from tidscope_collector.uplink.sign_in import UNIX, SignIn
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.frame import FrameError, split
from tidscope_wire.generated.models import CollectorWelcome, DoctorReport, Target
from tidscope_wire.proof import host_credential
from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.exceptions import ConnectionClosed

MIB = 1 << 20


def no_doctor() -> DoctorReport:
    """Nobody asks in these tests."""
    raise NotImplementedError


@contextmanager
def quiet_targets() -> Iterator[TargetRegistry]:
    """Targets without an engine that runs: they are what a test notes."""
    sources = Sources(ProcFs())
    try:
        yield TargetRegistry(HOST_ID, ProcFs(), sources, Engine(sources.native, lambda _: None))
    finally:
        sources.close()


class UplinkHarness:
    """An uplink that waits between two tries until the test lets it go on.

    Args:
        targets: announced targets.
        where: port of the backend, or another address than ws://127.0.0.1.
        secret: secret that it proves, but at a Unix socket.
        most_bytes: bound of its replay buffer.

    Attributes:
        waits: seconds that it wanted to wait, one a try that has ended.
    """

    def __init__(
        self,
        targets: TargetRegistry,
        where: int | str,
        secret: str = SECRET,
        most_bytes: int = MIB,
    ) -> None:
        self.targets = targets
        self.waits: list[float] = []
        self._waiting = asyncio.Event()
        self._go = asyncio.Event()
        url = where if isinstance(where, str) else f"ws://127.0.0.1:{where}/ws/collector"
        sign_in = None if url.startswith(UNIX) else SignIn(url, host_credential(secret))
        self.frames = FramesLink(url, sign_in, HOST_ID, most_bytes, most_bytes)
        self.uplink = Uplink(
            url,
            sign_in,
            host(),
            targets,
            CommandHandler(targets, no_doctor),
            self.frames,
            self._pause,
        )
        self._task: asyncio.Task[None] | None = None

    async def _pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._waiting.set()
        await self._go.wait()
        self._go.clear()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.uplink.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await asyncio.to_thread(self.frames.stop)

    async def ended(self) -> float:
        """Wait until a connection, or a try, has ended; the seconds that it wants to wait."""
        await self._waiting.wait()
        self._waiting.clear()
        return self.waits[-1]

    def go_on(self) -> None:
        """Make the collector connect again."""
        self._go.set()

    async def tries(self, count: int) -> list[float]:
        """Wait for a number of failed tries; return the wanted pause after each, in seconds."""
        for turn in range(count):
            await self.ended()
            if turn < count - 1:
                self.go_on()
        return self.waits[-count:]

    def put(
        self,
        frames: Sequence[bytes],
        first: int = 1,
        *,
        of: Target | None = None,
        key_every: int = 10,
    ) -> None:
        """Hand frames over as the sampler does; 1, 1 + key_every, … are key frames."""
        whose = of or target(TARGET_ID)
        for seq, frame in enumerate(frames, first):
            key = seq % key_every == 1 or key_every == 1
            self.targets.update(whose)
            self.frames.native.add(whose.id, seq, frame, key, _is_baseline(frame))
        self.uplink.tell_changes()


def _is_baseline(frame: bytes) -> bool:
    try:
        return split(frame)[0].baseline
    except FrameError:
        return False


Behaviour = Callable[[ServerConnection], Awaitable[None]]
TICKET = "0" * 32


async def keep_open(socket: ServerConnection) -> None:
    """Welcome a control connection, and say no more."""
    await welcome(socket)
    await socket.wait_closed()


class Server:
    """A backend of few words: does with connections what the test says, from the start.

    Args:
        frames: handler of each data connection.
        control: handler of each control connection.
    """

    def __init__(self, frames: Behaviour | None = None, control: Behaviour = keep_open) -> None:
        self._frames, self._control = frames, control
        self._folder = tempfile.TemporaryDirectory(prefix="server-")
        path = f"{self._folder.name}/socket"
        self._serving = unix_serve(self._connected, path, compression=None, max_size=None)
        self.url = f"unix:{path}"

    async def _connected(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        try:
            if socket.request.path == "/ws/collector":
                await self._control(socket)
            elif self._frames is not None:
                await self._frames(socket)
        except ConnectionClosed:
            pass

    async def __aenter__(self) -> "Server":
        await self._serving.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._serving.__aexit__(None, None, None)
        self._folder.cleanup()


async def welcome(socket: ServerConnection, resume: dict[str, int] | None = None) -> None:
    """Read the first message of a connection, and answer it."""
    hello = json.loads(await socket.recv())
    is_control = hello["type"] == "collector_hello"
    assert is_control or (hello["type"], hello["ticket"]) == ("collector_frames", TICKET)
    message = CollectorWelcome(
        protocol=PROTOCOL_VERSION, resume=resume or {}, frames=TICKET if is_control else None
    )
    await socket.send(message.model_dump_json())


RELAY_ADDRESS = "127.0.0.2"
"""A collector proves that it has reached the port that it dialled, so only the address differs."""


class Relay:
    """Listens on another address of this machine; use in an ``async with`` statement.

    Args:
        port: port that it listens on, and passes connections on to.
    """

    def __init__(self, port: int) -> None:
        self._goal = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The address of /ws/collector, through it."""
        return f"ws://{RELAY_ADDRESS}:{self._goal}/ws/collector"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, RELAY_ADDRESS, self._goal)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Break all connections; new ones are passed on."""
        for writer in self._open:
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._goal)
        self._open |= {writer, far_writer}
        for source, goal in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pass_on(source, goal))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, source: asyncio.StreamReader, goal: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                goal.write(data)
                await goal.drain()
        except ConnectionError:
            pass
        finally:
            goal.close()
            self._open.discard(goal)
