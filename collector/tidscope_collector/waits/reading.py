"""Reading the ledgers of processes again and again: what has not changed is not copied again."""

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.watched import Whose, are_of
from tidscope_collector.waits.slots import (
    HEAD_BYTES,
    SLOT,
    SLOTS,
    Indices,
    Ledgers,
    Slots,
    consistent,
    settle,
)

_TRIES = 100
_HEADS = np.dtype(
    {"names": ["head"], "formats": [f"V{HEAD_BYTES}"], "offsets": [0], "itemsize": SLOT.itemsize}
)
_HEAD_WORDS = HEAD_BYTES // 8
_GENERATION, _MARK, _WOKEN_NS, _ARRIVED_NS = 3, 4, 5, 6
"""Which words of a head change."""


def copy_whole(slots: Slots, indices: Indices) -> Slots:
    """Copy slots in between updates of each.

    Raises:
        OSError: slots were being written to at each of many looks.
    """
    copies = slots[indices]
    torn = np.flatnonzero(~consistent(copies))
    tries = 0
    while len(torn):
        tries += 1
        if tries > _TRIES:
            raise OSError(f"the ledgers of {len(torn)} threads do not add up")
        copies[torn] = slots[indices[torn]]
        torn = torn[~consistent(copies[torn])]
    return copies


class LedgerReading:
    """The ledgers of one process, or of several, as they were read last.

    Args:
        slots: all slots, structured array of SLOT; the program writes to them.

    Attributes:
        indices: intp[n], the slots of what was read last.
    """

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._heads: npt.NDArray[np.void] = slots.view(_HEADS)["head"]
        self._listing: object = None
        self.indices: Indices = np.empty(0, np.intp)
        self._before = np.empty((0, _HEAD_WORDS), np.uint64)
        none = np.empty(0, SLOT)
        self._ledgers = _ledgers(none, np.empty(0, np.uint32), 0)

    def is_listed(self, listing: object) -> bool:
        """Whether no slot was given or freed since the last read."""
        return listing == self._listing

    def read(self, used: Slots, whose: Whose, listing: object) -> Ledgers:
        """The ledgers of now. What is returned does not change any more.

        Args:
            used: the slots that have been used.
            whose: the processes.
            listing: differs from that of the last call if slots were given or freed since.

        Raises:
            OSError: slots were being written to at each of many looks.
        """
        if listing != self._listing:
            return self._read_all(used, whose, listing)
        known = self._ledgers
        heads = self._copy_heads()
        moved = np.zeros(len(heads), np.uint64)
        for word in (_GENERATION, _MARK, _WOKEN_NS, _ARRIVED_NS):
            moved |= heads[:, word] ^ self._before[:, word]
        rows = np.flatnonzero(moved)
        number = known.number + 1
        if len(rows):
            copies = copy_whole(self._slots, self.indices[rows])
            ns, state, since = known.ns.copy(), known.state.copy(), known.since_ns.copy()
            began, unseen = known.began_ns.copy(), known.unseen.copy()
            changed = known.changed.copy()
            ns[rows], state[rows], since[rows] = settle(copies)
            began[rows], unseen[rows] = copies["began_ns"], copies["unseen"] != 0
            changed[rows] = number
            heads[rows] = _heads_of(copies)
            self._ledgers = Ledgers(
                known.tid, known.start_ns, began, ns, state, since, unseen, changed, number
            )
            self._before = heads
        return self._ledgers

    def _read_all(self, used: Slots, whose: Whose, listing: object) -> Ledgers:
        known, number = self._ledgers, self._ledgers.number + 1
        mine = np.flatnonzero(are_of(used["tgid"], whose))
        heads = used[["tid", "exit_ns", "start_ns"]][mine]
        indices = mine[np.lexsort((heads["start_ns"], heads["exit_ns"] == 0, heads["tid"]))]
        copies = copy_whole(self._slots, indices)
        heads_now = _heads_of(copies)
        changed = np.full(len(copies), number, np.uint32)
        row_of = np.full(SLOTS, -1, np.intp)
        row_of[self.indices] = np.arange(len(self.indices))
        old = row_of[indices]
        had = np.flatnonzero(old >= 0)
        same = had[(self._before[old[had]] == heads_now[had]).all(axis=1)]
        changed[same] = known.changed[old[same]]
        self._ledgers = _ledgers(copies, changed, number)
        self._before, self.indices, self._listing = heads_now, indices, listing
        return self._ledgers

    def _copy_heads(self) -> npt.NDArray[np.uint64]:
        return self._heads[self.indices].view(np.uint64).reshape(-1, _HEAD_WORDS)


def _heads_of(copies: Slots) -> npt.NDArray[np.uint64]:
    words = copies.view(np.uint64).reshape(len(copies), SLOT.itemsize // 8)
    return words[:, :_HEAD_WORDS].copy()


def _ledgers(copies: Slots, changed: npt.NDArray[np.uint32], number: int) -> Ledgers:
    ns, state, since = settle(copies)
    return Ledgers(
        copies["tid"].copy(),
        copies["start_ns"].copy(),
        copies["began_ns"].copy(),
        ns,
        state,
        since,
        copies["unseen"] != 0,
        changed,
        number,
    )
