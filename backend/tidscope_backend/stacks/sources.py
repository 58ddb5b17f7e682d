"""Sources of stacks and exact times: a live target, or a run on disk."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from tidscope_wire.frame import Fields
from tidscope_wire.frame_tables import empty_table
from tidscope_wire.generated.models import StackSampling, Target

from tidscope_backend.replay.frames import frames_between
from tidscope_backend.stacks.live import TargetStacks
from tidscope_backend.stacks.tables import StackTables, no_stacks
from tidscope_backend.store.reader import RunReader
from tidscope_backend.stream.frames import StoredFrame

LATE_NS = 1_000_000_000
"""How long after its end a stay may still be unknown, in nanoseconds: its stack is awaited."""
RUN_FRAMES = 600
"""Frames read of a window of a run. Totals are exact at any number of frames."""


class StackSource(Protocol):
    """Stacks and frames of one target. Methods block, and raise OSError and ValueError."""

    @property
    def target(self) -> Target:
        """The target, as last known."""

    @property
    def label(self) -> str:
        """Display name."""

    @property
    def sampling(self) -> StackSampling | None:
        """Whether stacks are taken now; None for a run."""

    @property
    def naming(self) -> str:
        """Sentences about names of frames; empty if nothing is to be said."""

    def span(self) -> tuple[int, int] | None:
        """Return the first and last time with frames, since attach; None without frames."""

    def known_ns(self) -> int | None:
        """Return up to when ends of stays are known, since attach; None if stacks never came."""

    def stacks(self, from_ns: int, to_ns: int) -> StackTables:
        """Return the stacks of a window."""

    def frames(self, from_ns: int, to_ns: int) -> tuple[Iterable[bytes], Fields | None]:
        """Return frames from a key frame at or before a window on, and their columns."""


class LiveSource:
    """A live target.

    Args:
        target: the target.
        frames: its kept frames, in order.
        stacks: its stacks, or None if none have come.
        naming: see StackSource.
    """

    def __init__(
        self,
        target: Target,
        frames: Sequence[StoredFrame],
        stacks: TargetStacks | None,
        naming: str = "",
    ) -> None:
        self.target = target
        self.naming = naming
        self._frames = frames
        self._stacks = stacks

    @property
    def label(self) -> str:
        """See StackSource."""
        return self.target.group.name if self.target.group else self.target.process.name

    @property
    def sampling(self) -> StackSampling | None:
        """See StackSource."""
        return self.target.stacks

    def span(self) -> tuple[int, int] | None:
        """See StackSource."""
        return (self._frames[0].time_ns, self._frames[-1].time_ns) if self._frames else None

    def known_ns(self) -> int | None:
        """See StackSource."""
        if self._stacks is None or not self._stacks.read_ns:
            return None
        return max(0, self._stacks.read_ns - LATE_NS)

    def stacks(self, from_ns: int, to_ns: int) -> StackTables:
        """See StackSource."""
        return no_stacks() if self._stacks is None else self._stacks.read()

    def frames(self, from_ns: int, to_ns: int) -> tuple[Iterable[bytes], Fields | None]:
        """See StackSource."""
        times = np.array([frame.time_ns for frame in self._frames], np.int64)
        first = max(0, int(np.searchsorted(times, from_ns, side="right")) - 1)
        while first and not self._frames[first].key:
            first -= 1
        chosen = self._frames[first : int(np.searchsorted(times, to_ns, side="right")) + 1]
        return (frame.data for frame in chosen), chosen[0].fields if chosen else None


class RunSource:
    """A run.

    Args:
        reader: reader of the run.
    """

    sampling = None
    naming = ""

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader
        self.target = reader.manifest.target
        self.label = reader.manifest.name

    def span(self) -> tuple[int, int] | None:
        """See StackSource."""
        spans = self._reader.spans
        return (spans[0][0], spans[-1][1]) if spans else None

    def known_ns(self) -> int | None:
        """See StackSource."""
        spans = self._reader.spans
        return spans[-1][1] if spans else None

    def stacks(self, from_ns: int, to_ns: int) -> StackTables:
        """See StackSource."""
        read = self._reader
        samples = [empty_table("stack_samples"), *read.log("stack_samples", from_ns, to_ns)]
        spans = read.spans
        return StackTables(
            read.names("stack_frames", from_ns, to_ns),
            read.names("stack_nodes", from_ns, to_ns),
            read.names("stack_periods", from_ns, to_ns),
            np.concatenate(samples),
            spans[0][0] if spans else 0,
        )

    def frames(self, from_ns: int, to_ns: int) -> tuple[Iterable[bytes], Fields | None]:
        """See StackSource."""
        return frames_between(self._reader, from_ns, to_ns, RUN_FRAMES), None
