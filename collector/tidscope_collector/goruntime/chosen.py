"""Whether a Go program chose its GOMAXPROCS itself, read from its memory.

Since Go 1.25 the runtime follows changes of the affinity, unless GOMAXPROCS came from the
environment or from a call of runtime.GOMAXPROCS. It remembers that in the bool customGOMAXPROCS of
its variable runtime.sched (runtime/runtime2.go), whose place in there differs between versions and
is reported by the program's debug information.
"""

import os
import struct
import zlib
from collections.abc import Iterator

from tidscope_collector.goruntime.elf import PIECE, Elf, ElfError, Section, read_elf
from tidscope_collector.goruntime.gomaxprocs import entry_address
from tidscope_collector.procfs.files import ProcFs

FIELD = b"customGOMAXPROCS"
_COMPRESSED_BY_ZLIB = 1  # ELFCOMPRESS_ZLIB, elf(5)
_LARGEST_PLACE = 1 << 16


def chosen_by_program(pid: int, procfs: ProcFs) -> bool | None:
    """Whether the environment or the program itself set GOMAXPROCS; None if that cannot be read.

    It cannot when the program has no debug information (built with -ldflags=-w), or when this user
    may not read its memory. Takes a while for a large program: all of its debug information is
    looked through.
    """
    try:
        file = os.open(procfs.path(f"{pid}/exe"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _read(pid, procfs, read_elf(file))
    except (ElfError, OSError, zlib.error):
        return None
    finally:
        os.close(file)


def _read(pid: int, procfs: ProcFs, elf: Elf) -> bool | None:
    sched = elf.variable("runtime.sched")
    place = field_place(elf)
    entry = entry_address(procfs.read(f"{pid}/auxv", 4096), elf.bits)
    if sched is None or place is None or entry is None or place >= sched.size:
        return None
    memory = os.open(procfs.path(f"{pid}/mem"), os.O_RDONLY | os.O_CLOEXEC)
    try:
        value = os.pread(memory, 1, sched.address + entry - elf.entry + place)
    finally:
        os.close(memory)
    return {b"\0": False, b"\1": True}.get(value)


def field_place(elf: Elf) -> int | None:
    """Bytes from the beginning of runtime.sched to the field; None if it is not reported.

    Go's linker writes the name of a field into its entry, and its place right behind, as a ULEB128
    (cmd/internal/dwarf, DW_ABRV_STRUCTFIELD).
    """
    section = elf.section(".debug_info")
    if section is None:
        return None
    wanted = FIELD + b"\0"
    before = b""
    for piece in _plain(elf, section):
        joined = before + piece
        found = joined.find(wanted)
        # The number behind must be in it as a whole; else it is found with the next piece.
        if 0 <= found <= len(joined) - len(wanted) - 4:
            return _uleb128(joined[found + len(wanted) :])
        before = joined[-len(wanted) - 4 :]
    return None


def _plain(elf: Elf, section: Section) -> Iterator[bytes]:
    """The section's bytes, uncompressed."""
    header = struct.Struct("<IIQQ" if elf.bits == 64 else "<III")
    pieces = elf.pieces(section)
    first = next(pieces, b"")
    if len(first) < header.size or header.unpack_from(first)[0] != _COMPRESSED_BY_ZLIB:
        yield first
        yield from pieces
        return
    packed = zlib.decompressobj()
    piece = first[header.size :]
    while piece:
        yield packed.decompress(piece, PIECE)
        piece = packed.unconsumed_tail or next(pieces, b"")


def _uleb128(data: bytes) -> int | None:
    value = 0
    for shift, byte in enumerate(data[:4]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value if value < _LARGEST_PLACE else None
    return None
