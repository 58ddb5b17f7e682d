"""A WebSocket connection that a second thread may write messages to, beside the event loop's."""

import asyncio
import os
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tidscope_wire.generated.models import Target
from websockets.asyncio.client import ClientConnection
from websockets.protocol import State

from tidscope_collector.compiled.link import Link
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.usual_round import Collect

try:
    from websockets.speedups import apply_mask
except ImportError:  # no wheel for this system
    from websockets.utils import apply_mask

_BINARY, _MASKED, _TWO_BYTES, _EIGHT_BYTES = 0x82, 0x80, 126, 127
_NOW = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL


class SharedConnection(ClientConnection):
    """Whoever writes holds a lock, and a message is written as a whole.

    Where the kernel takes only a part of a message of the other thread, the event loop writes the
    rest before anything else.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol; begins the connection."""
        self._writing = Link()
        self._rest = b""
        self._own: socket.socket | None = None
        if transport.get_extra_info("ssl_object") is None:
            self._own = transport.get_extra_info("socket").dup()
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol; ends the connection."""
        with self._writing:
            if self._own is not None:
                self._own.close()
                self._own = None
            self._writing.refuse()
        super().connection_lost(exc)

    def send_data(self) -> None:
        """Write what is to be sent, behind the rest of what the other thread wrote."""
        with self._writing:
            if self._rest:
                self.transport.write(self._rest)
                self._rest = b""
            super().send_data()
            if not self._takes_more(self._own):
                self._writing.refuse()

    def _takes_more(self, own: socket.socket | None) -> bool:
        """Whether another thread may write to a socket now."""
        return (
            own is not None
            and not self._rest
            and self.protocol.state is State.OPEN
            and not self.transport.get_write_buffer_size()
        )

    def begin_round(self) -> Link | None:
        """Let compiled code write messages, as long as the connection takes all that it is given.

        Returns:
            None if that cannot be.
        """
        with self._writing as link:
            own = self._own
            if link.shared is None or own is None or not self._takes_more(own):
                return None
            link.accept(own.fileno())
            return link

    def end_round(self, message: memoryview) -> None:
        """Compiled code writes no more.

        Args:
            message: the last one, of which it may have written only a part.
        """
        rest = self._writing.take_rest()
        if rest:
            self._rest = bytes(message[-rest:])
            self._writing.refuse()
            self._writing.release()
            self.loop.call_soon_threadsafe(self.send_data)

    def send_now(self, data: bytes) -> bool:
        """Write a binary message at once; call it from the other thread.

        Returns:
            False if that cannot be: the connection is encrypted, closing, or has not taken all that
            was given to it. Then nothing was written.
        """
        with self._writing:
            own = self._own
            if own is None or not self._takes_more(own):
                return False
            message = binary_message(data)
            try:
                written = own.send(message, _NOW)
            except OSError:
                return False  # full, or lost: the event loop finds out
            self._rest = message[written:]
        if self._rest:
            self.loop.call_soon_threadsafe(self.send_data)
        return True


def binary_message(data: bytes) -> bytes:
    """A client's WebSocket message (RFC 6455, 5.2), as `websockets` makes it, in less time."""
    size = len(data)
    if size < _TWO_BYTES:
        head = bytes((_BINARY, _MASKED | size))
    elif size < 1 << 16:
        head = struct.pack("!BBH", _BINARY, _MASKED | _TWO_BYTES, size)
    else:
        head = struct.pack("!BBQ", _BINARY, _MASKED | _EIGHT_BYTES, size)
    mask = os.urandom(4)
    return b"".join((head, mask, apply_mask(data, mask)))


HELD_BYTES = 4 << 20
"""Of frames that went out and that the event loop has not taken in; above it is woken up."""


class Handed(NamedTuple):
    """A frame that the event loop is to take in.

    Attributes:
        target: whose, as it was when the frame was made.
        frame: the frame.
        sent: whether it went out.
    """

    target: Target
    frame: SampledFrame
    sent: bool


class DirectSender:
    """Sends frames from the sampling thread, or hands them to the event loop.

    Attributes:
        held_bytes: of frames that the event loop has not taken in.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handed: list[Handed] = []
        self._link: SharedConnection | None = None
        self._sent: dict[str, tuple[Target, int]] = {}
        """By id: the target as the backend knows it, and the number of the last frame sent. Only
        those of which nothing waits."""
        self._round: tuple[Target, Collect, SharedConnection] | None = None
        """Of frames that compiled code sends now: whose, what gives them, where they go."""
        self.held_bytes = 0

    def add(self, target: Target, frame: SampledFrame) -> bool:
        """Send a frame, if it is its turn; call in the sampling thread.

        Returns:
            Whether the event loop has to take in what was handed over.
        """
        with self._lock:
            known = self._sent.get(target.id)
            sent = (
                self._link is not None
                and known is not None
                and known[0] is target
                and known[1] == frame.seq - 1
                and self._link.send_now(frame.data)
            )
            if sent:
                self._sent[target.id] = (target, frame.seq)
            else:
                self._sent.pop(target.id, None)
            self._handed.append(Handed(target, frame, sent))
            self.held_bytes += len(frame.data)
            return not sent or self.held_bytes > HELD_BYTES

    def begin(self, target: Target, seq: int, collect: Collect) -> Link | None:
        """See `FrameRounds.begin`; call in the sampling thread."""
        with self._lock:
            connection, known = self._link, self._sent.get(target.id)
            if connection is None or known is None or known[0] is not target or known[1] != seq:
                return None
            link = connection.begin_round()
            if link is not None:
                self._round = target, collect, connection
            return link

    def end(self, message: memoryview) -> bool:
        """See `FrameRounds.end`; call in the sampling thread.

        Returns:
            Whether the event loop has to take in what was handed over.
        """
        if self._round is None:
            return False
        self._round[2].end_round(message)
        with self._lock:
            self._collect()
            self._round = None
            unsent = any(not one.sent for one in self._handed)
            return unsent or self.held_bytes > HELD_BYTES

    def _collect(self) -> None:
        """Take over what compiled code has sent since."""
        if self._round is None:
            return
        target, collect, _ = self._round
        for frame, sent in collect():
            self._handed.append(Handed(target, frame, sent))
            self.held_bytes += len(frame.data)
            if sent:
                self._sent[target.id] = (target, frame.seq)
            else:
                self._sent.pop(target.id, None)

    def take(self) -> list[Handed]:
        """What was handed over since, in order; call in the event loop."""
        with self._lock:
            self._collect()
            handed, self._handed = self._handed, []
            self.held_bytes = 0
        return handed

    def allow(
        self, link: SharedConnection, reached: Callable[[], Mapping[str, tuple[Target, int]]]
    ) -> None:
        """Let frames be sent directly, unless one waits to be taken in; call in the event loop.

        Args:
            link: the connection.
            reached: gives of the targets of which nothing waits, by id: the target as the backend
                knows it, and the number of the last frame sent.
        """
        with self._lock:
            self._collect()
            if not self._handed:
                self._link, self._sent = link, dict(reached())

    def forbid(self) -> None:
        """Let no frame be sent directly any more; call in the event loop."""
        with self._lock:
            self._link = None
            self._sent.clear()
