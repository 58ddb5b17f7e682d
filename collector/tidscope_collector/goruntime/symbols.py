"""Variables of an ELF file by the addresses that they hold. Layouts: elf(5)."""

import struct
from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tidscope_collector.goruntime.elf import PIECE, Elf, Section

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
