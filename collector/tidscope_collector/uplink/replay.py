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
    """Kept frames of one target, contiguous up to the newest one.

    They start with a key frame, unless the bound was so tight that even the newest group had to
    go, or the stream itself began with another one.
    """

    frames: deque[Kept] = field(default_factory=deque)
    size: int = 0
    last_seq: int = 0
    keys: int = 0

    @property
    def has_old_group(self) -> bool:
        """Whether a group can go and the newest one stays."""
        return self.keys > 1 or (self.keys == 1 and not self.frames[0].key)


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
        """Keep a frame; without room the oldest key-frame groups of the largest stream go.

        A stream's newest group goes only where no stream has an older one.
        """
        stream = self._streams.setdefault(target, Stream())
        stream.frames.append(Kept(seq, key, frame))
        stream.last_seq = seq
        stream.keys += key
        stream.size += len(frame)
        self.size += len(frame)
        while self.size > self._most:
            streams = [one for one in self._streams.values() if one.has_old_group]
            self._drop_group(max(streams or self._streams.values(), key=lambda one: one.size))

    def _drop_group(self, stream: Stream) -> None:
        dropped = False
        while stream.frames and not (dropped and stream.frames[0].key):
            gone = stream.frames.popleft()
            stream.keys -= gone.key
            stream.size -= len(gone.frame)
            self.size -= len(gone.frame)
            dropped = True

    @property
    def count(self) -> int:
        """How many frames are kept; may be asked from any thread."""
        return sum(len(stream.frames) for stream in list(self._streams.values()))

    def unsent(self, sent: dict[str, int]) -> int:
        """How many are behind the last sent one of their target; may be asked from any thread."""
        return sum(
            min(len(stream.frames), max(0, stream.last_seq - sent.get(target, 0)))
            for target, stream in list(self._streams.items())
        )

    def after(self, target: str, seq: int) -> Kept | None:
        """The first kept frame behind `seq`."""
        stream = self._streams.get(target)
        if stream is None or not stream.frames or stream.last_seq <= seq:
            return None
        first = stream.frames[0].seq
        return stream.frames[max(0, seq + 1 - first)]

    def lost(self, target: str, seq: int) -> tuple[int, int] | None:
        """First and last of the frames right behind `seq` that are kept no more, if any."""
        stream = self._streams.get(target)
        if stream is None:
            return None
        until = stream.frames[0].seq - 1 if stream.frames else stream.last_seq
        return (seq + 1, until) if until > seq else None

    def last_seq(self, target: str) -> int:
        """Number of the newest frame of a target, 0 if it has none."""
        stream = self._streams.get(target)
        return stream.last_seq if stream else 0

    def targets(self) -> list[str]:
        """Targets that had frames and are not forgotten."""
        return list(self._streams)

    def forget(self, target: str) -> None:
        """Keep nothing of a target any more."""
        stream = self._streams.pop(target, None)
        if stream:
            self.size -= stream.size
