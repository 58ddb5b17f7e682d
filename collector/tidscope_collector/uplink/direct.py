"""Direct sending: the sampling thread writes frames to the connection if nothing is queued.

Waking the event loop costs several times the CPU of sending a frame. The sampling thread therefore
sends a frame itself if it is its target's next and the event loop has nothing queued. Otherwise the
event loop sends it. The loop keeps every frame until the backend confirms it. It learns of sent
frames when it next runs, at the latest on a confirmation.
"""

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
HELD_BYTES = 4 << 20
"""Maximum size of sent frames unknown to the event loop, in bytes; beyond it the loop is woken."""


class SharedConnection(ClientConnection):
    """A WebSocket connection that a second thread may write to. A lock keeps messages whole.

    If the kernel accepts only part of the other thread's message, the event loop writes the rest
    first.
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
        """Write queued data, behind the rest of the other thread's message."""
        with self._writing:
            if self._rest:
                self.transport.write(self._rest)
                self._rest = b""
            super().send_data()
            if not self._takes_more(self._own):
                self._writing.refuse()

    def _takes_more(self, own: socket.socket | None) -> bool:
        """Return True if another thread may write to the socket now."""
        return (
            own is not None
            and not self._rest
            and self.protocol.state is State.OPEN
            and not self.transport.get_write_buffer_size()
        )

    def begin_round(self) -> Link | None:
        """Let compiled code write messages while the connection accepts them in full.

        Returns:
            None if compiled code may not write now.
        """
        with self._writing as link:
            own = self._own
            if link.shared is None or own is None or not self._takes_more(own):
                return None
            link.accept(own.fileno())
            return link

    def end_round(self, message: memoryview) -> None:
        """End writing by compiled code.

        Args:
            message: the last message, possibly written in part.
        """
        rest = self._writing.take_rest()
        if rest:
            self._rest = bytes(message[-rest:])
            self._writing.refuse()
            self._writing.release()
            self.loop.call_soon_threadsafe(self.send_data)

    def send_now(self, data: bytes) -> bool:
        """Write a binary message immediately. Call it from the other thread.

        Returns:
            False if nothing was written: the connection is encrypted, closing, or has queued data.
        """
        with self._writing:
            own = self._own
            if own is None or not self._takes_more(own):
                return False
            message = binary_message(data)
            try:
                written = own.send(message, _NOW)
            except OSError:
                return False  # full or lost: the event loop handles it
            self._rest = message[written:]
        if self._rest:
            self.loop.call_soon_threadsafe(self.send_data)
        return True


def binary_message(data: bytes) -> bytes:
    """Return a client's WebSocket message (RFC 6455, 5.2), built faster than by `websockets`."""
    size = len(data)
    if size < _TWO_BYTES:
        head = bytes((_BINARY, _MASKED | size))
    elif size < 1 << 16:
        head = struct.pack("!BBH", _BINARY, _MASKED | _TWO_BYTES, size)
    else:
        head = struct.pack("!BBQ", _BINARY, _MASKED | _EIGHT_BYTES, size)
    mask = os.urandom(4)
    return b"".join((head, mask, apply_mask(data, mask)))


class Handed(NamedTuple):
    """A frame handed to the event loop.

    Attributes:
        target: the frame's target, as of that frame.
        frame: frame.
        sent: True if it was sent.
    """

    target: Target
    frame: SampledFrame
    sent: bool


class DirectSender:
    """Sends frames from the sampling thread, or hands them to the event loop.

    Attributes:
        held_bytes: size of frames that the event loop has not taken over.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handed: list[Handed] = []
        self._link: SharedConnection | None = None
        self._sent: dict[str, tuple[Target, int]] = {}
        """Fully sent targets by ID: the target as the backend knows it, and the last frame number.
        """
        self._round: tuple[Target, Collect, SharedConnection] | None = None
        """Target of the current compiled round, the source of its frames, and the connection."""
        self.held_bytes = 0

    def add(self, target: Target, frame: SampledFrame) -> bool:
        """Send a frame if it is next. Call it in the sampling thread.

        Returns:
            True if the event loop has to take over frames.
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
            True if the event loop has to take over frames.
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
        """Take over frames that compiled code has sent."""
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
        """Return handed-over frames in order. Call it in the event loop."""
        with self._lock:
            self._collect()
            handed, self._handed = self._handed, []
            self.held_bytes = 0
        return handed

    def allow(
        self, link: SharedConnection, reached: Callable[[], Mapping[str, tuple[Target, int]]]
    ) -> None:
        """Allow direct sending, unless a frame awaits the event loop. Call it in the event loop.

        Args:
            link: connection.
            reached: returns fully sent targets by ID: the target as the backend knows it, and the
                last frame number.
        """
        with self._lock:
            self._collect()
            if not self._handed:
                self._link, self._sent = link, dict(reached())

    def forbid(self) -> None:
        """Forbid direct sending. Call it in the event loop."""
        with self._lock:
            self._link = None
            self._sent.clear()
