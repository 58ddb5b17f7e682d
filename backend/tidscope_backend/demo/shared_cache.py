"""A cache in front of a slow store: the more its users share it, the less of it each one has."""

import time
from collections import OrderedDict
from threading import Lock

LOAD_S = 0.004


class SharedCache:
    """Keeps the blocks that were used last; what is not in it comes from a store, one at a time.

    Users whose blocks do not fit into it together drop each other's: they load again what they had.

    Args:
        capacity: blocks that it keeps.
        block: what the store has under each key.
    """

    def __init__(self, capacity: int, block: bytes) -> None:
        self._capacity = capacity
        self._block = block
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._keeping = Lock()
        self._store = Lock()

    def get(self, key: int) -> bytes:
        """The block under a key."""
        with self._keeping:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        with self._store:
            time.sleep(LOAD_S)
        with self._keeping:
            self._kept[key] = self._block
            if len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return self._block
