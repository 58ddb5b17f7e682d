"""A backend that a test writes: it welcomes a collector, then does what the test says."""

import json
import tempfile
from collections.abc import Awaitable, Callable

from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import CollectorWelcome
from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.exceptions import ConnectionClosed


class Server:
    """A backend of few words: welcomes a collector, then does what the test says.

    Args:
        behave: what to do with a connection, from the start.
    """

    def __init__(self, behave: Callable[[ServerConnection], Awaitable[None]]) -> None:
        self._behave = behave
        self._folder = tempfile.TemporaryDirectory(prefix="server-")
        path = f"{self._folder.name}/socket"
        self._serving = unix_serve(self._connected, path, compression=None, max_size=None)
        self.url = f"unix:{path}"

    async def _connected(self, socket: ServerConnection) -> None:
        try:
            await self._behave(socket)
        except ConnectionClosed:
            pass

    async def __aenter__(self) -> "Server":
        await self._serving.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._serving.__aexit__(None, None, None)
        self._folder.cleanup()


async def welcome(socket: ServerConnection, resume: dict[str, int] | None = None) -> None:
    assert json.loads(await socket.recv())["type"] == "collector_hello"
    message = CollectorWelcome(protocol=PROTOCOL_VERSION, resume=resume or {})
    await socket.send(message.model_dump_json())
