"""Usual ticks one after the other: compiled code waits for each, takes it and sends its frame."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from tidscope_wire.generated.models import Target

from tidscope_collector.compiled.library import Compiled
from tidscope_collector.compiled.link import Link
from tidscope_collector.compiled.structs import KEPT, ROUND, Struct
from tidscope_collector.sampling.sampled_frame import SampledFrame

MAX_TICKS = 100
"""In one round, which Python ends after a second in any case."""
MORE_BYTES = 1 << 18
"""Of frames of a round, beside the room that the largest may need."""
_HEAD_BYTES = 14

Collect = Callable[[], list[tuple[SampledFrame, bool]]]
"""Gives frames that were made since it was called last, and whether each went out."""


class FrameRounds(Protocol):
    """Where compiled code sends frames."""

    def begin(self, target: Target, seq: int, collect: Collect) -> Link | None:
        """Frames of a target are going to be sent.

        Args:
            target: as it is now.
            seq: of the last frame before them.
            collect: gives what was made; may be called from another thread until `end` returns.

        Returns:
            Where to; None: they go another way.
        """

    def end(self, message: memoryview) -> None:
        """No more are sent.

        Args:
            message: the last one, of which compiled code may have written only a part.
        """


class RoundTimes(NamedTuple):
    """When the ticks of a round are, CLOCK_MONOTONIC.

    Attributes:
        due_ns: of the first one.
        period_ns: between two.
        until_ns: from which Python is wanted in any case.
        news_due_ns: up to which births, ends and names wait.
    """

    due_ns: int
    period_ns: int
    until_ns: int
    news_due_ns: int


class Tick(NamedTuple):
    """A tick of a round.

    Attributes:
        started_ns: CLOCK_MONOTONIC.
        sample_us: what sample and frame took, wall time.
        sample_cpu_ns: CPU of the sample.
        size: bytes of the frame.
    """

    started_ns: int
    sample_us: int
    sample_cpu_ns: int
    size: int


class UsualRound:
    """The rounds of one target; belongs to the sampling thread.

    Args:
        compiled: takes them.
        tick: struct tick, whose frame is prepared.
    """

    def __init__(self, compiled: Compiled, tick: Struct) -> None:
        self._compiled = compiled
        self._round = Struct(ROUND)
        kept = np.zeros(MAX_TICKS, KEPT)
        self._kept = kept.view(np.uint64).reshape(MAX_TICKS, -1)
        self._round.point(tick=tick, kept=kept)
        self._frames = self._message = np.empty(0, np.uint8).data
        self._first_seq = self._collected = 0

    def prepare(self, frames: "np.ndarray[tuple[int], np.dtype[np.uint8]]", most: int) -> None:
        """Say where frames are made.

        Args:
            frames: room for them.
            most: bytes of one of them.
        """
        self._round.point(frames=frames)
        self._round.set(room=len(frames), frame_bytes=most)
        self._frames = frames.data
        if len(self._message) < most + _HEAD_BYTES:
            message = np.empty(len(frames) + _HEAD_BYTES, np.uint8)
            self._round.point(message=message)
            self._message = message.data

    def begin(self, first_seq: int) -> None:
        """A round begins, whose first frame has this number."""
        self._round["taken"] = 0
        self._first_seq, self._collected = first_seq, 0
        self._round["first_seq"] = first_seq

    def run(
        self, link: Link, wake: int, when: RoundTimes, until_ns: int, most: int
    ) -> tuple[list[Tick], int]:
        """Take ticks until Python is wanted.

        Args:
            link: frames are sent there.
            wake: a descriptor that is readable when it is.
            when: they are due.
            until_ns: CLOCK_MONOTONIC from which Python is wanted in any case.
            most: ticks.

        Returns:
            The ticks, and WANTED or what a tick came to that is Python's.
        """
        one = self._round
        one.point(link=link.shared)
        one.set(wake=wake, due_ns=when.due_ns, period_ns=when.period_ns, until_ns=until_ns)
        one.set(news_due_ns=when.news_due_ns, most=most)
        result = self._compiled.ticks(one.address)
        rows = self._kept[: one["taken"]].tolist()
        return [Tick(row[3], row[2], row[4], row[1]) for row in rows], result

    def collect(self) -> list[tuple[SampledFrame, bool]]:
        """See `Collect`; not by two threads at once."""
        taken, made = self._round["taken"], list[tuple[SampledFrame, bool]]()
        for place in range(self._collected, taken):
            at, size, *_, sent_ns = self._kept[place].tolist()
            frame = SampledFrame(
                self._first_seq + place, bytes(self._frames[at : at + size]), key=False
            )
            made.append((frame, sent_ns != 0))
        self._collected = taken
        return made

    @property
    def message(self) -> memoryview:
        """The last message that was sent."""
        return self._message[: self._round["message_bytes"]]
