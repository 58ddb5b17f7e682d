"""Decodes a batch of replies: every reply is checked against the question it answers."""

import errno
import os

import numpy as np
import numpy.typing as npt

from tidscope_collector.taskstats.columns import member
from tidscope_collector.taskstats.datagrams import Slots
from tidscope_collector.taskstats.link import Kernel
from tidscope_collector.taskstats.messages import NLMSG_HEADER, error_code
from tidscope_collector.taskstats.refusals import MalformedReplyError, Refusal, RefusalCounts
from tidscope_collector.taskstats.shapes import SEQUENCE_WORD, Shape, learn

Decoded = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]


class Replies:
    """What is known of the replies of one kernel.

    Args:
        kernel: what the probe found.

    Attributes:
        refused: replies that were not what the kernel sends, and questions without any answer.
        shape: what all good replies have in common; None before the first.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.refused = RefusalCounts()
        self._kernel = kernel
        self._width = kernel.layout.length // 8
        self.shape: Shape | None = None

    def slots(self, count: int) -> Slots:
        """A buffer for so many replies, structs at multiples of 8 in it."""
        lead = -self._kernel.payload % 8
        reply = self._kernel.payload + self._kernel.layout.length
        return Slots(count, -(-(lead + reply + 64) // 64) * 64, lead)

    def decode(self, slots: Slots, got: int, first: int, tids: npt.NDArray[np.uint32]) -> Decoded:
        """Decode the replies to a query.

        Args:
            slots: made by `slots`.
            got: how many of them hold a datagram.
            first: sequence number of the first question; the others follow it.
            tids: uint32[n], what was asked.

        Returns:
            uint64[m, length / 8], struct taskstats of those that answered, a view of the slots if
            all did; int64[m], their places in `tids`, rising.

        Raises:
            OSError: the kernel answered with another error than that a thread has gone.
        """
        sequence = slots.halves[:got, slots.lead // 4 + SEQUENCE_WORD]
        index = (sequence - np.uint32(first)).astype(np.int64)
        # What is no header has no sequence number: its slot holds one of an earlier datagram.
        index[slots.lengths[:got] < NLMSG_HEADER.size] = 2**32
        good = self._good(slots, got, index, tids)
        at = (slots.lead + self._kernel.payload) // 8
        words = slots.words[:got, at : at + self._width]
        if got == len(tids) and good.all() and np.array_equal(index, np.arange(got)):
            return words, index
        self._explain(slots, good, index, tids)
        rows = np.flatnonzero(good)
        _, once = np.unique(index[rows], return_index=True)
        rows = rows[once]
        return words[rows], index[rows]

    def _good(
        self, slots: Slots, got: int, index: npt.NDArray[np.int64], tids: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.bool_]:
        shape = self.shape or self._learn(slots, got)
        if shape is None or not len(tids):
            return np.zeros(got, np.bool_)
        halves = slots.halves[:got, slots.lead // 4 :]
        good = shape.fits(slots.lengths[:got], halves)
        good &= (index < len(tids)) & ~slots.foreign(0, got)
        asked = tids[np.where(good, index, 0)]
        words = slots.words[:got, (slots.lead + shape.stats) // 8 :]
        layout = self._kernel.layout
        good &= (words[:, 0] & np.uint64(0xFFFF)) == layout.version
        good &= halves[:, shape.thread // 4] == asked
        good &= member(words, layout, "ac_pid") == asked
        return good

    def _learn(self, slots: Slots, got: int) -> Shape | None:
        foreign = slots.foreign(0, got)
        for slot in np.flatnonzero(~foreign).tolist():
            try:
                shape = learn(slots.datagram(slot), self._kernel.family, self._kernel.layout)
            except MalformedReplyError:
                continue
            if shape.process is None and shape.stats == self._kernel.payload:
                self.shape = shape
                return shape
        return None

    def _explain(
        self,
        slots: Slots,
        good: npt.NDArray[np.bool_],
        index: npt.NDArray[np.int64],
        tids: npt.NDArray[np.uint32],
    ) -> None:
        """Count what was refused, by reason."""
        answered = set(index[good].tolist())
        twice = int(good.sum()) - len(answered)
        if twice:
            self.refused.note(Refusal.TWICE, "the first is believed", twice)
        failures: list[int] = []
        for slot in np.flatnonzero(~good).tolist():
            place = int(index[slot])
            try:
                code = self._judge(slots, slot, known=place < len(tids))
            except MalformedReplyError as error:
                self.refused.note(error.refusal, error.detail)
                if error.refusal in (Refusal.SENDER, Refusal.UNASKED):
                    continue
            else:
                if code != errno.ESRCH:
                    failures.append(code)
            if place < len(tids):
                answered.add(place)
        silent = len(tids) - len(answered)
        if silent:
            self.refused.note(Refusal.SILENCE, f"to {silent} of {len(tids)} questions", silent)
        if failures:
            raise OSError(failures[0], os.strerror(failures[0]))

    def _judge(self, slots: Slots, slot: int, *, known: bool) -> int:
        """The errno of a reply that is no good.

        Raises:
            MalformedReplyError: it is no error message to one of our questions; in what way.
        """
        sender, cut = slots.origin(slot)
        datagram = slots.datagram(slot)
        if sender:
            raise MalformedReplyError(Refusal.SENDER, f"but by port {sender}")
        if cut:
            raise MalformedReplyError(Refusal.CUT, f"{len(datagram)} bytes received")
        code = error_code(datagram)
        if code and known:
            return code
        shape = learn(datagram, self._kernel.family, self._kernel.layout)
        if shape.process is not None or shape.stats != self._kernel.payload:
            raise MalformedReplyError(Refusal.CONTENT, "not the record of one thread")
        if not known:
            raise MalformedReplyError(Refusal.UNASKED, "its sequence number is of another query")
        raise MalformedReplyError(Refusal.IDENTITY, "not of the thread that was asked for")
