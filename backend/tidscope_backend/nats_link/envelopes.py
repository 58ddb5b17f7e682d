"""Numbered messages of a session, in parts that NATS takes. Pure.

NATS may lose messages. Each direction of a session is numbered, and a beat repeats the last number,
so a loss never goes unnoticed: it ends the session, and the next one resumes.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

OPEN, CONTROL, DATA, FRAME, BEAT, CLOSE = b"o", b"c", b"d", b"f", b"b", b"x"
"""Kinds of messages: a backend opens a session; texts of the control and of the data connection;
frames; beats; the end of a session, with the reason."""
_HEAD = struct.Struct("<cxHHxxQ")
PART_BYTES = 512 * 1024
"""Maximum payload of a NATS message without its head, in bytes; servers take 1 MiB by default."""
MAX_PARTS = 256
"""Maximum parts of a message: two times the largest frame of a WebSocket."""
_NUMBERED = (OPEN, CONTROL, DATA, FRAME)


class Message(NamedTuple):
    """A whole message.

    Attributes:
        kind: one of the kinds above.
        body: text or frame.
    """

    kind: bytes
    body: bytes


class StreamBrokenError(Exception):
    """Messages of a session are missing, or it was ended; the text says which."""


class Outbound:
    """Numbers and divides the messages that one side of a session sends."""

    def __init__(self) -> None:
        self._number = 0

    def parts(self, kind: bytes, body: bytes) -> Iterator[bytes]:
        """Yield the NATS messages of a message."""
        if kind in _NUMBERED:
            self._number += 1
        count = max(1, -(-len(body) // PART_BYTES))
        for part in range(count):
            data = body[part * PART_BYTES : (part + 1) * PART_BYTES]
            yield _HEAD.pack(kind, part, count, self._number) + data


class Inbound:
    """Joins the messages that the other side of a session sends, and notices a missing one."""

    def __init__(self) -> None:
        self._number = 0
        self._parts: list[bytes] = []

    def take(self, payload: bytes) -> Message | None:
        """Take a NATS message; return the message that it completes, if any.

        Raises:
            StreamBrokenError: a message is missing.
        """
        kind, part, count, number = read_head(payload)
        expected = self._number + (kind in _NUMBERED)
        if kind != CLOSE and (number, part) != (expected, len(self._parts)):
            raise StreamBrokenError("messages were lost between NATS servers or on the way to one")
        self._parts.append(payload[_HEAD.size :])
        if part + 1 < count:
            return None
        body = self._parts[0] if count == 1 else b"".join(self._parts)
        self._parts.clear()
        self._number = number
        return Message(kind, body)


def read_head(payload: bytes) -> tuple[bytes, int, int, int]:
    """Return kind, part, number of parts, and number of a NATS message.

    Raises:
        StreamBrokenError: it is none of a session.
    """
    if len(payload) < _HEAD.size:
        raise StreamBrokenError("a message is too short")
    kind, part, count, number = _HEAD.unpack_from(payload)
    if not part < count <= MAX_PARTS:
        raise StreamBrokenError("a message has too many parts")
    return kind, part, count, number
