"""Reader of ELF files: sections, segments, and symbols by name. Layouts: elf(5).

The file may be hostile: sizes in it are not trusted. At most `MAX_BYTES` are read, and at most
`MAX_INFLATED` are decompressed.

Build information of Go, by Go's debug/buildinfo: "\\xff Go buildinf:", pointer size, flags. Since
Go 1.18 two strings follow at byte 32, each with its length as a varint before it.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

PIECE = 1 << 20
MAX_BYTES = 512 << 20
MAX_INFLATED = 2 << 30
_MAX_SECTIONS = 4096
_MAX_SEGMENTS = 256
_LOADED = 1  # PT_LOAD
_THREAD_LOCAL = 7  # PT_TLS
_LONGEST_NAME = 64
_MAX_PLACES = 16
_LARGEST_FILE = 1 << 62
_TYPE_OBJECT = 1
_TYPE_FUNCTION = 2
_BY_ZLIB = 1  # ELFCOMPRESS_ZLIB

# columns: name, info, section, value, size
_SYMBOLS = {64: struct.Struct("<IBxHQQ"), 32: struct.Struct("<IIIBxH")}


class ElfError(Exception):
    """The file is not an ELF file of this kind, is damaged, or exceeds a bound."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its bytes in the file, and the section that it links to."""

    name: str
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or a function: linked address, and size in bytes."""

    address: int
    size: int


class Segment(NamedTuple):
    """A loaded segment: its range in the file, and its linked address and size in memory."""

    offset: int
    file_size: int
    address: int
    memory_size: int


class ThreadLocal(NamedTuple):
    """The thread-local segment: linked address, size in memory, and alignment."""

    address: int
    memory_size: int
    alignment: int


@dataclass(slots=True)
class Elf:
    """An open ELF file.

    Attributes:
        file: descriptor, owned by the caller.
        bits: class of the file, 32 or 64.
        machine: processor (e_machine).
        entry: linked address of the first instruction; the loader may relocate it.
        sections: all sections, in file order.
        segments: loaded segments, in file order.
        thread_local: thread-local segment; None if there are no thread-local variables.
    """

    file: int
    bits: int = 64
    entry: int = 0
    sections: tuple[Section, ...] = ()
    segments: tuple[Segment, ...] = ()
    thread_local: ThreadLocal | None = None
    machine: int = 0
    _read: int = 0
    _inflated: int = 0

    def section(self, name: str) -> Section | None:
        """Return the first section with a name, or None."""
        return next((section for section in self.sections if section.name == name), None)

    def content(self, section: Section, limit: int) -> bytes:
        """Return a section's bytes, at most ``limit``."""
        return self.read(min(section.size, limit), section.offset)

    def pieces(self, section: Section) -> Iterator[bytes]:
        """Yield a section's bytes, decompressed, in pieces of at most 1 MiB.

        Raises:
            ElfError: the section cannot be decompressed, or is too large.
        """
        header = struct.Struct("<IIQQ" if self.bits == 64 else "<III")
        pieces = (piece for _, piece in self.chunks(section, PIECE))
        first = next(pieces, b"")
        if len(first) < header.size or header.unpack_from(first)[0] != _BY_ZLIB:
            yield first
            yield from pieces
            return
        packed = zlib.decompressobj()
        piece = first[header.size :]
        while piece:
            try:
                plain = packed.decompress(piece, PIECE)
            except zlib.error as error:
                raise ElfError(f"a section cannot be uncompressed: {error}") from error
            self._inflated += len(plain)
            if self._inflated > MAX_INFLATED:
                raise ElfError("a section is too large when uncompressed")
            yield plain
            piece = b"" if packed.eof else packed.unconsumed_tail or next(pieces, b"")

    def variable(self, name: str) -> Symbol | None:
        """Find a variable in the symbol tables, or return None; stripped files export some."""
        return self._find(name, _TYPE_OBJECT)

    def function(self, name: str) -> Symbol | None:
        """Find a function in the symbol tables, or return None; stripped files export some."""
        return self._find(name, _TYPE_FUNCTION)

    def _find(self, name: str, kind: int) -> Symbol | None:
        for table in (self.section(".symtab"), self.section(".dynsym")):
            if table is None or table.link >= len(self.sections):
                continue
            found = self._find_in(table, name, kind)
            if found is not None:
                return found
        return None

    def _find_in(self, table: Section, name: str, kind: int) -> Symbol | None:
        names = [
            struct.pack("<I", place)
            for place in self._places(self.sections[table.link], name.encode())
        ]
        layout = _SYMBOLS[self.bits]
        for _, piece in self.chunks(table, PIECE - PIECE % layout.size):
            for wanted in names:
                found = piece.find(wanted)
                while 0 <= found <= len(piece) - layout.size:
                    if found % layout.size == 0:
                        symbol = self._symbol(layout, piece, found, kind)
                        if symbol is not None:
                            return symbol
                    found = piece.find(wanted, found + 1)
        return None

    def _symbol(self, layout: struct.Struct, piece: bytes, place: int, kind: int) -> Symbol | None:
        if self.bits == 64:
            _, info, section, value, size = layout.unpack_from(piece, place)
        else:
            _, value, size, info, section = layout.unpack_from(piece, place)
        return Symbol(value, size) if info & 0xF == kind and section else None

    def read(self, size: int, offset: int) -> bytes:
        """Return bytes of the file; none at offsets beyond any possible file.

        Raises:
            ElfError: more than `MAX_BYTES` were read of this file.
        """
        if offset >= _LARGEST_FILE:
            return b""
        data = os.pread(self.file, size, offset)
        self._read += len(data)
        if self._read > MAX_BYTES:
            raise ElfError(f"more than {MAX_BYTES >> 20} MiB of tables")
        return data

    def chunks(self, section: Section, step: int) -> Iterator[tuple[int, bytes]]:
        """Yield a section's bytes in pieces, each with its offset in the section."""
        for place in range(0, section.size, step):
            piece = self.read(min(step, section.size - place), section.offset + place)
            if not piece:
                return
            yield place, piece

    def _places(self, strings: Section, name: bytes) -> list[int]:
        """Return offsets of a name in a string table, whose strings end with a zero byte."""
        wanted = b"\0" + name + b"\0"
        places: list[int] = []
        before = b""
        for place, piece in self.chunks(strings, PIECE):
            joined = before + piece
            base = place - len(before)
            found = joined.find(wanted)
            while found >= 0:
                if base + found + 1 >= 1 << 32 or len(places) == _MAX_PLACES:
                    return places
                places.append(base + found + 1)
                found = joined.find(wanted, found + 1)
            before = joined[-len(wanted) + 1 :]
        return places


def read_elf(file: int) -> Elf:
    """Read the headers of an ELF file.

    Raises:
        ElfError: it is not a little-endian ELF file, or its headers are invalid.
    """
    elf = Elf(file)
    start = elf.read(64, 0)
    if len(start) < 16 or start[:4] != b"\x7fELF":
        raise ElfError("not an ELF file")
    if start[5] != 1 or start[4] not in (1, 2):
        raise ElfError("not a little-endian ELF file")
    elf.bits = 64 if start[4] == 2 else 32
    elf.machine = int.from_bytes(start[18:20], "little")
    if len(start) < (64 if elf.bits == 64 else 52):
        raise ElfError("cut off in its header")
    if elf.bits == 64:
        elf.entry, table = struct.unpack_from("<Q8xQ", start, 24)
        entry_size, count, names_index = struct.unpack_from("<HHH", start, 58)
        row = struct.Struct("<I20xQQI20x")
    else:
        elf.entry, table = struct.unpack_from("<I4xI", start, 24)
        entry_size, count, names_index = struct.unpack_from("<HHH", start, 46)
        row = struct.Struct("<I12xIII12x")
    _read_segments(elf, start)
    if count == 0 or table == 0:
        return elf
    if entry_size != row.size or count > _MAX_SECTIONS or names_index >= count:
        raise ElfError("damaged section table")
    headers = elf.read(row.size * count, table)
    if len(headers) != row.size * count:
        raise ElfError("section table outside of the file")
    rows = list(row.iter_unpack(headers))
    names = elf.read(min(rows[names_index][2], PIECE), rows[names_index][1])
    elf.sections = tuple(
        Section(_text(names, name), offset, size, link) for name, offset, size, link in rows
    )
    return elf


def _read_segments(elf: Elf, start: bytes) -> None:
    """Read the loaded segments from the program headers; none if they are damaged."""
    if elf.bits == 64:
        (table,) = struct.unpack_from("<Q", start, 32)
        entry_size, count = struct.unpack_from("<HH", start, 54)
        row = struct.Struct("<I4xQQ8xQQQ")
    else:
        (table,) = struct.unpack_from("<I", start, 28)
        entry_size, count = struct.unpack_from("<HH", start, 42)
        row = struct.Struct("<III4xII4xI")
    if entry_size != row.size or count > _MAX_SEGMENTS:
        return
    headers = elf.read(row.size * count, table)
    if len(headers) != row.size * count:
        return
    rows = list(row.iter_unpack(headers))
    elf.segments = tuple(
        Segment(offset, file_size, address, memory_size)
        for kind, offset, address, file_size, memory_size, _ in rows
        if kind == _LOADED
    )
    elf.thread_local = next(
        (
            ThreadLocal(address, memory_size, max(1, alignment))
            for kind, _, address, _, memory_size, alignment in rows
            if kind == _THREAD_LOCAL
        ),
        None,
    )


def _text(names: bytes, start: int) -> str:
    longest = names[start : start + _LONGEST_NAME]
    return longest.partition(b"\0")[0].decode("ascii", "replace")


MAGIC = b"\xff Go buildinf:"
_INLINE = 2
_STRINGS = 32
_LIMIT = 1 << 20
_SENTINEL = 16


@dataclass(frozen=True, slots=True)
class BuildInfo:
    """Build information of a Go program.

    Attributes:
        version: version such as "go1.26.8"; None in the format before Go 1.18.
        settings: build settings such as {"-buildmode": "pie", "GOARCH": "amd64"}.
    """

    version: str | None
    settings: dict[str, str]


def is_go(elf: Elf) -> bool:
    """Return True if the Go linker wrote this program."""
    return any(elf.section(name) for name in (".go.buildinfo", ".note.go.buildid"))


def read_build_info(elf: Elf) -> BuildInfo | None:
    """Return the build information of a program, or None if it has none."""
    section = elf.section(".go.buildinfo")
    if section is None:
        return None
    return parse_build_info(elf.content(section, _LIMIT))


def parse_build_info(data: bytes) -> BuildInfo | None:
    """Parse the section .go.buildinfo. Return None if it is damaged."""
    if not data.startswith(MAGIC) or len(data) < _STRINGS:
        return None
    if not data[15] & _INLINE:
        return BuildInfo(None, {})
    version, place = _string(data, _STRINGS)
    if version is None:
        return None
    modules, _ = _string(data, place)
    # Drop the experiment in "go1.26.8 X:nodwarf5".
    number = version.decode(errors="replace").split(" ", 1)[0]
    return BuildInfo(number, _settings(modules or b""))


def _settings(modules: bytes) -> dict[str, str]:
    lines = modules[_SENTINEL:-_SENTINEL].decode(errors="replace").splitlines()
    pairs = [line.split("\t", 1)[1] for line in lines if line.startswith("build\t")]
    return {key: value.strip('"') for key, _, value in (pair.partition("=") for pair in pairs)}


def _string(data: bytes, place: int) -> tuple[bytes | None, int]:
    """Return a varint-prefixed string, None if it is cut off, and the offset behind it."""
    length = shift = 0
    while place < len(data) and shift < 63:
        byte = data[place]
        place += 1
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            end = place + length
            return (data[place:end], end) if end <= len(data) else (None, place)
    return None, place
