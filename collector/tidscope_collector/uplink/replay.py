"""Replay buffer: frames kept until confirmed, and longer for a backend that starts later.

Confirmed and unconfirmed frames are bounded separately. Confirmed frames are evicted first; evicted
unconfirmed frames are lost, counted and reported.

A backend closes the connection on a refused message without naming it. If only one message was in
flight, it is that one. After a refusal fewer frames are sent at a time, finally one by one, until
all suspects are confirmed or the refused one is found. No frame is dropped on a guess.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from tidscope_collector.sampling.sampled_frame import SampledFrame

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


BASELINE_SHARE = 4
"""A baseline larger than this fraction of the bound is not pinned."""


@dataclass
class Stream:
    """Kept frames of one target, contiguous up to the newest.

    They start with a key frame, unless the bound evicted part of the newest group, or the stream
    began otherwise.

    Attributes:
        frames: frames, oldest first; confirmed ones precede the others.
        confirmed: number of confirmed frames.
        baseline: the target's baseline frame, pinned on eviction from `frames`: a backend that
            starts later needs it for totals since attach.
        held_bytes: size of confirmed frames and the baseline, in bytes.
        waiting_bytes: size of unconfirmed frames, in bytes.
        sent: number of the last frame sent, or reported lost, on this connection.
        dropped: number of evicted frames that no backend received.
        flying: frames evicted after sending and before confirmation, as ranges of numbers, oldest
            first; the backend may still confirm them.
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
        """True if a group can be evicted and the newest one stays."""
        return self.keys > 1 or (self.keys == 1 and not self.frames[0].key)

    @property
    def has_old_confirmed_group(self) -> bool:
        """True if a confirmed group can be evicted and the newest one stays."""
        if not self.has_old_group:
            return False
        end = next(place for place, one in enumerate(self.frames) if place and one.key)
        return end <= self.confirmed


class Replay:
    """Kept frames of all targets.

    Args:
        most_confirmed: bound on confirmed frames and baselines, in bytes.
        most_waiting: bound on unconfirmed frames, in bytes.
    """

    def __init__(self, most_confirmed: int, most_waiting: int) -> None:
        self._most_confirmed, self._most_waiting = most_confirmed, most_waiting
        self._streams: dict[str, Stream] = {}
        self._held_bytes = 0
        self.waiting_bytes = 0

    @property
    def size(self) -> int:
        """Size of all kept frames, in bytes."""
        return self._held_bytes + self.waiting_bytes

    def fill(self, more: int = 0) -> float:
        """Return the share of the bound used by unconfirmed frames, from 0.

        Args:
            more: size of frames still to be added, in bytes.
        """
        return (self.waiting_bytes + more) / self._most_waiting if self._most_waiting else 1.0

    def add(self, target: str, frame: SampledFrame) -> None:
        """Keep a frame. Without room, evict the oldest key-frame groups of the largest stream.

        A stream's newest group is evicted last.
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
        """Start a connection.

        Args:
            resume: the backend's last frame by target; another backend may have less than was
                confirmed.
        """
        for target, stream in self._streams.items():
            seq = min(resume.get(target, 0), stream.last_seq)
            self.confirm(target, seq)
            stream.sent = seq
            stream.dropped += sum(last - first + 1 for first, last in stream.flying)
            stream.flying.clear()

    def sent(self, target: str) -> int:
        """Return the number of the last frame sent or reported lost on this connection."""
        stream = self._streams.get(target)
        return stream.sent if stream else 0

    def note_sent(self, target: str, seq: int) -> None:
        """Record that frames up to `seq` were sent or reported lost."""
        self._streams[target].sent = seq

    def confirm(self, target: str, seq: int) -> None:
        """Record that the backend has all sent frames up to `seq`."""
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
        """Evict confirmed frames; pinned baselines only if no stream has an older group."""
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
        """Evict the oldest group, or its confirmed part."""
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
                # Frames evicted between two ranges are already counted.
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
        """Number of kept frames. Thread-safe."""
        return sum(
            len(stream.frames) + (stream.baseline is not None)
            for stream in list(self._streams.values())
        )

    @property
    def unsent(self) -> int:
        """Number of frames behind their target's last sent one. Thread-safe."""
        return sum(
            min(len(stream.frames), max(0, stream.last_seq - stream.sent))
            for stream in list(self._streams.values())
        )

    def dropped(self, target: str) -> int:
        """Return the number of a target's frames lost before confirmation. Thread-safe."""
        stream = self._streams.get(target)
        return stream.dropped if stream else 0

    def after(self, target: str, seq: int) -> SampledFrame | None:
        """Return the first kept frame after `seq`, or None; a pinned baseline comes first."""
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
        """Return first and last lost frame directly after `seq`, or None."""
        stream = self._streams.get(target)
        if stream is None:
            return None
        if stream.baseline is not None and stream.baseline.seq > seq:
            until = stream.baseline.seq - 1
        else:
            until = stream.frames[0].seq - 1 if stream.frames else stream.last_seq
        return (seq + 1, until) if until > seq else None

    def last_seq(self, target: str) -> int:
        """Return the number of a target's newest frame, or 0 if it has none."""
        stream = self._streams.get(target)
        return stream.last_seq if stream else 0

    def targets(self) -> list[str]:
        """Return targets that had frames and are not forgotten."""
        return list(self._streams)

    def forget(self, target: str) -> None:
        """Drop all frames of a target."""
        stream = self._streams.pop(target, None)
        if stream:
            self._held_bytes -= stream.held_bytes
            self.waiting_bytes -= stream.waiting_bytes
