"""Executables like those of Go's linker: a function table, and code that uses variables."""

import struct
from collections.abc import Mapping
from typing import NamedTuple

BASE = 0x400000
GOMAXPROCS, CUSTOM = 0x5000F0, 0x500208
"""Addresses that the code of `PROGRAM` uses."""


class Place(NamedTuple):
    """A function: from where on in the code, and its instructions."""

    start: int
    code: bytes


def relative(before: bytes, at: int, goal: int, after: bytes = b"") -> bytes:
    """An instruction of x86-64 with an address from its end on."""
    end = at + len(before) + 4 + len(after)
    return before + struct.pack("<i", goal - end) + after


def x86_code(text: int) -> dict[str, Place]:
    """Functions as Go compiles them, for code that begins at this address."""
    chooses, at = b"\x90", text + 0x40
    chooses += relative(b"\x48\x63\x0d", at + len(chooses), GOMAXPROCS)
    chooses += relative(b"\xc6\x05", at + len(chooses), CUSTOM, b"\1")
    at = text + 0x80
    resizes = relative(b"\x8b\x15", at, GOMAXPROCS)
    resizes += relative(b"\x48\x8d\x35", at + len(resizes), GOMAXPROCS) + b"\x89\xcf\x87\x3e"
    stops = relative(b"\x8b\x0d", text + 0xC0, GOMAXPROCS)
    starts = relative(b"\xc6\x05", text + 0x100, CUSTOM, b"\1")
    return {
        "runtime.first": Place(0, b"\xc3"),
        "runtime.GOMAXPROCS": Place(0x40, chooses),
        "runtime.procresize": Place(0x80, resizes),
        "runtime.stopTheWorldWithSema": Place(0xC0, stops),
        "runtime.schedinit": Place(0x100, starts),
    }


def function_table(functions: Mapping[str, Place], text: int) -> bytes:
    """The table: header, names, rows, descriptions."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in functions)
    names += bytes(-len(names) % 8)
    rows, described = b"", b""
    first = 8 * len(functions) + 8
    for name, place in functions.items():
        rows += struct.pack("<II", place.start, first + len(described))
        described += struct.pack("<II", place.start, names.find(name.encode() + b"\0")) + bytes(8)
    rows += struct.pack("<II", 0x140, 0)
    at = 72 + len(names)
    sizes = (len(functions), 1, text, 72, at, at, at, at)
    return struct.pack("<IHBB8Q", 0xFFFFFFF1, 0, 1, 8, *sizes) + names + rows + described


def stripped_program(*, text_in_header: bool = True, sections: bool = True) -> bytes:
    """A 64-bit executable of x86-64, all of it loaded at BASE.

    Args:
        text_in_header: whether the table says where the code begins; else moduledata does.
        sections: whether there are section headers.
    """
    head_size = 64 + 56
    text = BASE + head_size
    functions = x86_code(text)
    code = bytearray(b"\xcc" * 0x140)
    for place in functions.values():
        code[place.start : place.start + len(place.code)] = place.code
    table = function_table(functions, text if text_in_header else 0)
    table_at = head_size + len(code)
    module = struct.pack("<Q", BASE + table_at) + bytes(19 * 8)
    module += struct.pack("<QQQ", text, text + 0x140, text)
    module_at = table_at + len(table)
    module = bytes(-module_at % 8) + module
    names = b"\0.gopclntab\0.go.buildinfo\0.shstrtab\0"
    names_at = module_at + len(module)
    rows_at = names_at + len(names)
    rows = [(0, 0, 0), (1, table_at, len(table)), (12, module_at, 0), (26, names_at, len(names))]
    shown = b"".join(
        struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, at, size, 0, 0, 0, 0) for name, at, size in rows
    )
    count = len(rows) if sections else 0
    size = rows_at + len(shown)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    head = (2, 62, 1, text, 64, rows_at if sections else 0, 0, 64, 56, 1, 64, count, 3)
    loaded = struct.pack("<IIQQQQQQ", 1, 7, 0, BASE, BASE, size, 0x200000, 4096)
    start = ident + struct.pack("<HHIQQQIHHHHHH", *head) + loaded
    return start + bytes(code) + table + module + names + shown


PROGRAM = stripped_program()
