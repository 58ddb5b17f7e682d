"""All tracks of the ring: frames come in, full parts go to the sealer, old ones are deleted.

Frames are written before they are confirmed to the collector, so a killed process loses none. A
disk that hangs stops this process only: meanwhile frames wait in the collector, within a bound.
"""

import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tidscope_wire.envelope import FrameError, split
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorGoodbye,
    FrameHeader,
    FramesLost,
    TargetDetached,
    TargetExited,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.announced import AnnouncedTargets, Sequence
from tidscope_backend.ring.bounds import (
    Place,
    Stored,
    remove_part,
    remove_track,
    stored,
    to_evict,
    tracks_in,
)
from tidscope_backend.ring.status import RingStatus
from tidscope_backend.ring.track import Track
from tidscope_backend.store.disk import disk_full
from tidscope_backend.stream.watched import WatchedTargets

_log = logging.getLogger(__name__)
WARN_S = 60.0
"""Interval between two warnings about the disk, in seconds."""


class Tracks:
    """Receives frames of one host, as `FrameReceiver`. Belongs to the event loop, which it blocks.

    Args:
        ring: folder of the ring; it exists.
        registry: host and targets.
        max_bytes: bound on the bytes on disk.
        max_age_s: bound on the age of parts, in seconds.
        wall: wall clock, Unix seconds.

    Attributes:
        watched: no target: frames may come late.
        to_seal: parts that wait for the sealer.
        status: counts and gauges.
    """

    def __init__(
        self,
        ring: Path,
        registry: HostRegistry,
        max_bytes: int,
        max_age_s: float,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.watched = WatchedTargets()
        self.to_seal: set[Place] = set()
        self.status = RingStatus(max_bytes=max_bytes, max_age_s=max_age_s)
        self._ring, self._registry, self._wall = ring, registry, wall
        self._tracks: dict[str, Track] = {}
        self._sequences: dict[str, Sequence] = {}
        self._parts: dict[Place, Stored] = {}
        self._warned = -WARN_S

    def recover(self) -> None:
        """Continue the tracks of an earlier process. Damaged ones stay, and are deleted by age."""
        for folder in tracks_in(self._ring):
            opened = 0
            try:
                track = Track.resume(folder)
            except (OSError, ValueError) as error:
                _log.warning("%s is not continued: %s", folder.path.name, error)
            else:
                if track is None:
                    continue
                opened = track.number if track.open_bytes else 0
                self._adopt(track)
            for number in {*folder.sealed_parts(), *folder.open_parts()} - {opened}:
                self._note(Place(folder, number))
        self._measure()

    def resume_points(self, targets: Iterable[str]) -> dict[str, int]:
        """Return the number of the last written frame of each target."""
        found = {one: self._tracks[one].last_seq for one in targets if one in self._tracks}
        return {name: seq for name, seq in found.items() if seq}

    def ingest(self, source: AnnouncedTargets, data: bytes) -> tuple[str, int]:
        """Write a frame. Raises CloseError if it is not one of an announced target."""
        try:
            header, _ = split(data)
            source.check(header.target)
        except FrameError as error:
            raise CloseError(CloseCode.BAD_MESSAGE, f"not a frame: {error}") from None
        arrival = self._sequence(header.target).accept(
            header.first_seq, header.seq, baseline=header.baseline
        )
        if arrival.missing is not None:
            first, last = arrival.missing
            self._missing(last - first + 1)
        if arrival.new:
            self._take(header, data)
        return header.target, header.seq

    def record_loss(self, source: AnnouncedTargets, message: FramesLost) -> None:
        """Count frames that the collector dropped. Raises as `ingest`."""
        source.check(message.target)
        lost = self._sequence(message.target).skip(message.from_seq, message.to_seq)
        if lost:
            self._missing(lost)

    def collector_ends(self, source: AnnouncedTargets, message: CollectorGoodbye) -> None:
        """Do nothing: the last frames follow."""

    def release_target(self, source: AnnouncedTargets, target_id: str) -> None:
        """End the track of a target that the collector has dropped. Raises as `ingest`."""
        source.check(target_id)
        source.remove(target_id)
        self._registry.remove_target(target_id)
        self._end(target_id)
        self._sequences.pop(target_id, None)

    def targets_changed(self) -> None:
        """End the tracks of targets that no collector samples any more."""
        for name in list(self._tracks):
            target = self._registry.target(name)
            if target is not None and target.state != "attached" and self._is_over(name):
                self._end(name)

    def sealed(self, place: Place) -> None:
        """Note that the sealer is done with a part, successfully or not."""
        self.to_seal.discard(place)
        self._note(place, again=False)

    def forget(self, place: Place) -> None:
        """Delete what is left of a part that was deleted while it was sealed."""
        if place not in self._parts:
            remove_part(place)

    def keep_bounds(self) -> None:
        """Delete what is too old or too much."""
        self._measure()
        since = self._wall() - self.status.max_age_s
        gone = to_evict(self._parts, self._open_bytes(), self.status.max_bytes, since)
        for place in gone:
            self._evict(place)
        self.status.evicted += len(gone)
        self._measure()

    def make_room(self) -> bool:
        """Delete the oldest part, as the disk is full. Return False if there is none."""
        oldest = min(self._parts, key=lambda one: self._parts[one].unix_s, default=None)
        if oldest is None:
            return False
        self._evict(oldest)
        self.status.evicted_early += 1
        self._warn("the disk is full: the oldest part of the ring is deleted")
        return True

    def close(self) -> None:
        """Leave all tracks to the next process."""
        for track in self._tracks.values():
            track.release()
        self._tracks.clear()

    def _take(self, header: FrameHeader, data: bytes) -> None:
        try:
            track = self._track(header)
        except OSError as error:
            self._refused(error)
            return
        if track is None or (track.needs_key() and header.kind != "key"):
            # A delta needs a frame to add to.
            self.status.lost += 1
            return
        if header.seq <= track.last_seq:
            return
        while True:
            try:
                full = track.append(header, data)
                break
            except OSError as error:
                if disk_full(error) and self.make_room():
                    continue
                self._refused(error)
                self._seal_later(track, track.close_part())
                return
        self.status.frames += 1
        self.status.disk_full = 0
        self._seal_later(track, full)
        if any(isinstance(one, TargetExited | TargetDetached) for one in header.events):
            self._end(header.target)

    def _track(self, header: FrameHeader) -> Track | None:
        """Return the track of a frame's target; a new one begins with a key frame."""
        track = self._tracks.get(header.target)
        target = self._registry.target(header.target)
        host = None if target is None else self._registry.host(target.host)
        if track is not None or target is None or host is None or header.kind != "key":
            return track
        while True:
            try:
                track = Track.create(self._ring, target, host)
                break
            except OSError as error:
                if not (disk_full(error) and self.make_room()):
                    raise
        self._adopt(track)
        return track

    def _adopt(self, track: Track) -> None:
        self._tracks[track.target.id] = track
        self.status.truncated_bytes += track.truncated
        if track.last_seq:
            sequence = self._sequence(track.target.id)
            sequence.accept(track.last_seq, track.last_seq)

    def _is_over(self, name: str) -> bool:
        """Return True if no frame of an ended target is awaited: its collector is another one."""
        track, target = self._tracks[name], self._registry.target(name)
        host = None if target is None else self._registry.host(target.host)
        return host is not None and host.collector.pid != track.host.collector.pid

    def _end(self, name: str) -> None:
        track = self._tracks.pop(name, None)
        if track is None:
            return
        self._seal_later(track, track.close_part())
        target = self._registry.target(name)
        if target is not None:
            track.target = target
        try:
            track.write_manifest()
        except OSError as error:
            self._warn(f"{track.folder.path.name}: {error.strerror or error}")
        track.release()

    def _seal_later(self, track: Track, number: int | None) -> None:
        if number is not None:
            place = Place(track.folder, number)
            self._note(place)
            self.to_seal.add(place)

    def _note(self, place: Place, *, again: bool = True) -> None:
        """Note a part's size; one that was not sealed is sealed later."""
        found = stored(place)
        if found is None:
            self._parts.pop(place, None)
            return
        known = self._parts.get(place)
        if known is not None:
            found.unix_s = known.unix_s
        self._parts[place] = found
        if again and not found.sealed:
            self.to_seal.add(place)

    def _evict(self, place: Place) -> None:
        del self._parts[place]
        self.to_seal.discard(place)
        try:
            remove_part(place)
        except OSError as error:
            self._warn(f"a part of the ring cannot be deleted: {error.strerror or error}")
        active = any(one.folder == place.folder for one in self._tracks.values())
        if not active and not any(one.folder == place.folder for one in self._parts):
            remove_track(place.folder)

    def _sequence(self, target: str) -> Sequence:
        return self._sequences.setdefault(target, Sequence())

    def _missing(self, frames: int) -> None:
        self.status.lost += frames
        self.status.gaps += 1

    def _refused(self, error: OSError) -> None:
        if not self.status.disk_full:
            self.status.gaps += 1
        self.status.disk_full = 1
        self.status.lost += 1
        self._warn(f"frames are lost: {error.strerror or error}")

    def _warn(self, text: str) -> None:
        if time.monotonic() - self._warned >= WARN_S:
            self._warned = time.monotonic()
            _log.warning("%s", text)

    def _open_bytes(self) -> int:
        return sum(track.open_bytes for track in self._tracks.values())

    def _measure(self) -> None:
        opened = [track for track in self._tracks.values() if track.open_bytes]
        self.status.parts = len(self._parts) + len(opened)
        self.status.bytes = self._open_bytes() + sum(one.bytes for one in self._parts.values())
