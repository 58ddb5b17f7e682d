"""Memory mappings of a process, and offsets of its thread-local variables.

The kernel writes the columns of /proc/PID/maps. Others choose the path at the end of a line; line
breaks in it are escaped, and it is handled only as bytes.

In the GNU C library, thread-local variables of the executable end at the thread's control block
(struct pthread), which the thread ID in it reveals. The block begins with its own address, which is
verified.
"""

import os
import platform
import re
import struct
from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tidscope_collector.goruntime.elf import Elf, ThreadLocal

MAPS_BYTES = 16 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")
"""Bytes of a page: 4 KiB, or 16 or 64 KiB on some kernels for aarch64."""

_LINE = re.compile(
    rb"([0-9a-f]{1,16})-([0-9a-f]{1,16}) ([r-][w-][x-][sp]) ([0-9a-f]{1,16}) "
    rb"([0-9a-f]{1,8}):([0-9a-f]{1,8}) (\d{1,20})(?: +(.*))?"
)


class Mapping(NamedTuple):
    """A memory mapping.

    Attributes:
        start: first address.
        end: address behind the last one.
        permissions: permissions such as rw-p.
        offset: offset in the file.
        device: major and minor number of the file's device; (0, 0) without a file.
        inode: inode of the file; 0 without one.
        path: path as the kernel shows it, or a name such as [heap]; empty without either.
    """

    start: int
    end: int
    permissions: str
    offset: int
    device: tuple[int, int]
    inode: int
    path: bytes

    @property
    def anonymous(self) -> bool:
        """True if no file is mapped."""
        return self.inode == 0


def parse_maps(data: bytes) -> list[Mapping]:
    """Return mappings in address order; incomplete lines are skipped.

    Source: Documentation/filesystems/proc.rst of the kernel.
    """
    found: list[Mapping] = []
    for line in data.split(b"\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        start, end, offset = (int(match[group], 16) for group in (1, 2, 4))
        if start < end and (not found or start >= found[-1].end):
            device = (int(match[5], 16), int(match[6], 16))
            found.append(
                Mapping(
                    start, end, match[3].decode(), offset, device, int(match[7]), match[8] or b""
                )
            )
    return found


def holding(mappings: Sequence[Mapping], address: int) -> int | None:
    """Return the index of the mapping that holds an address, or None."""
    place = bisect_right(mappings, address, key=lambda one: one.start) - 1
    return place if place >= 0 and address < mappings[place].end else None


def object_start(mappings: Sequence[Mapping], place: int) -> int | None:
    """Return the index of the first mapping of the file whose variables may lie in a mapping.

    A loaded file is mapped in consecutive pieces with rising offsets. Memory of its
    zero-initialized variables follows as an anonymous mapping.

    Returns:
        None if there is no such file.
    """
    last = place
    while mappings[last].anonymous:
        if mappings[last].path or last == 0 or mappings[last - 1].end != mappings[last].start:
            return None
        last -= 1
    first = last
    file = (mappings[last].device, mappings[last].inode)
    for before in range(last - 1, -1, -1):
        one = mappings[before]
        if one.anonymous and not one.path:
            continue  # the loader leaves gaps in some files
        if (one.device, one.inode) != file or one.offset > mappings[first].offset:
            break
        first = before
    return first


_ID_PLACE = {"x86_64": 0x2D0}
"""Offset of the thread ID in the control block. On aarch64 the variables follow the block, whose
size differs between versions."""
_HEAD = struct.Struct("<Q8xQ")


class ThreadLocals:
    """Finds offsets of thread-local variables of a program.

    Args:
        elf: executable, or None if unreadable.
        memory: descriptor of the program's memory, or -1 if unreadable.
        ids: addresses of its threads' IDs.
    """

    def __init__(self, elf: Elf | None, memory: int, ids: Collection[int]) -> None:
        of_id = _ID_PLACE.get(platform.machine())
        self._layout = None if elf is None else elf.thread_local
        self._size = 0 if self._layout is None else _distance(self._layout)
        self._memory = memory
        known = of_id is not None and self._size > 0
        self._blocks = sorted(one - of_id for one in ids) if known and of_id is not None else []

    def place(self, address: int) -> int | None:
        """Return the offset of an address in its thread's variables, or None."""
        at = bisect_right(self._blocks, address)
        if at == len(self._blocks) or self._layout is None:
            return None
        block = self._blocks[at]
        place = address - (block - self._size)
        if not 0 <= place < self._layout.memory_size or not self._is_block(block):
            return None
        return place

    def _is_block(self, address: int) -> bool:
        """Return True for a control block, whose first and third word are its own address."""
        try:
            head = os.pread(self._memory, _HEAD.size, address) if self._memory >= 0 else b""
        except (OSError, OverflowError):
            return False
        return len(head) == _HEAD.size and _HEAD.unpack(head) == (address, address)


def _distance(layout: ThreadLocal) -> int:
    """Return the first variable's distance to the control block (_dl_determine_tlsoffset)."""
    first = -layout.address % layout.alignment
    return -(-(layout.memory_size - first) // layout.alignment) * layout.alignment + first
