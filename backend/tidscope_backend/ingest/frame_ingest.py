"""Frames of collectors: checked against announced targets and sequence numbers, then passed on."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from tidscope_wire.frame import Fields, FrameError, split
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorGoodbye,
    FrameHeader,
    FramesLost,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.announced import AnnouncedTargets, Sequence
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
