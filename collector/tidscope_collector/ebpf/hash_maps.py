"""Hash maps of a loaded program, read and emptied in one call each."""

import ctypes
import errno

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf import libbpf

Rows = npt.NDArray[np.void]


class HashMap:
    """A hash map whose keys and values are structs.

    Args:
        descriptor: of the map.
        key: struct of the keys.
        value: struct, or plain type, of the values.
        capacity: how many entries it may have.
    """

    def __init__(
        self, descriptor: int, key: np.dtype[np.void], value: np.dtype[np.generic], capacity: int
    ) -> None:
        self._descriptor = descriptor
        self._keys, self._values = np.empty(capacity, key), np.empty(capacity, value)

    def read(self) -> tuple[Rows, npt.NDArray[np.void]]:
        """All entries: their keys and their values, in no order.

        Raises:
            BpfError: the kernel refused.
        """
        # Always the same room: a new one would be mapped page by page, whatever of it is needed.
        keys, values = self._keys, self._values
        count, at = ctypes.c_uint32(len(keys)), ctypes.c_uint64()
        try:
            libbpf.library().number(
                "map read",
                "bpf_map_lookup_batch",
                *(self._descriptor, None, ctypes.byref(at), keys.ctypes.data, values.ctypes.data),
                *(ctypes.byref(count), None),
            )
        except libbpf.BpfError as error:
            if error.errno != errno.ENOENT:  # that was all
                raise
        return keys[: count.value].copy(), values[: count.value].copy()

    def remove(self, keys: Rows) -> None:
        """Take entries out; one that is not there ends it, which is no error."""
        if len(keys):
            packed = np.ascontiguousarray(keys)
            count = ctypes.c_uint32(len(packed))
            libbpf.library().call(
                "bpf_map_delete_batch",
                *(self._descriptor, packed.ctypes.data, ctypes.byref(count), None),
            )
