"""The mappings of a process' memory: /proc/PID/maps taken apart, and which one holds an address.

Pure. The kernel writes the columns; the path at the end of a line has what others chose, with line
ends escaped, and is nothing but bytes here.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

MAPS_BYTES = 16 << 20
PAGE = 4096

_LINE = re.compile(
    rb"([0-9a-f]{1,16})-([0-9a-f]{1,16}) ([r-][w-][x-][sp]) ([0-9a-f]{1,16}) "
    rb"([0-9a-f]{1,8}):([0-9a-f]{1,8}) (\d{1,20})(?: +(.*))?"
)


class Mapping(NamedTuple):
    """One mapping.

    Attributes:
        start: its first address.
        end: the address behind its last one.
        permissions: such as rw-p.
        offset: in the file.
        device: major and minor number of the file's; (0, 0) without a file.
        inode: of the file; 0 without one.
        path: as the kernel shows it, or a name such as [heap]; empty if it has neither.
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
        """Whether no file is mapped."""
        return self.inode == 0


def parse_maps(data: bytes) -> list[Mapping]:
    """Mappings in order of address; lines that are not whole are left out.

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
    """The place in the list of the mapping that holds an address; None if none does."""
    place = bisect_right(mappings, address, key=lambda one: one.start) - 1
    return place if place >= 0 and address < mappings[place].end else None


def object_start(mappings: Sequence[Mapping], place: int) -> int | None:
    """The place of the first mapping of the file whose variables may lie in a mapping.

    A loaded file is mapped in pieces, one behind the other, with rising offsets; memory of its
    variables that begin as zero follows as a mapping without a file.

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
            continue  # The loader leaves gaps in some files.
        if (one.device, one.inode) != file or one.offset > mappings[first].offset:
            break
        first = before
    return first
