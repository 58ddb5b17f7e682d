"""Announced targets and frame numbers, against which messages of a collector are checked.

Loads no library of tables: the ring's process needs little memory.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Set
from contextlib import suppress
from typing import NamedTuple, Protocol

from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import CollectorGoodbye, FramesLost, Target

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.stream.watched import WatchedTargets

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


class FrameReceiver(Protocol):
    """Receives the frames and losses of collectors. Methods with a source raise CloseError."""

    @property
    def watched(self) -> WatchedTargets:
        """Targets whose frames somebody waits for."""
        ...

    def resume_points(self, targets: Iterable[str]) -> dict[str, int]:
        """Return the last received frame number of each target, for targets with frames."""
        ...

    def ingest(self, source: AnnouncedTargets, data: bytes) -> tuple[str, int]:
        """Process a frame. Returns its target and number."""
        ...

    def record_loss(self, source: AnnouncedTargets, message: FramesLost) -> None:
        """Record frames that the collector dropped."""
        ...

    def collector_ends(self, source: AnnouncedTargets, message: CollectorGoodbye) -> None:
        """Handle a collector that stops sampling."""
        ...

    def release_target(self, source: AnnouncedTargets, target_id: str) -> None:
        """Release an ended target that the collector has dropped."""
        ...
