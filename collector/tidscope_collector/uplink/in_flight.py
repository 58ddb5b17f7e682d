"""Sent and unconfirmed frames; identifies a frame that the backend refused. No I/O.

A backend closes the connection on a refused message without naming it. If only one message was in
flight, it is that one. After a refusal fewer frames are sent at a time, finally one by one, until
all suspects are confirmed or the refused one is found. No frame is dropped on a guess.
"""

import asyncio
from collections import deque
from collections.abc import Mapping

NARROWING = 8
"""Factor by which the window shrinks after each refusal."""
MAX_MESSAGES = 100_000
"""Maximum remembered messages; the oldest are evicted if the backend confirms nothing."""

Numbered = tuple[str, int]
"""A target ID and a frame number."""


class InFlight:
    """Unconfirmed messages of this connection, and suspects of earlier ones.

    The backend handles messages in order: everything sent before a confirmed frame has arrived.
    """

    def __init__(self) -> None:
        self._sent: deque[Numbered | None] = deque()
        self._frames = 0
        self._suspects: set[Numbered] = set()
        self._window: int | None = None
        self._changed = asyncio.Event()

    def connected(self, resume: Mapping[str, int]) -> None:
        """Start a connection; `resume` has the backend's last frame by target."""
        self._sent.clear()
        self._frames = 0
        self._settle(resume)

    def add(self, target: str, seq: int) -> None:
        """Record a sent frame."""
        if len(self._sent) == MAX_MESSAGES:
            self._frames -= self._sent.popleft() is not None
        self._sent.append((target, seq))
        self._frames += 1

    def add_text(self) -> None:
        """Record a sent message that is no frame."""
        if not self._sent or self._sent[-1] is not None:
            self._sent.append(None)

    def confirm(self, received: Mapping[str, int]) -> None:
        """Record the backend's last frames by target."""
        confirmed = [
            place
            for place, one in enumerate(self._sent)
            if one is not None and one[1] <= received.get(one[0], 0)
        ]
        for _ in range(confirmed[-1] + 1 if confirmed else 0):
            self._frames -= self._sent.popleft() is not None
        self._settle(received)

    def forget(self, target: str) -> None:
        """Remove an ended target."""
        self._suspects = {one for one in self._suspects if one[0] != target}
        self._settle({})

    @property
    def is_unlimited(self) -> bool:
        """True if frames may be sent without a window."""
        return self._window is None

    async def room(self) -> None:
        """Wait until the window allows another frame."""
        while self._window is not None and self._frames >= self._window:
            self._changed.clear()
            await self._changed.wait()

    def refused(self) -> Numbered | None:
        """Record that the connection was closed because of a message.

        Returns:
            The refused frame; None if it is not certain yet, or was no frame.
        """
        frames = [one for one in self._sent if one is not None]
        if len(self._sent) == 1 and frames:
            self._suspects.clear()
            self._settle({})
            return frames[0]
        if frames:
            self._suspects = set(frames)
            self._window = max(1, len(frames) // NARROWING)
        return None

    def _settle(self, received: Mapping[str, int]) -> None:
        """Remove arrived suspects; without suspects the window is lifted."""
        self._suspects = {one for one in self._suspects if one[1] > received.get(one[0], 0)}
        if not self._suspects:
            self._window = None
        self._changed.set()
