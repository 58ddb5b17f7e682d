"""Any bytes as an executable: parsing it ends, within its bounds, or refuses it."""

import os
import struct
import tempfile
import zlib
from collections.abc import Sequence
from unittest.mock import patch

from fuzz.patches import patched
from go_tables import PROGRAM as STRIPPED
from tidscope_collector.goruntime import elf as module
from tidscope_collector.goruntime.elf import MAGIC, PIECE, ElfError, read_build_info, read_elf
from tidscope_collector.goruntime.functions import LONGEST_NAME, variables_at
from tidscope_collector.goruntime.runtime_variables import (
    FIELD,
    SCHED,
    chosen_address,
    gomaxprocs_address,
)
from tidscope_collector.inspection.opened_process import runtime_of_executable

MAX_BYTES = 4 << 20
"""Bounds on read and uncompressed bytes of one file; small, so that they are exceeded soon."""


def build_elf(sections: Sequence[tuple[bytes, bytes, int]]) -> bytes:
    """A 64-bit ELF file of sections, each a name, a content and an index of another; names last."""
    names = b"\0" + b"".join(name + b"\0" for name, _, _ in sections) + b".shstrtab\0"
    contents = [*(content for _, content, _ in sections), names]
    links = [*(link for _, _, link in sections), 0]
    places = [names.find(b"\0" + name + b"\0") + 1 for name, _, _ in sections]
    places.append(names.find(b"\0.shstrtab\0") + 1)
    offset, rows = 64, bytes(64)
    for place, content, link in zip(places, contents, links, strict=True):
        rows += struct.pack("<IIQQQQIIQQ", place, 1, 0, 0, offset, len(content), link, 0, 0, 0)
        offset += len(content)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    count = len(contents) + 1
    head = struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, 0x1234, 0, offset, 0, 64, 0, 0, 64, count, count - 1
    )
    return ident + head + b"".join(contents) + rows


def _go_program() -> bytes:
    strings = b"\0runtime.gomaxprocs\0" + SCHED.encode() + b"\0"
    symbols = b"".join(
        struct.pack("<IBBHQQ", strings.find(name), 1, 0, 1, 0x4000, size)
        for name, size in ((b"runtime.gomaxprocs", 4), (SCHED.encode(), 4096))
    )
    debug = zlib.compress(b"\0" * 200 + FIELD + b"\0\x88\x10" + bytes(100))
    info = MAGIC + bytes([8, 2]) + bytes(16) + b"\x08go1.26.8\x00"
    return build_elf(
        [
            (b".symtab", symbols, 2),
            (b".strtab", strings, 0),
            (b".go.buildinfo", info, 0),
            (b".debug_info", struct.pack("<IIQQ", 1, 0, 400, 1) + debug, 0),
        ]
    )


PROGRAM = _go_program()


def file_of(data: bytes) -> bytes:
    """Decode fuzz bytes: patches to the Go program, or to the stripped one behind a byte of 254, or
    the file itself behind a byte of 255."""
    if data[:1] == b"\xff":
        return data[1:]
    if data[:1] == b"\xfe":
        return patched(STRIPPED, data[1:])
    return patched(PROGRAM, data)


def check_elf(data: bytes) -> None:
    """Parse bytes as all that is parsed of an executable.

    Raises:
        AssertionError: something is larger than it may be.
    """
    with (
        tempfile.TemporaryFile() as file,
        patch.object(module, "MAX_BYTES", MAX_BYTES),
        patch.object(module, "MAX_INFLATED", MAX_BYTES),
    ):
        file.write(file_of(data))
        file.flush()
        _check(file.fileno())


def _check(file: int) -> None:
    size = os.fstat(file).st_size
    assert runtime_of_executable("/bin/program", file).runtime in ("go", "native")
    try:
        elf = read_elf(file)
        assert sum(len(section.name) for section in elf.sections) <= 64 * size
        read_build_info(elf)
        for name in ("runtime.gomaxprocs", SCHED):
            symbol = elf.variable(name)
            assert symbol is None or 0 <= symbol.address < 1 << 64
        chosen_address(elf)
        found = gomaxprocs_address(elf)
        assert found is None or found % 4 == 0
        asked = [0x4000, 0x4FFF, 0, (1 << 64) - 1]
        for address, variable in variables_at(elf, asked).items():
            assert 0 <= address - variable.address < variable.size
            assert len(variable.name) <= LONGEST_NAME
        assert len(elf.segments) <= 256
        for section in elf.sections:
            assert all(len(piece) <= PIECE for piece in elf.pieces(section))
    except ElfError:
        pass
