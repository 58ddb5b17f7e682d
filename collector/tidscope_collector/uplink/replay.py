"""Frames kept until the backend has them, and longer for one that starts later.

Bounded twice: in what the backend has not confirmed, and in what it has. What is confirmed leaves
first; what leaves before it was confirmed is lost, counted, and reported.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from tidscope_collector.sampling.sampled_frame import SampledFrame

BASELINE_SHARE = 4
"""A baseline larger than this fraction of the bound is not pinned."""


@dataclass
class Stream:
    """Kept frames of one target, contiguous up to the newest one.

    They start with a key frame, unless the bound was so tight that even the newest group had to
    go, or the stream itself began with another one.

    Attributes:
        frames: oldest first; the confirmed ones come before the others.
        confirmed: how many of them the backend has.
        baseline: the target's baseline frame, pinned when it left `frames`: a backend that starts
            later needs it for totals since attach.
        held_bytes: of the confirmed frames, and of the baseline.
        waiting_bytes: of the others.
        sent: number of the last frame sent, or reported lost, on the present connection.
        dropped: frames that left and that no backend has received.
        flying: those that left after they were sent and before they were confirmed, as ranges of
            their numbers, oldest first: the backend may yet confirm them.
    """

    frames: deque[SampledFrame] = field(default_factory=deque)
    confirmed: int = 0
    baseline: SampledFrame | None = None
    held_bytes: int = 0
    waiting_bytes: int = 0
    last_seq: int = 0
    keys: int = 0
    sent: int = 0
    dropped: int = 0
    flying: deque[tuple[int, int]] = field(default_factory=deque)

    @property
    def has_old_group(self) -> bool:
        """Whether a group can go and the newest one stays."""
        return self.keys > 1 or (self.keys == 1 and not self.frames[0].key)

    @property
    def has_old_confirmed_group(self) -> bool:
        """Whether a group can go that is confirmed, and the newest one stays."""
        if not self.has_old_group:
            return False
        end = next(place for place, one in enumerate(self.frames) if place and one.key)
        return end <= self.confirmed


class Replay:
    """Kept frames of all targets.

    Args:
        most_confirmed: bound on the bytes of frames that the backend has, baselines included.
        most_waiting: bound on the bytes of the others.
    """

    def __init__(self, most_confirmed: int, most_waiting: int) -> None:
        self._most_confirmed, self._most_waiting = most_confirmed, most_waiting
        self._streams: dict[str, Stream] = {}
        self._held_bytes = 0
        self.waiting_bytes = 0

    @property
    def size(self) -> int:
        """Bytes of all that is kept."""
        return self._held_bytes + self.waiting_bytes

    def fill(self, more: int = 0) -> float:
        """How much of the bound is taken by frames that the backend has not confirmed, from 0.

        Args:
            more: bytes of frames that are still to be added.
        """
        return (self.waiting_bytes + more) / self._most_waiting if self._most_waiting else 1.0

    def add(self, target: str, frame: SampledFrame) -> None:
        """Keep a frame; without room the oldest key-frame groups of the largest stream go.

        A stream's newest group goes last.
        """
        stream = self._streams.setdefault(target, Stream())
        stream.frames.append(frame)
        stream.last_seq = frame.seq
        stream.keys += frame.key
        self._wait(stream, len(frame.data))
        while self.waiting_bytes > self._most_waiting:
            waiting = [one for one in self._streams.values() if one.waiting_bytes]
            with_old = [one for one in waiting if one.has_old_group]
            self._drop_group(max(with_old or waiting, key=lambda one: one.waiting_bytes))
        self._trim_confirmed()

    def connected(self, resume: Mapping[str, int]) -> None:
        """A connection begins.

        Args:
            resume: by target the last frame that the backend has; it may be another backend, with
                less than was confirmed before.
        """
        for target, stream in self._streams.items():
            seq = min(resume.get(target, 0), stream.last_seq)
            self.confirm(target, seq)
            stream.sent = seq
            stream.dropped += sum(last - first + 1 for first, last in stream.flying)
            stream.flying.clear()

    def sent(self, target: str) -> int:
        """Number of the last frame sent on this connection; those reported lost count as sent."""
        stream = self._streams.get(target)
        return stream.sent if stream else 0

    def note_sent(self, target: str, seq: int) -> None:
        """The frames of a target up to this one were sent, or reported lost."""
        self._streams[target].sent = seq

    def confirm(self, target: str, seq: int) -> None:
        """The backend has all frames of a target up to this one that were sent."""
        stream = self._streams.get(target)
        if stream is None:
            return
        while stream.flying and seq >= stream.flying[0][0]:
            _, last = stream.flying.popleft()
            if seq < last:
                stream.flying.appendleft((seq + 1, last))
        first = stream.frames[0].seq if stream.frames else stream.last_seq + 1
        count = min(max(0, seq + 1 - first), len(stream.frames))
        low, high = sorted((stream.confirmed, count))
        moved = sum(len(one.data) for one in islice(stream.frames, low, high))
        moved = moved if count > stream.confirmed else -moved
        stream.confirmed = count
        self._hold(stream, moved)
        self._wait(stream, -moved)
        self._trim_confirmed()

    def _trim_confirmed(self) -> None:
        """Pinned baselines go where no stream has a group older than its newest."""
        while self._held_bytes > self._most_confirmed:
            streams = self._streams.values()
            with_old = [one for one in streams if one.has_old_confirmed_group]
            pinned = [one for one in streams if one.baseline is not None]
            if with_old or not pinned:
                confirmed = with_old or [one for one in streams if one.confirmed]
                self._drop_group(max(confirmed, key=lambda one: one.held_bytes), confirmed=True)
            else:
                self._unpin(max(pinned, key=lambda one: one.held_bytes))

    def _drop_group(self, stream: Stream, *, confirmed: bool = False) -> None:
        """Drop the oldest group, or as much of it as is confirmed."""
        dropped = False
        while stream.frames and not (dropped and stream.frames[0].key):
            if confirmed and not stream.confirmed:
                break
            gone = stream.frames.popleft()
            stream.keys -= gone.key
            dropped = True
            was_confirmed = stream.confirmed > 0
            if was_confirmed:
                stream.confirmed -= 1
                self._hold(stream, -len(gone.data))
            else:
                self._wait(stream, -len(gone.data))
            if gone.baseline and len(gone.data) * BASELINE_SHARE <= self._most_confirmed:
                stream.baseline = gone
                self._hold(stream, len(gone.data))
            elif not was_confirmed and gone.seq > stream.sent:
                stream.dropped += 1
            elif not was_confirmed:
                # What was dropped between two ranges is counted already.
                follows = stream.flying and stream.flying[-1][1] == gone.seq - 1
                first = stream.flying.pop()[0] if follows else gone.seq
                stream.flying.append((first, gone.seq))

    def _unpin(self, stream: Stream) -> None:
        gone, stream.baseline = stream.baseline, None
        if gone is not None:
            self._hold(stream, -len(gone.data))
            stream.dropped += gone.seq > stream.sent

    def _hold(self, stream: Stream, size: int) -> None:
        stream.held_bytes += size
        self._held_bytes += size

    def _wait(self, stream: Stream, size: int) -> None:
        stream.waiting_bytes += size
        self.waiting_bytes += size

    @property
    def count(self) -> int:
        """How many frames are kept; may be asked from any thread."""
        return sum(
            len(stream.frames) + (stream.baseline is not None)
            for stream in list(self._streams.values())
        )

    @property
    def unsent(self) -> int:
        """How many are behind the last sent one of their target; may be asked from any thread."""
        return sum(
            min(len(stream.frames), max(0, stream.last_seq - stream.sent))
            for stream in list(self._streams.values())
        )

    def dropped(self, target: str) -> int:
        """Frames of a target that left before they were confirmed; may be asked from any thread."""
        stream = self._streams.get(target)
        return stream.dropped if stream else 0

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
            self._held_bytes -= stream.held_bytes
            self.waiting_bytes -= stream.waiting_bytes
