"""Where the thread-local variables of a program lie, as the GNU C library places them.

Those of the executable end at the thread's control block (struct pthread). Where that begins is
known from the id in it, and checked: the block begins with its own address.
"""

import os
import platform
import struct
from bisect import bisect_right
from collections.abc import Collection

from tidscope_collector.goruntime.elf import Elf, ThreadLocal

_ID_PLACE = {"x86_64": 0x2D0}
"""Where the control block has the id of its thread. On aarch64 the variables lie behind the block,
whose size differs between versions."""
_HEAD = struct.Struct("<Q8xQ")


class ThreadLocals:
    """Finds places among the thread-local variables of a program.

    Args:
        elf: the executable; None if it cannot be read.
        memory: descriptor of the program's memory, -1 if it cannot be read.
        ids: addresses at which the ids of its threads lie.
    """

    def __init__(self, elf: Elf | None, memory: int, ids: Collection[int]) -> None:
        of_id = _ID_PLACE.get(platform.machine())
        self._layout = None if elf is None else elf.thread_local
        self._size = 0 if self._layout is None else _distance(self._layout)
        self._memory = memory
        known = of_id is not None and self._size > 0
        self._blocks = sorted(one - of_id for one in ids) if known and of_id is not None else []

    def place(self, address: int) -> int | None:
        """Place of an address among the variables of its thread; None if it is none of them."""
        at = bisect_right(self._blocks, address)
        if at == len(self._blocks) or self._layout is None:
            return None
        block = self._blocks[at]
        place = address - (block - self._size)
        if not 0 <= place < self._layout.memory_size or not self._is_block(block):
            return None
        return place

    def _is_block(self, address: int) -> bool:
        """True if a control block begins there: its first and third word are its own address."""
        try:
            head = os.pread(self._memory, _HEAD.size, address) if self._memory >= 0 else b""
        except (OSError, OverflowError):
            return False
        return len(head) == _HEAD.size and _HEAD.unpack(head) == (address, address)


def _distance(layout: ThreadLocal) -> int:
    """From the executable's first variable to the control block (_dl_determine_tlsoffset)."""
    first = -layout.address % layout.alignment
    return -(-(layout.memory_size - first) // layout.alignment) * layout.alignment + first
