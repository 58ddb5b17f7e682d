"""The few parts of an ELF file that tell what a program is and where its symbols are.

Everything is read through a descriptor in pieces of at most a MiB: tables of symbols have tens of
megabytes, and another thread samples meanwhile, so no step may hold the interpreter for long.
Layouts: elf(5).
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

PIECE = 1 << 20
_MAX_SECTIONS = 4096
_LARGEST_FILE = 1 << 62
_TYPE_OBJECT = 1

_SYMBOLS = {
    64: np.dtype(
        [
            ("name", "<u4"),
            ("info", "u1"),
            ("other", "u1"),
            ("section", "<u2"),
            ("value", "<u8"),
            ("size", "<u8"),
        ]
    ),
    32: np.dtype(
        [
            ("name", "<u4"),
            ("value", "<u4"),
            ("size", "<u4"),
            ("info", "u1"),
            ("other", "u1"),
            ("section", "<u2"),
        ]
    ),
}


class ElfError(Exception):
    """Not an ELF file of this kind of machine, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section: where its bytes are in the file, and the section that it refers to."""

    name: str
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable: its address as linked, and its size in bytes."""

    address: int
    size: int


@dataclass(frozen=True, slots=True)
class Elf:
    """An opened ELF file.

    Attributes:
        file: descriptor, owned by the caller.
        bits: 32 or 64.
        entry: address of the first instruction as linked; the loader tells where it really is.
        sections: in file order.
    """

    file: int
    bits: int
    entry: int
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    def content(self, section: Section, limit: int) -> bytes:
        """A section's bytes, at most ``limit``."""
        return _read(self.file, min(section.size, limit), section.offset)

    def pieces(self, section: Section) -> Iterator[bytes]:
        """A section's bytes, at most a MiB at a time."""
        return (piece for _, piece in _pieces(self.file, section, PIECE))

    def variable(self, name: str) -> Symbol | None:
        """Find a variable in the symbol table; None if it is not there, as in a stripped file."""
        table = self.section(".symtab")
        if table is None or table.link >= len(self.sections):
            return None
        places = list(_places(self.file, self.sections[table.link], name.encode()))
        if not places:
            return None
        layout = _SYMBOLS[self.bits]
        for _, piece in _pieces(self.file, table, PIECE - PIECE % layout.itemsize):
            symbols = np.frombuffer(piece[: len(piece) - len(piece) % layout.itemsize], layout)
            for row in np.flatnonzero(np.isin(symbols["name"], places)):
                if symbols["info"][row] & 0xF == _TYPE_OBJECT and symbols["section"][row]:
                    return Symbol(int(symbols["value"][row]), int(symbols["size"][row]))
        return None


def read_elf(file: int) -> Elf:
    """Read the headers.

    Raises:
        ElfError: it is not a little-endian ELF file, or its headers point outside of it.
    """
    start = _read(file, 64, 0)
    if len(start) < 16 or start[:4] != b"\x7fELF":
        raise ElfError("not an ELF file")
    if start[5] != 1 or start[4] not in (1, 2):
        raise ElfError("not a little-endian ELF file")
    bits = 64 if start[4] == 2 else 32
    if len(start) < (64 if bits == 64 else 52):
        raise ElfError("cut off in its header")
    if bits == 64:
        entry, table = struct.unpack_from("<Q8xQ", start, 24)
        entry_size, count, names_index = struct.unpack_from("<HHH", start, 58)
        row = struct.Struct("<I20xQQI20x")
    else:
        entry, table = struct.unpack_from("<I4xI", start, 24)
        entry_size, count, names_index = struct.unpack_from("<HHH", start, 46)
        row = struct.Struct("<I12xIII12x")
    if count == 0 or table == 0:
        return Elf(file, bits, entry, ())
    if entry_size != row.size or count > _MAX_SECTIONS or names_index >= count:
        raise ElfError("damaged section table")
    headers = _read(file, row.size * count, table)
    if len(headers) != row.size * count:
        raise ElfError("section table outside of the file")
    rows = list(row.iter_unpack(headers))
    names = _read(file, min(rows[names_index][2], PIECE), rows[names_index][1])
    return Elf(
        file,
        bits,
        entry,
        tuple(Section(_text(names, name), offset, size, link) for name, offset, size, link in rows),
    )


def _read(file: int, size: int, offset: int) -> bytes:
    """Bytes of a file; none where a damaged header points beyond what a file can have."""
    return os.pread(file, size, offset) if offset < _LARGEST_FILE else b""


def _text(names: bytes, start: int) -> str:
    end = names.find(b"\0", start)
    return names[start : end if end >= 0 else len(names)].decode(errors="replace")


def _pieces(file: int, section: Section, step: int) -> Iterator[tuple[int, bytes]]:
    """The section's bytes in pieces, each with its place in the section."""
    for place in range(0, section.size, step):
        piece = _read(file, min(step, section.size - place), section.offset + place)
        if not piece:
            return
        yield place, piece


def _places(file: int, strings: Section, name: bytes) -> Iterator[int]:
    """Where a name stands in a table of strings that end in a zero."""
    wanted = b"\0" + name + b"\0"
    before = b""
    for place, piece in _pieces(file, strings, PIECE):
        joined = before + piece
        base = place - len(before)
        found = joined.find(wanted)
        while found >= 0:
            yield base + found + 1
            found = joined.find(wanted, found + 1)
        before = joined[-len(wanted) + 1 :]
