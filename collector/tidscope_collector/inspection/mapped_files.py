"""Files that a process has mapped, opened even if their path now has another file, or none.

/proc/PID/map_files leads to the mapped file itself, for readers with CAP_CHECKPOINT_RESTORE. Other
readers open the path below the root of the process.
"""

import os
import stat
import zlib
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from tidscope_collector.inspection.maps import Mapping
from tidscope_collector.inspection.process_files import open_below, open_file

DELETED = b" (deleted)"
"""Suffix that the kernel appends to the path of a deleted mapped file."""

Missing = Literal["", "gone", "replaced", "unreadable", "ambiguous"]
"""Why a mapped file is not read; empty if it is."""


class MappedFile(NamedTuple):
    """An open file with code of a process.

    Attributes:
        path: path as the process sees it, without `DELETED`.
        file: descriptor, or bytes of what is no file.
        is_mapped: False if the path may have another file than the one that is mapped.
    """

    path: bytes
    file: int | bytes
    is_mapped: bool


def number_of_name(name: bytes) -> int:
    """Return the number by which a question means the base name of a file.

    A text could be a path; a number selects among the files that the process has mapped.
    """
    return zlib.crc32(name)


def is_mapped(file: int, mapping: Mapping) -> bool:
    """Return True if a file is the mapped one.

    The device is not compared: some file systems show another number in mappings.
    """
    if file < 0:
        return False
    status = os.fstat(file)
    return status.st_ino == mapping.inode and stat.S_ISREG(status.st_mode)


def open_mapped(folder: int, mapping: Mapping) -> int:
    """Open a mapped file, even if its path now has another one. Return -1 on failure.

    Args:
        folder: descriptor of the process' folder.
        mapping: mapping of the file.
    """
    name = f"map_files/{mapping.start:x}-{mapping.end:x}"
    for file in (open_file(folder, name), open_below(folder, "root", mapping.path)):
        if is_mapped(file, mapping):
            return file
        close(file)
    return -1


def open_code(
    folder: int, mappings: Iterable[Mapping], wanted: Callable[[bytes], bool], most: int
) -> list[MappedFile]:
    """Open files with code, each once.

    Args:
        folder: descriptor of the process' folder.
        mappings: mappings of the process.
        wanted: takes the path of a file, returns True if it is opened.
        most: maximum number of files; further ones are left out.
    """
    found: dict[tuple[tuple[int, int], int], MappedFile] = {}
    for one in mappings:
        path = one.path.removesuffix(DELETED)
        key = (one.device, one.inode)
        if one.anonymous or one.permissions[2] != "x" or key in found or not wanted(path):
            continue
        file, mapped = open_mapped(folder, one), True
        if file < 0:
            file, mapped = open_below(folder, "root", path), False
        if file >= 0:
            found[key] = MappedFile(path, file, mapped)
        if len(found) == most:
            break
    return list(found.values())


def close(file: int) -> None:
    """Close a descriptor; -1 is none."""
    if file >= 0:
        os.close(file)
