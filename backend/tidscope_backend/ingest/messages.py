"""Messages of collectors: received, parsed, and the first one of a connection."""

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorGoodbye,
    CollectorHello,
    CollectorMessage,
    DoctorReply,
    FlushReply,
    FramesLost,
    ProcessesReply,
    RefusedReply,
    SizeAuditReply,
    SteeringOptionsReply,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.text import validation_text

Message = (
    CollectorHello
    | CollectorFrames
    | TargetReply
    | ProcessesReply
    | DoctorReply
    | SizeAuditReply
    | RefusedReply
    | TargetChanged
    | TargetForgotten
    | FramesLost
    | SteeringOptionsReply
    | FlushReply
    | CollectorGoodbye
)
First = TypeVar("First", CollectorHello, CollectorFrames)
_MESSAGE: TypeAdapter[Message] = TypeAdapter(CollectorMessage)


class DisconnectedError(Exception):
    """The peer closed the connection or vanished."""


class CollectorConnection(Protocol):
    """Messages of one connection, independent of the transport."""

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""

    async def send_text(self, text: str, /) -> None:
        """Send a text message."""


class HostAuthority(Protocol):
    """The hosts that a collector is authorised to represent."""

    def claim(self, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """Claim a host for the collector. Raises CloseError if the secret is not the host's."""

    def check(self) -> None:
        """Check the collector's secret. Raises CloseError if it is no longer valid."""


async def receive(connection: CollectorConnection) -> Message | bytes:
    """Wait for the next message.

    Raises:
        CloseError: the message does not match its schema.
        DisconnectedError: the collector disconnected.
    """
    message = await connection.receive()
    if isinstance(message, bytes):
        return message
    try:
        return _MESSAGE.validate_json(message)
    except ValidationError as error:
        raise CloseError(CloseCode.BAD_MESSAGE, validation_text(error)) from None


async def first_message(
    connection: CollectorConnection, kind: type[First], seconds: float
) -> First:
    """Wait for the first message, and check the version of the protocol.

    Args:
        connection: connection with checked access.
        kind: model of the first message.
        seconds: timeout.

    Raises:
        CloseError: another message came, or none in time.
        DisconnectedError: the collector disconnected.
    """
    try:
        async with asyncio.timeout(seconds):
            message = await receive(connection)
    except TimeoutError:
        raise CloseError(CloseCode.TIMED_OUT, f"no hello within {seconds:g} s") from None
    if not isinstance(message, kind):
        given = "a frame" if isinstance(message, bytes) else f"a {message.type}"
        raise CloseError(CloseCode.BAD_MESSAGE, f"the first message is {given}, not a hello")
    if message.protocol != PROTOCOL_VERSION:
        raise CloseError(
            CloseCode.PROTOCOL_VERSION,
            f"the collector speaks version {message.protocol}, the backend {PROTOCOL_VERSION}",
        )
    return message


def unexpected(message: Message | bytes, connection: str) -> CloseError:
    """Return the refusal of a message that belongs on the other connection."""
    given = "a frame" if isinstance(message, bytes) else f"a {message.type}"
    return CloseError(CloseCode.BAD_MESSAGE, f"{given} on the {connection} connection")
