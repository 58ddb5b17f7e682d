"""The WebSocket of a page, as a test reads it."""

from typing import Self, TypeVar

from pydantic import TypeAdapter
from tidscope_wire.frame import split
from tidscope_wire.generated.models import (
    FrameAck,
    FrameHeader,
    FramesLost,
    LiveMessage,
    LiveProblem,
    LiveState,
    StreamStats,
    Subscribe,
    Unsubscribe,
)
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

Text = LiveState | StreamStats | FramesLost | LiveProblem
_TEXT: TypeAdapter[Text] = TypeAdapter(LiveMessage)
T = TypeVar("T", bound=Text)


class LivePage:
    """Connects as a program does, or as a browser does if an origin is given.

    Args:
        url: URL of the backend, ws://….
        token: shown as Bearer; None shows nothing.
        origin: Origin header.
        session: credential of a session, offered as a browser's page does.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        origin: str | None = None,
        session: str | None = None,
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if origin is not None:
            headers["Origin"] = origin
        self._connecting = connect(
            f"{url}/ws/live",
            additional_headers=headers,
            subprotocols=None if session is None else _subprotocols(session),
            max_size=None,
            compression=None,
            # Behind frames that nobody reads any more, the backend's farewell does not come.
            close_timeout=0.5,
            # A busy machine makes it late, not lost.
            open_timeout=120,
            ping_interval=None,
        )
        self._socket: ClientConnection | None = None
        self.texts: list[Text] = []

    @property
    def socket(self) -> ClientConnection:
        """The open connection."""
        assert self._socket is not None
        return self._socket

    async def __aenter__(self) -> Self:
        self._socket = await self._connecting
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()

    async def subscribe(self, target: str, after_seq: int | None = None) -> None:
        """Ask for a target's frames."""
        command = Subscribe(target=target, after_seq=after_seq)
        await self.socket.send(command.model_dump_json())

    async def unsubscribe(self, target: str) -> None:
        """Ask for no more."""
        await self.socket.send(Unsubscribe(target=target).model_dump_json())

    async def taken(self, frames: int) -> None:
        """Tell how many frames are dealt with."""
        await self.socket.send(FrameAck(frames=frames).model_dump_json())

    async def text(self, kind: type[T]) -> T:
        """Wait for the next message of a kind; frames before it must not come."""
        while True:
            message = await self.socket.recv()
            assert isinstance(message, str), "a frame came first"
            text = _TEXT.validate_json(message)
            if isinstance(text, kind):
                return text
            self.texts.append(text)

    async def frame(self) -> tuple[FrameHeader, bytes]:
        """Wait for the next frame; messages before it are kept in `texts`."""
        while True:
            message = await self.socket.recv()
            if isinstance(message, bytes):
                return split(message)[0], message
            self.texts.append(_TEXT.validate_json(message))

    async def frames(self, until_seq: int) -> list[tuple[int, int]]:
        """First and last number of each frame up to one that reaches a number."""
        seen: list[tuple[int, int]] = []
        while not seen or seen[-1][1] < until_seq:
            header, _ = await self.frame()
            seen.append((header.first_seq, header.seq))
        return seen


def _subprotocols(session: str) -> list[Subprotocol]:
    return [Subprotocol("tidscope.v1"), Subprotocol(f"tidscope.session.{session}")]
