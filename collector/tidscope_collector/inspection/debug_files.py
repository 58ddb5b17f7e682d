"""Files with the debug information of a program, opened while a child still has rights.

They are named by the build ID, or by the section .gnu_debuglink, below the root of the process
and below this host's folder of debug files. Those that the backend fetches are named by the build
ID. Whether one belongs to the program is known only once
it is read (`native_names`).
"""

import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tidscope_sampler.native import elf_links

from tidscope_collector.inspection.confined_reading import read_confined
from tidscope_collector.inspection.mapped_files import close
from tidscope_collector.inspection.process_files import open_inside

FOLDER = b"/usr/lib/debug"
"""Folder of debug files below the root of a process."""
LINKS_S = 5.0
"""Maximum time to read the headers of files, in seconds."""

_LINKS_BYTES = 1 << 17
_NAME = re.compile(rb"[^/\0]{1,255}")
_SHARED = b"/.dwz/"
"""Folder in which distributions keep the files that dwz(1) makes."""
_MAX_CHECKED_BYTES = 1 << 30
_PATH_BYTES = 4096


class Links(NamedTuple):
    """Links of an ELF file; see `ElfLinks`. IDs are hexadecimal.

    Attributes:
        checksum: CRC-32 of the file, if it has no build ID and the checksum was asked for; else 0.
    """

    build_id: str
    debug_name: bytes
    debug_crc: int
    shared_path: bytes
    shared_id: str
    base: int
    lines: bool
    symbols: bool
    checksum: int


NO_LINKS = Links("", b"", 0, b"", "", 0, False, False, 0)
"""Links of a file that is not there."""


class DebugFile(NamedTuple):
    """An open file and what it says about itself."""

    file: int
    links: Links


class Roots(NamedTuple):
    """Folders that are searched for debug files.

    Attributes:
        process: descriptor of the root folder of the process; -1 if inaccessible.
        host: descriptor of the host's folder of debug files; -1 if there is none.
        fetched: descriptor of the folder of fetched debug files; likewise.
    """

    process: int
    host: int
    fetched: int


def open_roots(folder: int, host: str, fetched: str) -> Roots:
    """Open the places where debug files are looked for.

    Args:
        folder: descriptor of the process' folder.
        host: the host's folder of debug files.
        fetched: folder of fetched debug files; empty: none.
    """
    return Roots(
        _open_folder("root", folder),
        _open_folder(host, None),
        _open_folder(fetched, None) if fetched else -1,
    )


def _open_folder(path: str, folder: int | None) -> int:
    try:
        return os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return -1


def read_links(files: Sequence[int | bytes], *, checksums: bool = False) -> list[Links | None]:
    """Return what files say about themselves, read by a confined process; None if unreadable.

    Args:
        files: descriptors, or bytes of files.
        checksums: True to compute the checksum of files without a build ID.
    """

    def read(write: Callable[[bytes], None]) -> None:
        for file in files:
            write(json.dumps(_row(file, checksums)).encode() + b"\n")

    lines = read_confined(read, _LINKS_BYTES, LINKS_S).split(b"\n")
    found = [_parse(line) for line in lines[: len(files)]]
    return [*found, *[None] * (len(files) - len(found))]


def _row(file: int | bytes, checksums: bool) -> list[object] | None:
    """Return the links of a file as JSON; None if it is no ELF file."""
    try:
        own = elf_links(file)
    except (OSError, ValueError):
        return None
    is_checked = checksums and not own["build_id"]
    return [
        own["build_id"].hex(),
        own["debug_name"][:_PATH_BYTES].hex(),
        own["debug_crc"],
        own["shared_path"][:_PATH_BYTES].hex(),
        own["shared_id"].hex(),
        own["base"],
        own["lines"],
        own["symbols"],
        _checksum(file) if is_checked and isinstance(file, int) else 0,
    ]


def _checksum(file: int) -> int:
    crc, place = 0, 0
    while place < _MAX_CHECKED_BYTES and (piece := os.pread(file, 1 << 20, place)):
        crc = zlib.crc32(piece, crc)
        place += len(piece)
    return crc


_KINDS = (str, str, int, str, str, int, bool, bool, int)


def _parse(line: bytes) -> Links | None:
    """Return a line of the confined process, or None if it is no such line."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, list) or tuple(type(one) for one in row) != _KINDS:
        return None
    try:
        build_id, name, path, shared_id = (bytes.fromhex(row[at]) for at in (0, 1, 3, 4))
    except ValueError:
        return None
    return Links(build_id.hex(), name, row[2], path, shared_id.hex(), *row[5:])


def open_debug_file(roots: Roots, path: bytes, program: Links) -> DebugFile | None:
    """Open the debug file of a program, or return None.

    Args:
        roots: where it is looked for.
        path: path of the program as its process sees it; empty if unknown.
        program: links of the program.
    """
    opened = list(_candidates(roots, path, program))
    found = None
    for file, links in zip(opened, read_links(opened, checksums=True), strict=True):
        if found is None and links is not None and _belongs(links, program):
            found = DebugFile(file, links)
        else:
            close(file)
    return found


def _candidates(roots: Roots, path: bytes, program: Links) -> Iterator[int]:
    yield from _by_id(roots, program.build_id)
    name, (folder, _, own) = program.debug_name, path.rpartition(b"/")
    if not folder or not _NAME.fullmatch(name):
        return
    places = [(roots.process, FOLDER + folder + b"/" + name), (roots.host, folder + b"/" + name)]
    places.append((roots.process, folder + b"/.debug/" + name))
    if name != own:
        places.append((roots.process, folder + b"/" + name))
    yield from _open_all(places)


def _by_id(roots: Roots, build_id: str) -> Iterator[int]:
    if len(build_id) > 2:
        path = f"/.build-id/{build_id[:2]}/{build_id[2:]}.debug".encode()
        places = [(roots.process, FOLDER + path), (roots.host, path), (roots.fetched, path)]
        yield from _open_all(places)


def _open_all(places: Sequence[tuple[int, bytes]]) -> Iterator[int]:
    for root, path in places:
        file = open_inside(root, path) if root >= 0 else -1
        if file >= 0:
            yield file


def _belongs(links: Links, program: Links) -> bool:
    if program.build_id or links.build_id:
        return links.build_id == program.build_id
    return links.checksum == program.debug_crc


def open_shared_file(roots: Roots, links: Links) -> int:
    """Open the supplementary file of a file with DWARF, or return -1.

    Args:
        roots: where it is looked for.
        links: links of the file with DWARF.
    """
    if not links.shared_id:
        return -1
    path = _SHARED + links.shared_path.partition(_SHARED)[2]
    opened = list(_by_id(roots, links.shared_id))
    opened += _open_all([(roots.process, FOLDER + path), (roots.host, path)])
    found = -1
    for file, its in zip(opened, read_links(opened), strict=True):
        if found < 0 and its is not None and its.build_id == links.shared_id:
            found = file
        else:
            close(file)
    return found
