"""Frames go to the connection from the thread that makes them, where nothing waits to be sent.

To wake the event loop for a frame costs several times the CPU of sending it. So the sampling thread
sends a frame itself if it is the next of its target and the event loop has nothing to send before.
In any other case the event loop sends it, as it sends what is repeated. Either way the loop keeps
the frame until the backend confirms it; what went out it takes in when it has to do something, at
the latest when the backend confirms it.
"""

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tidscope_wire.generated.models import Target

from tidscope_collector.compiled.link import Link
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.usual_round import Collect
from tidscope_collector.uplink.shared_connection import SharedConnection

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
