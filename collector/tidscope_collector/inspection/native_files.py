"""The file of a native frame and its debug files: found, opened, and read once rights are given up.

Imported by children alone, because it loads the native reader of ELF files.
"""

import ctypes
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import NamedTuple

from tidscope_sampler.native import elf_functions, elf_lines, elf_section

from tidscope_collector.inspection.answering import Places
from tidscope_collector.inspection.debug_files import (
    NO_LINKS,
    Links,
    Roots,
    open_debug_file,
    open_roots,
    open_shared_file,
    read_links,
)
from tidscope_collector.inspection.mapped_files import (
    DELETED,
    MappedFile,
    Missing,
    number_of_name,
    open_code,
)
from tidscope_collector.inspection.maps import MAPS_BYTES, Mapping, parse_maps
from tidscope_collector.inspection.process_files import read_beginning

_HAS_LZMA = find_spec("_lzma") is not None
"""True unless Python was built without it."""
if _HAS_LZMA:
    import lzma

MAX_FILES = 256
"""Maximum files of a process that are opened; further ones are not looked at."""

_COMPACT = ".gnu_debugdata"
"""Section with a compressed symbol table (MiniDebugInfo)."""
_COMPACT_BYTES = 16 << 20
_INFLATED_BYTES = 64 << 20
_VDSO = {
    number_of_name(name) for name in (b"[vdso]", b"vdso", b"linux-vdso.so.1", b"linux-vdso.1.so")
}
"""Names of the library that the kernel maps into each process."""
_MAX_ADDRESS = (1 << 64) - 1

Place = tuple[str, str, int]
"""Function as linkers know it, path of its source, and line."""


class Source(NamedTuple):
    """A file with names.

    Attributes:
        file: descriptor, or bytes of the file.
        shift: difference of its addresses to those of the program.
        symbols: True if it has the symbol table for debugging.
        lines: True if it has DWARF.
        shared: supplementary file of its DWARF; -1 without one.
    """

    file: int | bytes
    shift: int = 0
    symbols: bool = False
    lines: bool = False
    shared: int = -1


class _Code(NamedTuple):
    """The file that holds the code, and its path as the process sees it."""

    path: bytes
    file: int | bytes
    links: Links


def open_sources(
    folder: int, mappings: Sequence[Mapping], file_name: int, build_id: str, places: Places
) -> tuple[list[Source], Missing]:
    """Open a mapped file and its debug file, the one with most names first.

    Args:
        folder: descriptor of the process' folder.
        mappings: mappings of the process.
        file_name: number of the base name of the file.
        build_id: build ID of the file, hexadecimal; empty if it has none.
        places: have the folders of debug files.

    Returns:
        The files, and why there are none.
    """
    code, missing = _find_code(folder, mappings, file_name, build_id)
    # A debug file has names even if the program is not mapped any more.
    links = NO_LINKS._replace(build_id=build_id) if code is None else code.links
    roots = open_roots(folder, places.debug, places.fetched)
    found = []
    if not links.lines:
        other = open_debug_file(roots, b"" if code is None else code.path, links)
        if other is not None:
            shift = 0 if code is None else other.links.base - links.base
            found.append(_source(roots, other.file, other.links, shift))
    if code is not None:
        found.append(_source(roots, code.file, links, 0))
    return found, "" if found else missing


def _source(roots: Roots, file: int | bytes, links: Links, shift: int) -> Source:
    return Source(file, shift, links.symbols, links.lines, open_shared_file(roots, links))


def _find_code(
    folder: int, mappings: Sequence[Mapping], file_name: int, build_id: str
) -> tuple[_Code | None, Missing]:
    if file_name in _VDSO:
        return _find_vdso(build_id)

    def is_named(path: bytes) -> bool:
        return number_of_name(path.rpartition(b"/")[2]) == file_name

    found, missing = _choose(open_code(folder, mappings, is_named, MAX_FILES), build_id)
    if found is None and build_id:
        others = open_code(folder, mappings, lambda path: not is_named(path), MAX_FILES)
        found, _ = _choose(others, build_id)
    if missing == "gone" and any(is_named(one.path.removesuffix(DELETED)) for one in mappings):
        missing = "unreadable"
    return found, "" if found else missing


def _choose(opened: Sequence[MappedFile], build_id: str) -> tuple[_Code | None, Missing]:
    """Return the file with a build ID; without one the only file that has none."""
    read = zip(opened, read_links([one.file for one in opened]), strict=True)
    found = [(one, links) for one, links in read if links is not None]
    fitting = [
        _Code(one.path, one.file, links)
        for one, links in found
        # Without a build ID only the mapping tells that a file is the right one.
        if links.build_id == build_id and (build_id or one.is_mapped)
    ]
    if fitting and (build_id or len(fitting) == 1):
        return fitting[0], ""
    if fitting:
        return None, "ambiguous"
    return None, "replaced" if found else "unreadable" if opened else "gone"


def _find_vdso(build_id: str) -> tuple[_Code | None, Missing]:
    """Return the library that the kernel maps into all processes of this processor's class."""
    own = os.open("self/maps", os.O_RDONLY | os.O_CLOEXEC)
    for one in parse_maps(read_beginning(own, MAPS_BYTES)):
        if one.path == b"[vdso]":
            data = ctypes.string_at(one.start, one.end - one.start)
            (links,) = read_links([data])
            if links is not None and build_id in ("", links.build_id):
                return _Code(b"", data, links), ""
    return None, "gone"


def functions(sources: Sequence[Source], addresses: Collection[int]) -> dict[int, str]:
    """Return functions by address as linkers know them. Called once rights are given up.

    Args:
        sources: files, the one with most names first.
        addresses: addresses in the program.
    """
    found: dict[int, str] = {}
    for source in sources:
        left = [address for address in addresses if address not in found]
        found |= _functions(source.file, source.shift, left)
    left = [address for address in addresses if address not in found]
    if left and not any(source.symbols for source in sources):
        for source in sources:
            found |= _functions(_compact_symbols(source.file), source.shift, left)
    return found


def _functions(file: int | bytes, shift: int, addresses: Collection[int]) -> dict[int, str]:
    shifted = _shifted(addresses, shift)
    try:
        found = elf_functions(file, list(shifted)) if file != b"" else []
    except (OSError, ValueError):
        return {}
    return {shifted[address]: name for address, name in found}


def _shifted(addresses: Collection[int], shift: int) -> dict[int, int]:
    """Return addresses of the program by those of a file."""
    moved = {address + shift: address for address in addresses}
    return {theirs: ours for theirs, ours in moved.items() if 0 <= theirs <= _MAX_ADDRESS}


def _compact_symbols(file: int | bytes) -> bytes:
    """Return the file with symbols that is compressed in a section; empty without one."""
    try:
        packed = elf_section(file, _COMPACT, _COMPACT_BYTES)
        if not packed or not _HAS_LZMA:
            return b""
        unpacker = lzma.LZMADecompressor(memlimit=_INFLATED_BYTES)
        return unpacker.decompress(packed, max_length=_INFLATED_BYTES)
    except (OSError, ValueError, lzma.LZMAError):
        return b""


def lines(
    sources: Sequence[Source],
    addresses: Collection[int],
    each: Callable[[int, Sequence[Place]], None],
) -> None:
    """Call a function with an address and its places, the innermost one first, for each known one.

    Called once rights are given up. Places are those of the first file with DWARF.

    Args:
        sources: files, the one with most names first.
        addresses: addresses in the program.
        each: takes an address and its places.
    """
    source = next((one for one in sources if one.lines), None)
    if source is None:
        return
    shifted = _shifted(addresses, source.shift)
    shared = source.shared if source.shared >= 0 else None
    # Damaged DWARF leaves what symbol tables give.
    with suppress(OSError, ValueError):
        elf_lines(
            source.file,
            shared,
            list(shifted),
            lambda address, places: each(shifted[address], places),
        )
