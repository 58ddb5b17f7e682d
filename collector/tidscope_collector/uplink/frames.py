"""The data connection: frames of the native sampler, sent by its own thread.

It signs in as the control connection does, and shows the ticket of that connection's welcome.
"""

import asyncio
import logging
import threading
import time
from copy import copy
from urllib.parse import urlsplit

from tidscope_sampler.native import Link
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import CollectorFrames

from tidscope_collector.sampling.selfwatch import Load
from tidscope_collector.uplink.sign_in import PORTS, UNIX, SignIn

log = logging.getLogger("tidscope.uplink")

REPLAY_BYTES = 12 * 1024 * 1024
"""Maximum size of frames confirmed by the backend, in bytes. They are kept for a backend that
starts later."""
WAITING_BYTES = 96 * 1024 * 1024
"""Maximum size of unconfirmed frames, in bytes. Every frame fits; a typical frame has a few
kilobytes."""
SIGN_IN_S = 20.0
"""Timeout for the proofs of both sides, in seconds."""
FRAMES = "/frames"
"""Path of the data connection, behind that of the control connection."""
UNIX_PATH = "/ws/collector"
CONNECTED = "connected to the backend"
"""Text of the native link."""


class _Session:
    """Signs the link in, in the link's thread.

    Args:
        url: address of the control connection.
        sign_in: sign-in of this connection; None for a Unix socket.
    """

    def __init__(self, url: str, sign_in: SignIn | None) -> None:
        self._url, self._sign_in = url, sign_in
        self.loop: asyncio.AbstractEventLoop | None = None
        """Event loop of the control connection, or None before the first one."""
        self.clock: int | None = None
        """CPU clock of the link's thread, or None before its first connection."""

    def headers(self) -> list[tuple[str, str]]:
        """Return headers of the upgrade request, after verifying the backend's proof."""
        self.clock = time.pthread_getcpuclockid(threading.get_ident())
        if self._sign_in is None or self.loop is None:
            return []
        try:
            asked = asyncio.run_coroutine_threadsafe(self._sign_in.headers(), self.loop)
            return list(asked.result(SIGN_IN_S).items())
        except OSError as error:
            raise ConnectionError(f"no backend at {self._url}: {error}") from None

    def accept(self, proof: str | None) -> None:
        """Check that the program that gave the proof accepted ours. Raises SignInError."""
        if self._sign_in is not None:
            self._sign_in.check(proof)


class FramesLink:
    """Keeps frames and sends them while a control connection stands. Thread-safe.

    Args:
        url: ws:// or wss:// address of /ws/collector, or unix:PATH.
        sign_in: sign-in of the control connection; None for a Unix socket.
        host_id: host that the frames are of.
        most_confirmed: maximum size of confirmed frames, in bytes.
        most_waiting: maximum size of unconfirmed frames, in bytes.
    """

    def __init__(
        self,
        url: str,
        sign_in: SignIn | None,
        host_id: str,
        most_confirmed: int = REPLAY_BYTES,
        most_waiting: int = WAITING_BYTES,
    ) -> None:
        self._host_id = host_id
        self._session = _Session(url, None if sign_in is None else copy(sign_in))
        self._troubled = False
        parts = urlsplit(url)
        address: tuple[str, int | None] = (url.removeprefix(UNIX), None)
        host, path = "localhost", UNIX_PATH
        if not url.startswith(UNIX):
            address = parts.hostname or "", parts.port or PORTS[parts.scheme]
            host, path = parts.netloc, parts.path
        self.native = Link(
            address,
            parts.scheme == "wss",
            host,
            path + FRAMES,
            self._session,
            most_confirmed,
            most_waiting,
        )

    def connect(self, ticket: str) -> None:
        """Connect, and again whenever the connection ends. Call in the control connection's loop.

        Args:
            ticket: ticket in the welcome of the control connection.
        """
        self._session.loop = asyncio.get_running_loop()
        hello = CollectorFrames(protocol=PROTOCOL_VERSION, host=self._host_id, ticket=ticket)
        self.native.connect(hello.model_dump_json())

    def disconnect(self) -> None:
        """End the connection, because the control connection has ended."""
        self.native.disconnect()

    def stop(self) -> None:
        """End the thread. Idempotent."""
        self.native.stop()

    def load(self) -> Load:
        """Return the load, and log what has happened to the connection."""
        text = self.native.notice()
        if text == CONNECTED:
            if self._troubled:
                log.info("frames are sent again")
            self._troubled = False
        elif text is not None:
            self._troubled = True
            log.warning("frames cannot be sent: %s", text)
        load = self.native.load()
        del load["connected"]
        return Load(**load)

    def cpu_ns(self) -> int:
        """Return the CPU time of the thread, in nanoseconds."""
        if self._session.clock is None:
            return 0
        try:
            return time.clock_gettime_ns(self._session.clock)
        except OSError:  # the thread has ended
            return 0
