"""Frames of collectors: checked against announced targets and sequence numbers, then passed on."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from typing import NamedTuple, Protocol

from tidscope_wire.frame import Fields, FrameError, split
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorGoodbye,
    FrameHeader,
    FramesLost,
    Target,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.stream.fanout import Fanout
from tidscope_backend.stream.frames import StoredFrame, store_frame
from tidscope_backend.stream.watched import WatchedTargets


class FrameSink(Protocol):
    """Receives frames for recording."""

    def receive(self, frame: StoredFrame, header: FrameHeader) -> None:
        """Receive a frame that has not arrived before."""

    def frames_lost(self, lost: FramesLost) -> None:
        """Report frames that the collector dropped."""

    def collector_ends(self, last: Mapping[str, int]) -> None:
        """Report that a collector stops, with the last frame number of each target."""


MAX_ANNOUNCED = 256
"""Maximum announced targets: a collector attaches to 32 and reports 16 ended ones."""


ANNOUNCE_SECONDS = 5.0
"""How long a frame waits for the announcement of its target, in seconds."""


class NotAnnouncedError(CloseError):
    """A message is of a target that the collector has not announced.

    Attributes:
        target: target ID.
    """

    def __init__(self, target: str, host_id: str) -> None:
        super().__init__(
            CloseCode.BAD_MESSAGE, f"target {target} was not announced by host {host_id}"
        )
        self.target = target


class AnnouncedTargets:
    """Targets that a collector announced, for checking its messages. Methods raise CloseError.

    Args:
        host_id: host that the collector represents.
        registry: hosts and targets.
        targets: targets in the hello message.
    """

    def __init__(self, host_id: str, registry: HostRegistry, targets: Iterable[Target]) -> None:
        self.host_id = host_id
        self._registry = registry
        self._ids: set[str] = set()
        # Both connections tell of targets, so a change may come behind the end.
        self._forgotten: deque[str] = deque(maxlen=MAX_ANNOUNCED)
        self._changed = asyncio.Event()
        for target in targets:
            self.add(target)

    @property
    def ids(self) -> Set[str]:
        """IDs of the announced targets."""
        return self._ids

    def add(self, target: Target) -> bool:
        """Register a new or changed target of the collector. Return False if it was forgotten."""
        if target.id in self._forgotten:
            return False
        known = self._registry.target(target.id)
        for host_id in (target.host, known.host if known is not None else target.host):
            if host_id != self.host_id:
                raise CloseError(
                    CloseCode.BAD_MESSAGE,
                    f"target {target.id} is of host {host_id}, not {self.host_id}",
                )
        self._ids.add(target.id)
        if len(self._ids) > MAX_ANNOUNCED:
            raise CloseError(CloseCode.TOO_MANY, f"more than {MAX_ANNOUNCED} targets are announced")
        self._changed.set()
        return True

    async def wait_for(self, target_id: str) -> None:
        """Wait a limited time for the announcement of a target."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ANNOUNCE_SECONDS):
                while target_id not in self._ids and target_id not in self._forgotten:
                    self._changed.clear()
                    await self._changed.wait()

    def has(self, target_id: str) -> bool:
        """Return True if the collector has announced a target."""
        return target_id in self._ids

    def check(self, target_id: str) -> None:
        """Check that the collector may report on a target."""
        if target_id not in self._ids:
            raise NotAnnouncedError(target_id, self.host_id)

    def remove(self, target_id: str) -> None:
        """Remove a target that the collector will not report on again."""
        self._ids.discard(target_id)
        self._forgotten.append(target_id)


class Arrival(NamedTuple):
    """Result of checking a frame's sequence number.

    Attributes:
        new: whether the frame contains numbers that had not arrived.
        missing: first and last skipped number, or None if no number was skipped.
    """

    new: bool
    missing: tuple[int, int] | None


class Sequence:
    """Sequence numbers of one target's stream. Numbers before the first frame are not missing.

    The baseline does not count as the first frame. The collector sends it to a backend that started
    later, before its buffered frames. Numbers between the baseline and those frames were never
    expected.
    """

    def __init__(self) -> None:
        self.last_seq: int | None = None
        self._has_baseline = False

    def accept(self, first_seq: int, seq: int, *, baseline: bool = False) -> Arrival:
        """Accept a frame that covers first_seq to seq."""
        last = self.last_seq
        if baseline and last is None:
            new, self._has_baseline = not self._has_baseline, True
            return Arrival(new=new, missing=None)
        if last is not None and seq <= last:
            return Arrival(new=False, missing=None)
        self.last_seq = seq
        if last is None or first_seq <= last + 1:
            return Arrival(new=True, missing=None)
        return Arrival(new=True, missing=(last + 1, first_seq - 1))

    def skip(self, from_seq: int, to_seq: int) -> int:
        """Mark numbers that the collector will not send.

        Returns:
            Number of expected frames among them; 0 if no frame has arrived yet.
        """
        if self.last_seq is None or to_seq <= self.last_seq:
            return 0
        count = to_seq - max(from_seq, self.last_seq + 1) + 1
        self.last_seq = to_seq
        return count


class FrameIngest:
    """Ingests frames and losses. Sequence numbers outlive a connection, so replay is exact.

    Args:
        registry: hosts and targets.
        fanout: receiver of the frames.
        observe: called with each new frame's host, header and raw rows.
        recorder: receives frames for recording.
    """

    def __init__(
        self,
        registry: HostRegistry,
        fanout: Fanout,
        observe: Callable[[str, FrameHeader, memoryview], None],
        recorder: FrameSink,
    ) -> None:
        self._registry = registry
        self._fanout = fanout
        self._observe = observe
        self._recorder = recorder
        self._sequences: dict[str, Sequence] = {}
        self._fields: dict[str, Fields] = {}
        """Columns of the newest key frame of each target."""

    @property
    def watched(self) -> WatchedTargets:
        """Targets whose frames somebody waits for."""
        return self._fanout.watched

    def resume_points(self, targets: Iterable[str]) -> dict[str, int]:
        """Return the last received frame number of each target, for targets with frames."""
        points = {}
        for target in targets:
            sequence = self._sequences.get(target)
            if sequence is not None and sequence.last_seq is not None:
                points[target] = sequence.last_seq
        return points

    def ingest(self, source: AnnouncedTargets, data: bytes) -> tuple[str, int]:
        """Process a binary message. Frames of forgotten targets are dropped.

        Returns:
            Target ID and frame number.

        Raises:
            CloseError: the message is not a frame of an announced target.
        """
        try:
            header, body = split(data)
            source.check(header.target)
            frame = store_frame(header, data, body, self._fields.get(header.target))
        except FrameError as error:
            raise CloseError(CloseCode.BAD_MESSAGE, f"not a frame: {error}") from None
        if self._registry.target(frame.target) is None:
            return frame.target, frame.seq
        if frame.fields is not None:
            self._fields[frame.target] = frame.fields
        arrival = self._sequence(frame.target).accept(
            frame.first_seq, frame.seq, baseline=frame.baseline
        )
        if arrival.missing is not None:
            first, last = arrival.missing
            self._fanout.publish_lost(
                FramesLost(
                    target=frame.target,
                    from_seq=first,
                    to_seq=last,
                    reason="they never reached the backend",
                ),
                last - first + 1,
            )
        if arrival.new:
            self._observe(source.host_id, header, body)
            self._registry.record_decisions(header)
            self._fanout.publish(frame)
            self._recorder.receive(frame, header)
        return frame.target, frame.seq

    def record_loss(self, source: AnnouncedTargets, message: FramesLost) -> None:
        """Record frames that the collector dropped. Raises as `ingest`."""
        source.check(message.target)
        if self._registry.target(message.target) is None:
            return
        expected = self._sequence(message.target).skip(message.from_seq, message.to_seq)
        self._fanout.publish_lost(message, expected)
        self._recorder.frames_lost(message)

    def collector_ends(self, source: AnnouncedTargets, message: CollectorGoodbye) -> None:
        """Handle a collector that stops sampling."""
        known = {target: seq for target, seq in message.last.items() if source.has(target)}
        self._recorder.collector_ends(known)

    def release_target(self, source: AnnouncedTargets, target_id: str) -> None:
        """Release an ended target that the collector has dropped. Raises as `ingest`."""
        source.check(target_id)
        source.remove(target_id)
        if self._registry.target(target_id) is None:
            return
        if self._fanout.store.get(target_id).bytes:
            self._registry.end_target(target_id)
        else:
            self._registry.remove_target(target_id)

    def forget(self, target_id: str) -> None:
        """Drop the state of a target that the registry has forgotten."""
        self._sequences.pop(target_id, None)
        self._fields.pop(target_id, None)
        self._fanout.store.remove(target_id)

    def _sequence(self, target_id: str) -> Sequence:
        return self._sequences.setdefault(target_id, Sequence())
