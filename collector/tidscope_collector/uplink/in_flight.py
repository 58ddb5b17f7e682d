"""Frames sent and not confirmed: which one a backend has refused, known for certain. No I/O.

A backend closes the connection on a message that it refuses, and does not say which one it was.
Where only one message was on its way, it was that one. So after a refusal fewer frames are sent at
a time, at last one by one, until those that were on their way are confirmed or the one is found. No
frame is given up on a guess.
"""

import asyncio
from collections import deque
from collections.abc import Mapping

NARROWING = 8
"""So many times fewer frames at a time after each refusal."""
MAX_MESSAGES = 100_000
"""Messages that are remembered; a backend that confirms nothing is no reason to keep more."""

Numbered = tuple[str, int]
"""A target, and the number of a frame of it."""


class InFlight:
    """Messages of the present connection that nothing confirms yet, and suspects of those before.

    The backend takes messages in one after the other: what went out before a confirmed frame is
    there, too.
    """

    def __init__(self) -> None:
        self._sent: deque[Numbered | None] = deque()
        self._frames = 0
        self._suspects: set[Numbered] = set()
        self._window: int | None = None
        self._changed = asyncio.Event()

    def connected(self, resume: Mapping[str, int]) -> None:
        """A connection begins; `resume` says by target what the backend has."""
        self._sent.clear()
        self._frames = 0
        self._settle(resume)

    def add(self, target: str, seq: int) -> None:
        """A frame goes out."""
        if len(self._sent) == MAX_MESSAGES:
            self._frames -= self._sent.popleft() is not None
        self._sent.append((target, seq))
        self._frames += 1

    def add_text(self) -> None:
        """A message goes out that is no frame."""
        if not self._sent or self._sent[-1] is not None:
            self._sent.append(None)

    def confirm(self, received: Mapping[str, int]) -> None:
        """The backend has the frames up to these."""
        confirmed = [
            place
            for place, one in enumerate(self._sent)
            if one is not None and one[1] <= received.get(one[0], 0)
        ]
        for _ in range(confirmed[-1] + 1 if confirmed else 0):
            self._frames -= self._sent.popleft() is not None
        self._settle(received)

    def forget(self, target: str) -> None:
        """A target is over, and nothing is kept of it."""
        self._suspects = {one for one in self._suspects if one[0] != target}
        self._settle({})

    @property
    def is_unlimited(self) -> bool:
        """Whether frames may go out as they come."""
        return self._window is None

    async def room(self) -> None:
        """Wait until another frame may go out."""
        while self._window is not None and self._frames >= self._window:
            self._changed.clear()
            await self._changed.wait()

    def refused(self) -> Numbered | None:
        """The connection was closed because of a message.

        Returns:
            The frame that it was; None if that is not certain: then it shows on the next
            connection, or it was no frame.
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
        """Strike off what has arrived; without suspects, frames go out as they come again."""
        self._suspects = {one for one in self._suspects if one[1] > received.get(one[0], 0)}
        if not self._suspects:
            self._window = None
        self._changed.set()
