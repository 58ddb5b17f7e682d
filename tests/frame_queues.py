"""Frames of a native sampler as a test takes them, and those that a test hands to an uplink."""

import os
import select
import time
from collections import deque
from typing import Protocol


class Sampler(Protocol):
    """Gives frames; see `tidscope_sampler.native.Sampler`."""

    def frames_fileno(self) -> int: ...

    def take_frames(self) -> list[tuple[str, int, bytes, bool, bool]]: ...


class TakenFrames:
    """Data of frames in order; for one thread.

    Args:
        sampler: gives the frames.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._waiting: deque[bytes] = deque()

    def _take(self) -> None:
        self._waiting.extend(frame[2] for frame in self._sampler.take_frames())

    def empty(self) -> bool:
        """Return True if no frame waits."""
        self._take()
        return not self._waiting

    def get(self, timeout: float) -> bytes:
        """Return the next frame; TimeoutError after so many seconds."""
        until = time.monotonic() + timeout
        while self.empty():
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no frame for {timeout} s")
            select.select([self._sampler.frames_fileno()], [], [], left)
        return self._waiting.popleft()


class GivenFrames:
    """A `FrameQueue` that a test fills.

    Attributes:
        stalled: True if the uplink wants no more frames.
    """

    def __init__(self) -> None:
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._frames: list[tuple[str, int, bytes, bool, bool]] = []
        self.stalled = False

    def add(self, target: str, seq: int, data: bytes, *, key: bool, baseline: bool = False) -> None:
        """Hand a frame over."""
        self._frames.append((target, seq, data, key, baseline))
        os.eventfd_write(self._wake, 1)

    def frames_fileno(self) -> int:
        """See `FrameQueue`."""
        return self._wake

    def take_frames(self) -> list[tuple[str, int, bytes, bool, bool]]:
        """See `FrameQueue`."""
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            pass
        frames, self._frames = self._frames, []
        return frames

    def set_stalled(self, stalled: bool) -> None:
        """See `FrameQueue`."""
        self.stalled = stalled

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._wake)
