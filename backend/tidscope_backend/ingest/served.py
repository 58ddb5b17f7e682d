"""A collector's connection at a server of the websockets library, which needs no web server."""

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from tidscope_backend.ingest.messages import DisconnectedError


class ServedConnection:
    """A WebSocket of the websockets library."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""
        try:
            return await self._connection.recv()
        except ConnectionClosed as error:
            raise DisconnectedError(str(error)) from None

    async def send_text(self, text: str, /) -> None:
        """Send a text message."""
        await self._connection.send(text)
