"""Messages of collectors: received, parsed, and the first one of a connection."""

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorGoodbye,
    CollectorHello,
    CutRingReply,
    DoctorReply,
    FlushReply,
    FramesLost,
    ListRingReply,
    ProcessesReply,
    ReadCutReply,
    RefusedReply,
    SizeAuditReply,
    SteeringOptionsReply,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.ingest.other_versions import parse_hello

Reply = (
    TargetReply
    | ProcessesReply
    | DoctorReply
    | SizeAuditReply
    | SteeringOptionsReply
    | FlushReply
    | ListRingReply
    | CutRingReply
    | ReadCutReply
    | RefusedReply
)
Message = (
    CollectorHello
    | CollectorFrames
    | Reply
    | TargetChanged
    | TargetForgotten
    | FramesLost
    | CollectorGoodbye
)
First = TypeVar("First", CollectorHello, CollectorFrames)


class DisconnectedError(Exception):
    """The peer closed the connection or vanished."""


class CollectorConnection(Protocol):
    """Messages of one connection, independent of the transport."""

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""

    async def send_text(self, text: str, /) -> None:
        """Send a text message. Raises DisconnectedError."""


class HostAuthority(Protocol):
    """The hosts that a collector is authorised to represent."""

    def claim(self, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """Claim a host for the collector. Raises CloseError if the secret is not the host's."""

    def check(self) -> None:
        """Check the collector's secret. Raises CloseError if it is no longer valid."""


async def receive(
    connection: CollectorConnection, parse: Callable[[str], Message]
) -> Message | bytes:
    """Wait for the next message.

    Args:
        connection: connection with checked access.
        parse: parses text messages; raises CloseError.

    Raises:
        CloseError: the message does not match its schema.
        DisconnectedError: the collector disconnected.
    """
    message = await connection.receive()
    return message if isinstance(message, bytes) else parse(message)


async def first_message(
    connection: CollectorConnection, kind: type[First], seconds: float
) -> tuple[First, list[str]]:
    """Wait for the first message, and check the version of the protocol.

    Args:
        connection: connection with checked access.
        kind: model of the first message.
        seconds: timeout.

    Returns:
        The message, and the names of its members that this version does not know.

    Raises:
        CloseError: another message came, or none in time.
        DisconnectedError: the collector disconnected.
    """
    unknown = list[str]()

    def parse(text: str) -> Message:
        message: Message
        message, names = parse_hello(text)
        unknown.extend(names)
        return message

    try:
        async with asyncio.timeout(seconds):
            message = await receive(connection, parse)
    except TimeoutError:
        raise CloseError(CloseCode.TIMED_OUT, f"no hello within {seconds:g} s") from None
    if not isinstance(message, kind):
        given = "a frame" if isinstance(message, bytes) else f"a {message.type}"
        raise CloseError(CloseCode.BAD_MESSAGE, f"the first message is {given}, not a hello")
    return message, unknown


def unexpected(message: Message | bytes, connection: str) -> CloseError:
    """Return the refusal of a message that belongs on the other connection."""
    given = "a frame" if isinstance(message, bytes) else f"a {message.type}"
    return CloseError(CloseCode.BAD_MESSAGE, f"{given} on the {connection} connection")
