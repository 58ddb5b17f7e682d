"""Code of a Go program's functions by name, from the pclntab, which stripped programs keep.

The runtime needs the table to unwind stacks. It has a header, names, and the offset and name of
each function (runtime/symtab.go, pcHeader, functab and _func; cmd/link/internal/ld/pcln.go). The
layout here is that of Go 1.18 and newer. The header holds the start of the code. If the linker
would have to relocate that, it is in the runtime's moduledata, which points to the table.

Variables are found by the addresses that they hold. Layouts: elf(5).
"""

import struct
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from tidscope_collector.goruntime.elf import PIECE, Elf, Section

_MAGICS = (0xFFFFFFF0, 0xFFFFFFF1)
"""Magic numbers of Go 1.18, and of 1.20 and newer (internal/abi/symtab.go)."""
_HEADER = struct.Struct("<IHBB8Q")
_ROW = struct.Struct("<II")
_MAX_FUNCTIONS = 1 << 22
_LARGEST_FUNCTION = 1 << 16
_MAX_PLACES = 64
_POINTER = struct.Struct("<Q")
_RELOCATION = struct.Struct("<QQQ")
_RELATIVE = {62: 8, 183: 1027}
"""Relocation types R_X86_64_RELATIVE and R_AARCH64_RELATIVE, by e_machine."""
_MIN_PC, _TEXT = 20 * 8, 22 * 8
"""Offsets in moduledata, behind a pointer, six slices and findfunctab; maxpc is between them."""


class Code(NamedTuple):
    """A function: linked address and instructions."""

    address: int
    code: bytes


class _Table(NamedTuple):
    """The table: its range in the file, its address, and its header."""

    offset: int
    size: int
    address: int
    functions: int
    text: int
    names: int
    names_end: int
    rows: int


def find_code(elf: Elf, name: str) -> Code | None:
    """Return the code of a function, or None if it is not found.

    Raises:
        ElfError: the file exceeds the read bound.
    """
    if elf.bits != 64:
        return None
    for table in _tables(elf):
        for name_place in _find_all(elf, table, table.names, table.names_end, _quoted(name), 1):
            found = _function(elf, table, name_place + 1 - table.names)
            text = None if found is None else _text(elf, table)
            if found is not None and text is not None:
                start, end = found
                offset = _offset(elf, text + start)
                code = b"" if offset is None else elf.read(end - start, offset)
                return Code(text + start, code) if len(code) == end - start else None
    return None


def _tables(elf: Elf) -> Iterator[_Table]:
    named = [one for one in elf.sections if one.name.endswith("gopclntab")]
    for section in named:
        table = _read_header(elf, section.offset, section.size)
        if table is not None:
            yield table
    if named:
        return
    for segment in elf.segments:
        whole = Section("", segment.offset, segment.file_size, 0)
        for magic in _MAGICS:
            wanted = struct.pack("<IH", magic, 0)
            for place in _places(elf, whole, wanted, 8):
                table = _read_header(elf, segment.offset + place, segment.file_size - place)
                if table is not None:
                    yield table


def _read_header(elf: Elf, offset: int, size: int) -> _Table | None:
    head = elf.read(_HEADER.size, offset)
    address = _address(elf, offset)
    if len(head) != _HEADER.size or address is None:
        return None
    magic, pad, step, pointer, functions, _, text, names, units, _, _, rows = _HEADER.unpack(head)
    if magic not in _MAGICS or pad or step not in (1, 4) or pointer != 8:
        return None
    if not 0 < functions <= _MAX_FUNCTIONS:
        return None
    if not _HEADER.size <= names <= units <= rows <= size - _ROW.size * functions:
        return None
    return _Table(offset, size, address, functions, text, names, units, rows)


def _function(elf: Elf, table: _Table, name: int) -> tuple[int, int] | None:
    """Return start and end of the function with this name, relative to the start of the code."""
    behind = table.rows + _ROW.size * table.functions
    for place in _find_all(elf, table, behind, table.size, struct.pack("<I", name), 4):
        described = elf.read(4, table.offset + place - 4)
        if len(described) == 4:
            (start,) = struct.unpack("<I", described)
            end = _end(elf, table, start, place - 4 - table.rows)
            if end is not None and start < end <= start + _LARGEST_FUNCTION:
                return start, end
    return None


def _end(elf: Elf, table: _Table, start: int, described: int) -> int | None:
    """Return the end of the function that starts here, if its row has this description."""
    low, high = 0, table.functions
    while low < high:
        middle = (low + high) // 2
        row = elf.read(12, table.offset + table.rows + _ROW.size * middle)
        if len(row) != 12:
            return None
        begins, at, ends = struct.unpack("<III", row)
        if begins == start:
            return ends if at == described else None
        if begins < start:
            low = middle + 1
        else:
            high = middle
    return None


def _text(elf: Elf, table: _Table) -> int | None:
    """Return the address of the first function's code, or None."""
    if table.text:
        return table.text
    first = elf.read(4, table.offset + table.rows)
    if len(first) != 4:
        return None
    for module in _modules(elf, table.address):
        text = _pointer(elf, module + _TEXT)
        if text and _pointer(elf, module + _MIN_PC) == text + struct.unpack("<I", first)[0]:
            return text
    return None


def _modules(elf: Elf, table: int) -> Iterator[int]:
    """Yield addresses of pointers to the table, in the file or made by relocations."""
    wanted = _POINTER.pack(table)
    for segment in elf.segments:
        whole = Section("", segment.offset, segment.file_size, 0)
        for place in _places(elf, whole, wanted, 8):
            yield segment.address + place
    for row in _relocations(elf, wanted, 16):
        if row[2] == table:
            yield row[0]


def _pointer(elf: Elf, address: int) -> int | None:
    """Return the value of a pointer before the program is relocated."""
    for row in _relocations(elf, _POINTER.pack(address % (1 << 64)), 0):
        if row[0] == address:
            return row[2]
    offset = _offset(elf, address)
    data = b"" if offset is None else elf.read(8, offset)
    return _POINTER.unpack(data)[0] if len(data) == 8 else None


def _relocations(elf: Elf, wanted: bytes, column: int) -> Iterator[tuple[int, int, int]]:
    """Yield relative relocations that have this value in this column."""
    section = elf.section(".rela.dyn") or elf.section(".rela")
    if section is None:
        return
    step = PIECE - PIECE % _RELOCATION.size
    for _, piece in elf.chunks(section, step):
        found = piece.find(wanted)
        while found >= 0:
            start = found - column
            if start >= 0 and start % _RELOCATION.size == 0:
                row = piece[start : start + _RELOCATION.size]
                if len(row) == _RELOCATION.size:
                    values = _RELOCATION.unpack(row)
                    if values[1] == _RELATIVE.get(elf.machine):
                        yield values
            found = piece.find(wanted, found + 1)


def _find_all(
    elf: Elf, table: _Table, start: int, end: int, wanted: bytes, step: int
) -> Iterator[int]:
    """Yield offsets of bytes in a part of the table, relative to the table's start."""
    part = Section("", table.offset + start, end - start, 0)
    return (start + place for place in _places(elf, part, wanted, step))


def _places(elf: Elf, part: Section, wanted: bytes, step: int) -> Iterator[int]:
    before, count = b"", 0
    for place, piece in elf.chunks(part, PIECE):
        joined = before + piece
        base = place - len(before)
        found = joined.find(wanted)
        while found >= 0:
            if (base + found) % step == 0:
                yield base + found
                count += 1
                if count == _MAX_PLACES:
                    return
            found = joined.find(wanted, found + 1)
        before = joined[-len(wanted) + 1 :]


def _quoted(name: str) -> bytes:
    return b"\0" + name.encode() + b"\0"


def _offset(elf: Elf, address: int) -> int | None:
    """Return the file offset of an address, or None."""
    for segment in elf.segments:
        if 0 <= address - segment.address < segment.file_size:
            return segment.offset + address - segment.address
    return None


def _address(elf: Elf, offset: int) -> int | None:
    for segment in elf.segments:
        if 0 <= offset - segment.offset < segment.file_size:
            return segment.address + offset - segment.offset
    return None


MAX_SYMBOLS = 4 << 20
LONGEST_NAME = 256

_TABLES = (".symtab", ".dynsym")
_KINDS = (0, 1)
"""Symbol types STT_NOTYPE, used by assembly, and STT_OBJECT."""
_THREAD_LOCAL = (6,)
"""Symbol type STT_TLS."""
_UNDEFINED, _FIRST_RESERVED = 0, 0xFF00

# columns: name, info, section, value, size; in the order of each class
_ROWS = {64: struct.Struct("<IBxHQQ"), 32: struct.Struct("<IIIBxH")}


class Variable(NamedTuple):
    """A variable: name, linked address, and size in bytes."""

    name: str
    address: int
    size: int


def variables_at(
    elf: Elf, addresses: Sequence[int], *, thread_local: bool = False
) -> dict[int, Variable]:
    """Return the smallest variable that holds each address, if any.

    A stripped file keeps the symbols for dynamic linking.

    Args:
        elf: ELF file.
        addresses: linked addresses; offsets in the thread-local segment for thread-local variables.
        thread_local: True for thread-local variables.

    Raises:
        ElfError: a table is too large.
    """
    found: dict[int, Variable] = {}
    for name in _TABLES:
        left = sorted(set(addresses) - found.keys())
        table = elf.section(name)
        if left and table is not None and table.link < len(elf.sections):
            kinds = _THREAD_LOCAL if thread_local else _KINDS
            found |= _search(elf, table, left, kinds)
    return found


def _search(
    elf: Elf, table: Section, addresses: Sequence[int], kinds: Collection[int]
) -> dict[int, Variable]:
    row = _ROWS[elf.bits]
    best: dict[int, tuple[int, int, int]] = {}
    seen = 0
    for _, piece in elf.chunks(table, PIECE - PIECE % row.size):
        whole = piece[: len(piece) - len(piece) % row.size]
        seen += len(whole) // row.size
        for fields in row.iter_unpack(whole):
            if elf.bits == 64:
                name, info, section, value, size = fields
            else:
                name, value, size, info, section = fields
            if not size or info & 0xF not in kinds or not _UNDEFINED < section < _FIRST_RESERVED:
                continue
            at = bisect_left(addresses, value)
            while at < len(addresses) and addresses[at] < value + size:
                address = addresses[at]
                if address not in best or size < best[address][0]:
                    best[address] = (size, value, name)
                at += 1
        if seen > MAX_SYMBOLS:
            break
    strings = elf.sections[table.link]
    return {
        address: Variable(_name(elf, strings, name), value, size)
        for address, (size, value, name) in best.items()
    }


def _name(elf: Elf, strings: Section, place: int) -> str:
    if place >= strings.size:
        return ""
    data = elf.read(min(LONGEST_NAME, strings.size - place), strings.offset + place)
    return data.partition(b"\0")[0].decode("utf-8", "replace")
