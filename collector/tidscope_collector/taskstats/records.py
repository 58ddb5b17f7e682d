"""Decodes a batch of exit records."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidscope_collector.taskstats.columns import member
from tidscope_collector.taskstats.datagrams import Slots
from tidscope_collector.taskstats.link import Kernel
from tidscope_collector.taskstats.messages import NLMSG_HEADER
from tidscope_collector.taskstats.refusals import MalformedReplyError, Refusal, RefusalCounts
from tidscope_collector.taskstats.shapes import SEQUENCE_WORD, Shape, learn

_MAX_SHAPES = 8


@dataclass(frozen=True)
class Records:
    """Records of n threads.

    Attributes:
        words: uint64[n, length / 8], struct taskstats.
        number: uint32[n], sequence numbers.
        ended: process ids whose last thread exited.
    """

    words: npt.NDArray[np.uint64]
    number: npt.NDArray[np.uint32]
    ended: frozenset[int]


class RecordDecoder:
    """What is known of the exit records of one kernel.

    Args:
        kernel: what the probe found.

    Attributes:
        refused: messages that were not what the kernel sends.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.refused = RefusalCounts()
        self._kernel = kernel
        self._shapes: list[Shape] = []

    def slots(self, count: int) -> Slots:
        """A buffer for so many messages."""
        # A message has one or two records, each with no more headers than a reply, or a pad more.
        most = 2 * (self._kernel.payload + self._kernel.layout.length + 64)
        return Slots(count, -(-most // 64) * 64, 0)

    def decode(self, slots: Slots, got: int) -> Records:
        """Decode the messages in the first slots.

        Args:
            slots: made by `slots`.
            got: how many of them hold a datagram.
        """
        left = ~slots.foreign(0, got)
        for slot in np.flatnonzero(~left).tolist():
            sender, _ = slots.origin(slot)
            kind = Refusal.SENDER if sender else Refusal.CUT
            self.refused.note(kind, f"port {sender}, {int(slots.lengths[slot])} bytes received")
        parts = [self._gather(shape, slots, left) for shape in self._shapes]
        while left.any():
            slot = int(np.argmax(left))
            shape = self._learn(slots.datagram(slot))
            if shape is not None:
                parts.append(self._gather(shape, slots, left))
            left[slot] = False
        width = self._kernel.layout.length // 8
        return Records(
            np.concatenate([np.empty((0, width), np.uint64), *(part.words for part in parts)]),
            np.concatenate([np.empty(0, np.uint32), *(part.number for part in parts)]),
            frozenset().union(*(part.ended for part in parts)),
        )

    def numbers(self, slots: Slots, got: int) -> npt.NDArray[np.uint32]:
        """Sequence numbers of what the kernel sent, refused or not, in order of arrival."""
        halves = slots.halves[:got]
        ours = ~slots.foreign(0, got) & (slots.lengths[:got] >= NLMSG_HEADER.size)
        ours &= (halves[:, 1] & 0xFFFF) == self._kernel.family
        numbers: npt.NDArray[np.uint32] = halves[ours, SEQUENCE_WORD]
        return numbers

    def _learn(self, datagram: bytes) -> Shape | None:
        try:
            shape = learn(datagram, self._kernel.family, self._kernel.layout)
            if len(self._shapes) == _MAX_SHAPES:
                raise MalformedReplyError(Refusal.SHAPES, f"more than {_MAX_SHAPES}")
        except MalformedReplyError as error:
            self.refused.note(error.refusal, error.detail)
            return None
        self._shapes.append(shape)
        return shape

    def _gather(self, shape: Shape, slots: Slots, left: npt.NDArray[np.bool_]) -> Records:
        """Copy the records of one shape out of the slots, and strike them off `left`."""
        halves, layout = slots.halves[: len(left)], self._kernel.layout
        fits = left & shape.fits(slots.lengths[: len(left)], halves)
        left &= ~fits
        rows = np.flatnonzero(fits)
        at = shape.stats // 4
        words = halves[rows, at : at + layout.length // 4].view(np.uint64)
        known = (words[:, 0] & np.uint64(0xFFFF)) == layout.version
        if shape.process_stats is not None:
            known &= (halves[rows, shape.process_stats // 4] & 0xFFFF) == layout.version
        same = member(words, layout, "ac_pid") == halves[rows, shape.thread // 4]
        sound = known & same
        if not sound.all():
            for refusal, wrong in ((Refusal.LAYOUT, ~known), (Refusal.IDENTITY, known & ~same)):
                if wrong.any():
                    self.refused.note(refusal, "in an exit record", int(wrong.sum()))
            rows, words = rows[sound], words[sound]
        ended: list[int] = []
        if shape.process is not None:
            ended = halves[rows, shape.process // 4].tolist()
        return Records(words, halves[rows, SEQUENCE_WORD], frozenset(ended))
