"""Frames kept for a backend that is away or comes back; bounded, and its losses are known."""

from collections import deque
from dataclasses import dataclass, field

from tidscope_collector.sampling.sampled_frame import SampledFrame

BASELINE_SHARE = 4
"""A baseline larger than this fraction of the bound is not pinned."""


@dataclass
class Stream:
    """Kept frames of one target, contiguous up to the newest one.

    They start with a key frame, unless the bound was so tight that even the newest group had to
    go, or the stream itself began with another one.

    Attributes:
        baseline: the target's baseline frame, pinned when it left `frames`: a backend that starts
            later needs it for totals since attach.
    """

    frames: deque[SampledFrame] = field(default_factory=deque)
    baseline: SampledFrame | None = None
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
        most_bytes: bound on all of them together, baselines included.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._streams: dict[str, Stream] = {}
        self.size = 0

    def add(self, target: str, frame: SampledFrame) -> None:
        """Keep a frame; without room the oldest key-frame groups of the largest stream go.

        Pinned baselines go where no stream has an older group than its newest, and a stream's
        newest group goes last.
        """
        stream = self._streams.setdefault(target, Stream())
        stream.frames.append(frame)
        stream.last_seq = frame.seq
        stream.keys += frame.key
        self._resize(stream, len(frame.data))
        while self.size > self._most:
            self._make_room()

    def _make_room(self) -> None:
        streams = self._streams.values()
        with_old = [one for one in streams if one.has_old_group]
        pinned = [one for one in streams if one.baseline is not None]
        if with_old or not pinned:
            self._drop_group(max(with_old or streams, key=lambda one: one.size))
        else:
            self._unpin(max(pinned, key=lambda one: one.size))

    def _drop_group(self, stream: Stream) -> None:
        dropped = False
        while stream.frames and not (dropped and stream.frames[0].key):
            gone = stream.frames.popleft()
            stream.keys -= gone.key
            dropped = True
            if gone.baseline and len(gone.data) * BASELINE_SHARE <= self._most:
                stream.baseline = gone
            else:
                self._resize(stream, -len(gone.data))

    def _unpin(self, stream: Stream) -> None:
        gone, stream.baseline = stream.baseline, None
        if gone is not None:
            self._resize(stream, -len(gone.data))

    def _resize(self, stream: Stream, size: int) -> None:
        stream.size += size
        self.size += size

    @property
    def count(self) -> int:
        """How many frames are kept; may be asked from any thread."""
        return sum(
            len(stream.frames) + (stream.baseline is not None)
            for stream in list(self._streams.values())
        )

    def unsent(self, sent: dict[str, int]) -> int:
        """How many are behind the last sent one of their target; may be asked from any thread."""
        return sum(
            min(len(stream.frames), max(0, stream.last_seq - sent.get(target, 0)))
            for target, stream in list(self._streams.items())
        )

    def after(self, target: str, seq: int) -> SampledFrame | None:
        """The first kept frame behind `seq`; a pinned baseline comes before the others."""
        stream = self._streams.get(target)
        if stream is None or stream.last_seq <= seq:
            return None
        if stream.baseline is not None and stream.baseline.seq > seq:
            return stream.baseline
        if not stream.frames:
            return None
        first = stream.frames[0].seq
        return stream.frames[max(0, seq + 1 - first)]

    def lost(self, target: str, seq: int) -> tuple[int, int] | None:
        """First and last of the frames right behind `seq` that are kept no more, if any."""
        stream = self._streams.get(target)
        if stream is None:
            return None
        if stream.baseline is not None and stream.baseline.seq > seq:
            until = stream.baseline.seq - 1
        else:
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
