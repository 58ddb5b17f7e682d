"""Recent frames of each target for new subscribers, bounded over all targets."""

from bisect import bisect_right
from collections.abc import Callable
from operator import attrgetter

from tidscope_wire.frame import FrameError

from tidscope_backend.stream.frames import StoredFrame, merge, parse_frame

BASELINE_SHARE = 4
_by_first_seq = attrgetter("first_seq")


class History:
    """Frames in order, starting with a key frame. Bounded in bytes and in time.

    The baseline (counters at attach) stays when the frames around it are evicted, so that a later
    subscriber still has totals since attach. A baseline larger than a quarter of the bound is
    evicted too.

    Beyond a bound, the oldest key-frame group is evicted. If one group alone exceeds the bound, its
    older half is coalesced instead, so that a reader still finds a start.

    Args:
        max_bytes: bound on the frames' bytes.
        max_age_ns: bound on the time between the newest frame and the oldest group's last one.

    Attributes:
        bytes: bytes of the kept frames and the baseline.
        added: number of frames added.
        coalesced: number of frames merged into a later one.
        dropped: number of frames evicted or not kept. Each added frame is kept (`len`), coalesced
            or dropped.
    """

    def __init__(self, max_bytes: int, max_age_ns: int) -> None:
        self._max_bytes = max_bytes
        self._max_age_ns = max_age_ns
        self._frames: list[StoredFrame] = []
        self._baseline: StoredFrame | None = None
        self.bytes = 0
        self.added = 0
        self.coalesced = 0
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def frames(self) -> tuple[StoredFrame, ...]:
        """Kept frames, in order."""
        return tuple(self._frames)

    @property
    def earlier_baseline(self) -> StoredFrame | None:
        """The baseline if it precedes the kept frames, else None."""
        baseline = self._baseline
        if baseline is None or (self._frames and self._frames[0].first_seq <= baseline.seq):
            return None
        return baseline

    @property
    def last_seq(self) -> int:
        """Number of the newest frame, or 0 if empty."""
        return self._frames[-1].seq if self._frames else 0

    @property
    def last_time_ns(self) -> int:
        """Time of the newest frame, in nanoseconds since attach, or 0 if empty."""
        return self._frames[-1].time_ns if self._frames else 0

    def add(self, frame: StoredFrame) -> None:
        """Append the next frame; frames before the first key frame are dropped."""
        self.added += 1
        if not self._frames and not frame.key:
            self.dropped += 1
            return
        self._frames.append(frame)
        self.bytes += len(frame.data)
        if frame.baseline and len(frame.data) * BASELINE_SHARE <= self._max_bytes:
            self._baseline = frame
        while self._too_old():
            self._drop(self._second_key())
        while self.bytes > self._max_bytes and self.shrink():
            pass

    def after(self, seq: int) -> StoredFrame | None:
        """Return the oldest frame that covers only numbers after `seq`."""
        index = bisect_right(self._frames, seq, key=_by_first_seq)
        return self._frames[index] if index < len(self._frames) else None

    def holes(self, after_seq: int) -> list[tuple[int, int]]:
        """Return the first and last missing number of each hole after `after_seq`."""
        found, last = list[tuple[int, int]](), after_seq
        for frame in self._frames:
            if frame.seq <= after_seq:
                continue
            if frame.first_seq > last + 1:
                found.append((last + 1, frame.first_seq - 1))
            last = frame.seq
        return found

    def start(self, after_seq: int | None) -> int:
        """Return the frame number at which a reader starts.

        Args:
            after_seq: last frame the reader has, or None.

        Returns:
            Argument for `after`. It is `after_seq` if the following frames are kept. Otherwise it
            precedes the oldest later key frame, so that the reader restarts there.
        """
        if not self._frames:
            return after_seq or 0
        if after_seq is None:
            return self._frames[0].first_seq - 1
        following = self.after(after_seq)
        if following is None or following.first_seq == after_seq + 1:
            return after_seq
        for frame in self._frames:
            if frame.key and frame.first_seq > after_seq:
                return frame.first_seq - 1
        return after_seq

    def shrink(self) -> bool:
        """Evict the oldest part. Return False if only the newest frames remain."""
        second = self._second_key()
        groups_behind = sum(frame.key for frame in self._frames[second:]) if second else 0
        if groups_behind > 1 or second == 1:
            self._drop(second)
            return True
        return self._coalesce((second or len(self._frames)) // 2 + 1)

    def clear(self) -> None:
        """Drop all frames."""
        self.dropped += len(self._frames)
        self._frames.clear()
        self._baseline = None
        self.bytes = 0

    def _too_old(self) -> bool:
        second = self._second_key()
        if not second:
            return False
        return self.last_time_ns - self._frames[second - 1].time_ns > self._max_age_ns

    def _second_key(self) -> int:
        """Return the index of the second group, or 0 if there is only one."""
        return next((i for i, frame in enumerate(self._frames) if i and frame.key), 0)

    def _drop(self, count: int) -> None:
        self.dropped += count
        gone = [frame for frame in self._frames[:count] if frame is not self._baseline]
        self.bytes -= sum(len(frame.data) for frame in gone)
        del self._frames[:count]

    def _coalesce(self, count: int) -> bool:
        # The baseline, which holds the counters at attach, is kept.
        first = int(self._frames[0] is self._baseline)
        if count < first + 2 or count >= len(self._frames):
            return False
        oldest = self._frames[first:count]
        try:
            merged = parse_frame(
                merge([frame.data for frame in oldest], oldest[0].fields), oldest[-1].fields
            )
        except FrameError:
            # The group cannot be decoded by any reader: restart at the next key frame.
            self.clear()
            return False
        self._frames[first:count] = [merged]
        self.coalesced += len(oldest) - 1
        before = sum(len(frame.data) for frame in oldest)
        self.bytes += len(merged.data) - before
        return len(merged.data) < before


class HistoryStore:
    """One history per target, with a bound over all of them.

    Beyond the bound, the history of the longest-silent target is evicted first, if silent for a
    minute. Otherwise the largest history shrinks.

    Args:
        max_bytes: bound of one history.
        max_total_bytes: bound of all histories together.
        max_age_ns: maximum age of one history.
        clock: seconds, monotonic.
    """

    SILENT_SECONDS = 60

    def __init__(
        self, max_bytes: int, max_total_bytes: int, max_age_ns: int, clock: Callable[[], float]
    ) -> None:
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        self._max_age_ns = max_age_ns
        self._clock = clock
        self._histories: dict[str, History] = {}
        self._fed: dict[str, float] = {}
        self._gone_coalesced = 0
        self._gone_dropped = 0

    @property
    def coalesced(self) -> int:
        """Frames merged into later ones, including those of removed targets."""
        return self._gone_coalesced + sum(one.coalesced for one in self._histories.values())

    @property
    def dropped(self) -> int:
        """Frames dropped from the histories, including those of removed targets."""
        return self._gone_dropped + sum(one.dropped for one in self._histories.values())

    @property
    def bytes(self) -> int:
        """Bytes of all kept frames."""
        return sum(history.bytes for history in self._histories.values())

    def get(self, target: str) -> History:
        """Return the history of a target; an unstored empty one if the target is unknown."""
        return self._histories.get(target) or History(0, 0)

    def add(self, frame: StoredFrame) -> None:
        """Add a frame."""
        history = self._histories.get(frame.target)
        if history is None:
            history = self._histories[frame.target] = History(self._max_bytes, self._max_age_ns)
        self._fed[frame.target] = self._clock()
        history.add(frame)
        while self.bytes > self._max_total_bytes and self._give_way():
            pass

    def remove(self, target: str) -> None:
        """Remove a target's frames."""
        history = self._histories.pop(target, None)
        if history is not None:
            history.clear()
            self._gone_coalesced += history.coalesced
            self._gone_dropped += history.dropped
        self._fed.pop(target, None)

    def _give_way(self) -> bool:
        kept = [target for target, history in self._histories.items() if history.bytes]
        silent = min(kept, key=lambda target: self._fed[target])
        if self._clock() - self._fed[silent] > self.SILENT_SECONDS and len(kept) > 1:
            if not self._histories[silent].shrink():
                self._histories[silent].clear()
            return True
        largest = max(kept, key=lambda target: self._histories[target].bytes)
        return self._histories[largest].shrink()
