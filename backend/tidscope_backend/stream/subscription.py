"""One subscriber's stream of one target: kept frames first, then new ones, in exact order."""

from collections import deque
from typing import NamedTuple

from tidscope_wire.frame import FrameError

from tidscope_backend.stream.frames import StoredFrame, merge, parse_frame
from tidscope_backend.stream.history import History


class Bounds(NamedTuple):
    """Bounds on the frames queued per subscriber and target.

    Attributes:
        frames: maximum queued frames before coalescing.
        bytes: maximum queued bytes before coalescing.
        merged_bytes: maximum size of a coalesced frame; beyond it frames are dropped and counted.
    """

    frames: int
    bytes: int
    merged_bytes: int


MAX_LOST = 64
"""Maximum queued losses per subscriber; later ones are merged into the last."""
_SLOW = "the page was slower than the kept past allows"
_NEVER = "they never reached the backend"
_WAITS = "the page waits for a key frame"


class _Queued(NamedTuple):
    """A queued frame, and the number of received frames that it covers."""

    frame: StoredFrame
    numbers: int


class Lost(NamedTuple):
    """Frames that the subscriber will not receive in any form."""

    from_seq: int
    to_seq: int
    reason: str


class Subscription:
    """A pure queue: frames are offered at one end and taken at the other.

    Frames kept at the start are read from the history at the subscriber's pace and take no extra
    memory. Newer frames wait in a bounded queue, which is coalesced when full.

    Args:
        target: target ID.
        history: kept frames of the target.
        after_seq: last frame that the subscriber has, or None.
        bounds: bounds of the queue.

    Attributes:
        delivered: number of frames delivered, excluding the baseline.
        coalesced: number of frames delivered as part of a later one.
        dropped: number of frames never delivered. Each kept or queued frame ends up delivered,
            coalesced or dropped.
    """

    def __init__(
        self, target: str, history: History, after_seq: int | None, bounds: Bounds
    ) -> None:
        self.target = target
        self.delivered = 0
        self.coalesced = 0
        self.dropped = 0
        self._history = history
        self._bounds = bounds
        self._cursor = history.start(after_seq)
        self._kept_until = max(history.last_seq, self._cursor)
        self._queued_until = self._kept_until
        self._holes = history.holes(self._cursor)
        self._queue: deque[_Queued] = deque()
        self._queue_bytes = 0
        self._merged_bytes = 0
        self._started = after_seq is not None or len(history) > 0
        # A delta frame cannot be decoded without the columns of an earlier key frame.
        self._knows_columns = after_seq is not None
        self._gave_up = False
        self._lost: deque[Lost] = deque()
        self._baseline = history.earlier_baseline if after_seq is None else None

    @property
    def waiting(self) -> int:
        """Frames in the queue."""
        return len(self._queue)

    @property
    def merged(self) -> int:
        """Coalesced frames in the queue."""
        return sum(one.numbers - 1 for one in self._queue)

    def enqueue(self, frame: StoredFrame) -> None:
        """Queue the newest frame of the target; coalesce if the queue is full."""
        if frame.seq <= self._queued_until:
            return
        numbers = frame.seq - max(frame.first_seq, self._queued_until + 1) + 1
        if not (self._started or frame.key):
            if self._gave_up:
                self._count_lost(frame.seq - numbers + 1, frame.seq, numbers, _WAITS)
                self._queued_until = frame.seq
            return
        self._started = True
        self._queue.append(_Queued(frame, numbers))
        self._queue_bytes += len(frame.data)
        self._queued_until = frame.seq
        if (
            len(self._queue) > self._bounds.frames
            or self._queue_bytes - self._merged_bytes > self._bounds.bytes
        ):
            self._coalesce()

    def next_frame(self) -> StoredFrame | None:
        """Return the next frame for the subscriber, or None; the baseline precedes the history."""
        if self._baseline is not None:
            baseline, self._baseline = self._baseline, None
            self._knows_columns = True
            return baseline
        while self._cursor < self._kept_until:
            frame = self._history.after(self._cursor)
            if frame is None or frame.seq > self._kept_until:
                self._skip(self._kept_until)
            else:
                if frame.first_seq > self._cursor + 1:
                    self._skip(frame.first_seq - 1)
                first = self._cursor + 1
                # Frames on both sides of a hole may have been merged meanwhile.
                self._deliver(frame, frame.seq - first + 1 - self._never(first, frame.seq))
                return frame
        while self._queue:
            frame, numbers = self._queue.popleft()
            self._queue_bytes -= len(frame.data)
            self._merged_bytes = 0
            if self._knows_columns or frame.key:
                self._deliver(frame, numbers)
                return frame
            # The key frame was evicted before the subscriber read it.
            self._count_lost(frame.seq - numbers + 1, frame.seq, numbers, _WAITS)
            self._cursor = frame.seq
            self._started, self._gave_up = bool(self._queue), True
        return None

    def next_loss(self) -> Lost | None:
        """Return the next loss to report to the subscriber, or None."""
        return self._lost.popleft() if self._lost else None

    def clip_lost(self, from_seq: int, to_seq: int) -> tuple[int, int] | None:
        """Return the part of an upstream loss that the subscriber has not received before."""
        if not (self._started or self._gave_up):
            return None
        first = max(from_seq, self._queued_until + 1)
        return (first, to_seq) if first <= to_seq else None

    def _deliver(self, frame: StoredFrame, numbers: int) -> None:
        self._knows_columns = True
        self._cursor = frame.seq
        self.delivered += 1
        self.coalesced += numbers - 1

    def _skip(self, to_seq: int) -> None:
        """Skip numbers of the kept past that were evicted or never arrived."""
        first = self._cursor + 1
        numbers = to_seq - first + 1 - self._never(first, to_seq)
        self._count_lost(first, to_seq, numbers, _SLOW if numbers else _NEVER)
        self._cursor = to_seq

    def _never(self, first: int, last: int) -> int:
        """Return how many of these past numbers never reached the backend."""
        return sum(max(0, min(last, end) - max(first, start) + 1) for start, end in self._holes)

    def _count_lost(self, from_seq: int, to_seq: int, numbers: int, reason: str) -> None:
        self.dropped += numbers
        last = self._lost[-1] if self._lost else None
        if last is not None and (reason == _WAITS or len(self._lost) >= MAX_LOST):
            # Merged into one loss: the subscriber has to wait for the following frames in any case.
            self._lost[-1] = last._replace(to_seq=to_seq)
        else:
            self._lost.append(Lost(from_seq, to_seq, reason))

    def _coalesce(self) -> None:
        """Coalesce queued frames except a baseline, whose counters at attach would be lost."""
        queued = list(self._queue)
        kept = [queued.pop(0)] if queued[0].frame.baseline else []
        if not queued:
            return
        numbers = sum(one.numbers for one in queued)
        first, last = queued[0].frame, queued[-1].frame
        try:
            merged = parse_frame(
                merge([one.frame.data for one in queued], first.fields), last.fields
            )
        except FrameError as error:
            self._refill(kept)
            self._give_up(first, last, numbers, f"frames could not be coalesced: {error}")
            return
        if len(merged.data) > self._bounds.merged_bytes:
            self._refill(kept)
            self._give_up(first, last, numbers, "the page was too far behind")
            return
        self._refill([*kept, _Queued(merged, numbers)])

    def _refill(self, queued: list[_Queued]) -> None:
        self._queue = deque(queued)
        self._queue_bytes = self._merged_bytes = sum(len(one.frame.data) for one in queued)

    def _give_up(self, first: StoredFrame, last: StoredFrame, numbers: int, reason: str) -> None:
        """Drop the queue; the subscriber restarts at the next key frame."""
        self._count_lost(first.first_seq, last.seq, numbers, reason)
        self._started, self._gave_up = False, True
