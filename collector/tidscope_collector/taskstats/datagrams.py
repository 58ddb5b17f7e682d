"""Many datagrams with one system call, into one buffer that is made once.

recvmmsg(2) has no Python binding; the structures it takes are laid out here as numpy arrays, so
that lengths and senders of a whole batch are looked at without a loop.
"""

import ctypes
import errno
import os
import socket

import numpy as np
import numpy.typing as npt

_libc = ctypes.CDLL(None, use_errno=True)
_recvmmsg = _libc.recvmmsg
_recvmmsg.restype = ctypes.c_int
_recvmmsg.argtypes = (
    *(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_int),
    ctypes.c_void_p,
)
# struct mmsghdr and struct iovec of 64-bit Linux
_MMSGHDR = np.dtype(
    {
        "names": [
            *("name", "name_length", "iov", "iov_length"),
            *("control", "control_length", "flags", "length"),
        ],
        "formats": ["u8", "u4", "u8", "u8", "u8", "u8", "i4", "u4"],
        "offsets": [0, 8, 16, 24, 32, 40, 48, 56],
        "itemsize": 64,
    }
)
_SOCKADDR_NL_BYTES = 12


class Slots:
    """A buffer of equal slots, one a datagram.

    Args:
        count: number of slots.
        stride: bytes from slot to slot, a multiple of 8.
        lead: bytes left free at the start of each slot, so that what matters in a datagram comes to
            stand at a multiple of 8.
    """

    def __init__(self, count: int, stride: int, lead: int) -> None:
        self.count, self.stride, self.lead = count, stride, lead
        self._memory = np.zeros(count * stride // 8, np.uint64)
        self.words: npt.NDArray[np.uint64] = self._memory.reshape(count, stride // 8)
        """uint64[count, stride / 8], the whole buffer."""
        self.bytes: npt.NDArray[np.uint8] = self._memory.view(np.uint8).reshape(count, stride)
        self.halves: npt.NDArray[np.uint32] = self._memory.view(np.uint32).reshape(
            count, stride // 4
        )
        self._senders = np.zeros((count, _SOCKADDR_NL_BYTES // 4), np.uint32)
        vectors = np.zeros((count, 2), np.uint64)
        slot = np.arange(count, dtype=np.uint64)
        vectors[:, 0] = self._memory.ctypes.data + slot * np.uint64(stride) + np.uint64(lead)
        vectors[:, 1] = stride - lead
        self._vectors = vectors
        headers = np.zeros(count, _MMSGHDR)
        headers["name"] = self._senders.ctypes.data + slot * np.uint64(_SOCKADDR_NL_BYTES)
        headers["name_length"] = _SOCKADDR_NL_BYTES
        headers["iov"] = vectors.ctypes.data + slot * np.uint64(16)
        headers["iov_length"] = 1
        self._headers = headers
        self._address = headers.ctypes.data

    @property
    def headers_address(self) -> int:
        """Of the first struct mmsghdr."""
        return self._address

    @property
    def senders_address(self) -> int:
        """Of the senders: three 32-bit words each, the second of which is the port."""
        return self._senders.ctypes.data

    @property
    def lengths(self) -> npt.NDArray[np.uint32]:
        """uint32[count], bytes received in each slot."""
        return self._headers["length"]

    def foreign(self, start: int, end: int) -> npt.NDArray[np.bool_]:
        """bool[end - start], true where the sender is not the kernel or the datagram was cut."""
        cut = self._headers["flags"][start:end] & socket.MSG_TRUNC
        result: npt.NDArray[np.bool_] = (self._senders[start:end, 1] != 0) | (cut != 0)
        return result

    def origin(self, slot: int) -> tuple[int, bool]:
        """Port that a datagram came from, 0 = the kernel, and whether the datagram was cut."""
        cut = int(self._headers["flags"][slot]) & socket.MSG_TRUNC
        return int(self._senders[slot, 1]), bool(cut)

    def receive(self, descriptor: int, start: int, most: int) -> int:
        """Receive what is there, without waiting, into the slots from `start`.

        Returns:
            Number of datagrams; 0 if none was there.

        Raises:
            OSError: ENOBUFS if the kernel dropped some since the last call, or another failure.
        """
        address = self._address + start * _MMSGHDR.itemsize
        got: int = _recvmmsg(descriptor, address, most, socket.MSG_DONTWAIT, None)
        if got >= 0:
            return got
        number = ctypes.get_errno()
        if number in (errno.EAGAIN, errno.EINTR):
            return 0
        raise OSError(number, os.strerror(number))

    def datagram(self, slot: int) -> bytes:
        """The bytes received in a slot."""
        return self.bytes[slot, self.lead : self.lead + int(self.lengths[slot])].tobytes()
