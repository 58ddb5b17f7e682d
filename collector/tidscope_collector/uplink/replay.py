"""Frames kept for a backend that is away or comes back; bounded, and its losses are known."""

from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kept:
    """A frame and its number."""

    seq: int
    key: bool
    frame: bytes


@dataclass
class Stream:
    """Kept frames of one target, starting with a key frame."""

    frames: deque[Kept] = field(default_factory=deque)
    size: int = 0
    last_seq: int = 0


class Replay:
    """Kept frames of all targets.

    Args:
        most_bytes: bound on all of them together.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._streams: dict[str, Stream] = {}
        self.size = 0

    def add(self, target: str, seq: int, frame: bytes, *, key: bool) -> None:
        """Keep a frame; without room the largest stream loses its oldest key-frame groups."""
        stream = self._streams.setdefault(target, Stream())
        stream.frames.append(Kept(seq, key, frame))
        stream.last_seq = seq
        stream.size += len(frame)
        self.size += len(frame)
        while self.size > self._most:
            largest = max(self._streams.values(), key=lambda one: one.size)
            self._drop_group(largest)

    def _drop_group(self, stream: Stream) -> None:
        dropped = False
        while stream.frames and not (dropped and stream.frames[0].key):
            gone = stream.frames.popleft()
            stream.size -= len(gone.frame)
            self.size -= len(gone.frame)
            dropped = True

    def after(self, target: str, seq: int) -> Kept | None:
        """The first kept frame behind `seq`; a gap between the two was lost."""
        stream = self._streams.get(target)
        if stream is None or not stream.frames or stream.last_seq <= seq:
            return None
        first = stream.frames[0].seq
        return stream.frames[max(0, seq + 1 - first)]

    def last_seq(self, target: str) -> int:
        """Number of the newest frame of a target, 0 if it has none."""
        stream = self._streams.get(target)
        return stream.last_seq if stream else 0

    def targets(self) -> list[str]:
        """Targets with kept frames."""
        return list(self._streams)

    def forget(self, target: str) -> None:
        """Keep nothing of a target any more."""
        stream = self._streams.pop(target, None)
        if stream:
            self.size -= stream.size
