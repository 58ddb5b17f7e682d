"""A WebSocket connection that a second thread may write messages to, beside the event loop's."""

import asyncio
import os
import socket
import struct

from websockets.asyncio.client import ClientConnection
from websockets.protocol import State

from tidscope_collector.compiled.link import Link

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
