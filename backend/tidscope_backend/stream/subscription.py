"""One page's reading of one target: first what is kept, then what comes, in exact order."""

from collections import deque
from typing import NamedTuple

from tidscope_wire.frame import FrameError

from tidscope_backend.stream.history import History
from tidscope_backend.stream.merge import merge
from tidscope_backend.stream.stored_frame import StoredFrame, parse_frame


class Bounds(NamedTuple):
    """How much may wait for a page, a target.

    Attributes:
        frames: frames that wait before they are coalesced.
        bytes: the same in bytes.
        merged_bytes: largest coalesced frame; beyond it frames are dropped, and counted.
    """

    frames: int
    bytes: int
    merged_bytes: int


class Lost(NamedTuple):
    """Frames that this page will not get in any form."""

    from_seq: int
    to_seq: int
    reason: str


class Subscription:
    """Pure: frames are offered at one end and taken at the other.

    Frames that are kept when it begins are read from the history one by one, as fast as the page
    takes them, and hold no memory of their own. Newer ones wait in a bounded queue, which is
    coalesced when it is full.

    Args:
        target: whose frames.
        history: what is kept of it.
        after_seq: last frame that the page has; None if it has none.
        bounds: of the queue.
    """

    def __init__(
        self, target: str, history: History, after_seq: int | None, bounds: Bounds
    ) -> None:
        self.target = target
        self.coalesced = 0
        self.dropped = 0
        self._history = history
        self._bounds = bounds
        self._cursor = history.start(after_seq)
        self._kept_until = max(history.last_seq, self._cursor)
        self._queued_until = self._kept_until
        self._queue: deque[StoredFrame] = deque()
        self._queue_bytes = 0
        self._merged_bytes = 0
        # A page without a key frame could not make sense of a delta.
        self._started = after_seq is not None or len(history) > 0
        self._lost: list[Lost] = []
        self._baseline = history.earlier_baseline if after_seq is None else None

    @property
    def waiting(self) -> int:
        """Frames in the queue."""
        return len(self._queue)

    def enqueue(self, frame: StoredFrame) -> None:
        """Queue the newest frame of the target; coalesce if the queue is full."""
        if frame.seq <= self._queued_until or not (self._started or frame.key):
            return
        self._started = True
        self._queue.append(frame)
        self._queue_bytes += len(frame.data)
        self._queued_until = frame.seq
        if (
            len(self._queue) > self._bounds.frames
            or self._queue_bytes - self._merged_bytes > self._bounds.bytes
        ):
            self._coalesce()

    def next_frame(self) -> StoredFrame | None:
        """The next frame for the page, if there is one; the baseline comes before the history."""
        if self._baseline is not None:
            baseline, self._baseline = self._baseline, None
            return baseline
        while self._cursor < self._kept_until:
            frame = self._history.after(self._cursor)
            if frame is None or frame.seq > self._kept_until:
                self._skip(self._kept_until)
            else:
                if frame.first_seq > self._cursor + 1:
                    self._skip(frame.first_seq - 1)
                self._cursor = frame.seq
                return frame
        if not self._queue:
            return None
        frame = self._queue.popleft()
        self._queue_bytes -= len(frame.data)
        self._merged_bytes = 0
        self._cursor = frame.seq
        return frame

    def next_loss(self) -> Lost | None:
        """The next loss that the page has to be informed of."""
        return self._lost.pop(0) if self._lost else None

    def clip_lost(self, from_seq: int, to_seq: int) -> tuple[int, int] | None:
        """The part of a loss on the way to the backend that this page did not get before."""
        if not self._started:
            return None
        first = max(from_seq, self._queued_until + 1)
        return (first, to_seq) if first <= to_seq else None

    def _skip(self, to_seq: int) -> None:
        self._count_lost(self._cursor + 1, to_seq, "the page was slower than the kept past allows")
        self._cursor = to_seq

    def _count_lost(self, from_seq: int, to_seq: int, reason: str) -> None:
        self.dropped += to_seq - from_seq + 1
        self._lost.append(Lost(from_seq, to_seq, reason))

    def _coalesce(self) -> None:
        """Merge what waits; all but a baseline, which would lose the counters at attach."""
        frames = list(self._queue)
        kept = [frames.pop(0)] if frames[0].baseline else []
        if not frames:
            return
        first, last = frames[0], frames[-1]
        try:
            merged = parse_frame(merge([frame.data for frame in frames]))
        except FrameError as error:
            self._refill(kept)
            self._give_up(first.first_seq, last.seq, f"frames could not be coalesced: {error}")
            return
        if len(merged.data) > self._bounds.merged_bytes:
            self._refill(kept)
            self._give_up(first.first_seq, last.seq, "the page was too far behind")
            return
        self.coalesced += len(frames) - 1
        self._refill([*kept, merged])

    def _refill(self, frames: list[StoredFrame]) -> None:
        self._queue = deque(frames)
        self._queue_bytes = self._merged_bytes = sum(len(frame.data) for frame in frames)

    def _give_up(self, from_seq: int, to_seq: int, reason: str) -> None:
        self._count_lost(from_seq, to_seq, reason)
        self._started = False
