"""Variables of Go's runtime in programs without symbols: function table and code."""

import os
import struct
from collections.abc import Iterator

import pytest
from go_tables import BASE, CUSTOM, GOMAXPROCS, PROGRAM, stripped_program
from tidscope_collector.goruntime.elf import Elf, read_elf
from tidscope_collector.goruntime.functions import Code, find_code
from tidscope_collector.goruntime.runtime_variables import (
    AARCH64,
    X86_64,
    chosen_address,
    custom_address,
    gomaxprocs_address,
    variables_of,
)


@pytest.fixture
def file() -> Iterator[int]:
    descriptor = os.memfd_create("program")
    yield descriptor
    os.close(descriptor)


def opened(file: int, data: bytes) -> Elf:
    os.pwrite(file, data, 0)
    return read_elf(file)


@pytest.mark.parametrize("text_in_header", [True, False])
@pytest.mark.parametrize("sections", [True, False])
def test_variables_are_found_by_the_code(text_in_header: bool, sections: bool, file: int) -> None:
    elf = opened(file, stripped_program(text_in_header=text_in_header, sections=sections))
    assert gomaxprocs_address(elf) == GOMAXPROCS
    assert custom_address(elf) == chosen_address(elf) == CUSTOM
    code = find_code(elf, "runtime.first")
    assert code is not None
    assert (code.address, len(code.code)) == (BASE + 64 + 56, 0x40)
    assert find_code(elf, "runtime.nothing") is None


def test_a_program_that_does_not_call_gomaxprocs(file: int) -> None:
    elf = opened(file, PROGRAM.replace(b"runtime.GOMAXPROCS", b"runtime.GOMAXPROCX"))
    assert gomaxprocs_address(elf) == GOMAXPROCS
    assert custom_address(elf) is None


@pytest.mark.parametrize("function", ["procresize", "stopTheWorldWithSema"])
def test_without_a_second_function_nothing_is_believed(function: str, file: int) -> None:
    name = f"runtime.{function}".encode()
    assert gomaxprocs_address(opened(file, PROGRAM.replace(name, b"X" * len(name)))) is None


def test_functions_that_disagree_are_not_believed(file: int) -> None:
    stored = PROGRAM.find(b"\x48\x8d\x35")
    (distance,) = struct.unpack_from("<i", PROGRAM, stored + 3)
    changed = bytearray(PROGRAM)
    struct.pack_into("<i", changed, stored + 3, distance + 4)
    assert gomaxprocs_address(opened(file, bytes(changed))) is None


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 0), (4, 1), (6, 3), (7, 4), (8, 0), (15, 1), (39, 1), (71, 1), (64, 1)],
)
def test_a_damaged_header_is_no_table(place: int, value: int, file: int) -> None:
    changed = bytearray(PROGRAM)
    changed[PROGRAM.find(struct.pack("<I", 0xFFFFFFF1)) + place] = value
    assert gomaxprocs_address(opened(file, bytes(changed))) is None


def test_a_position_independent_program(file: int) -> None:
    """Pointers of moduledata are made by relocations when it is loaded."""
    program = bytearray(stripped_program(text_in_header=False))
    table = program.find(struct.pack("<IH", 0xFFFFFFF1, 0))
    module = program.find(struct.pack("<Q", BASE + table))
    text = BASE + 64 + 56
    relocations = b"".join(
        struct.pack("<QQQ", BASE + module + place, 8, value)
        for place, value in ((0, BASE + table), (160, text), (176, text))
    )
    program[module : module + 184] = bytes(184)
    names = program.find(b"\0.gopclntab")
    at = len(program)
    program += relocations
    # The section .go.buildinfo is one of relocations now.
    program[names + 11 : names + 24] = b"\0.rela.dyn\0\0\0"
    row = struct.unpack_from("<Q", program, 40)[0] + 2 * 64
    struct.pack_into("<I", program, row, 12)
    struct.pack_into("<QQ", program, row + 24, at, len(relocations))
    elf = opened(file, bytes(program))
    assert elf.section(".rela.dyn") is not None
    assert gomaxprocs_address(elf) == GOMAXPROCS


def arm(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def adrp(register: int, pages: int) -> int:
    return 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5 | register


def test_instructions_of_arm64() -> None:
    code = arm(
        adrp(27, 3),
        0xB9800000 | (0xF0 // 4) << 10 | 27 << 5 | 1,  # LDRSW X1, [X27, #0xF0]
        adrp(27, -1),
        0x39000000 | 0x21 << 10 | 27 << 5 | 2,  # STRB W2, [X27, #0x21]
        adrp(3, 0),
        0x91000000 | 0x40 << 10 | 3 << 5 | 4,  # ADD X4, X3, #0x40
        0x889FFC00 | 4 << 5 | 5,  # STLR W5, [X4]
        0xB9400000 | 3 << 5 | 3,  # LDR W3, [X3]
        0xB9800000 | 3 << 5 | 6,  # LDRSW X6, [X3]: no address any more
    )
    found = variables_of(Code(0x10010, code), AARCH64)
    assert found.words == {0x130F0}
    assert found.flags == {0xF021}
    assert found.stored == {0x10040}
    assert found.used == {0x130F0, 0xF021, 0x10040, 0x10000}


def test_instructions_of_x86_64() -> None:
    code = bytes.fromhex("4863 0d 00010000  c605 00020000 01  488d35 00030000 89cf 873e")
    found = variables_of(Code(0x1000, code), X86_64)
    assert found.words == {0x1107}
    assert found.flags == {0x120E}
    assert found.stored == {0x1315}
    assert found.words | found.flags | found.stored <= found.used


def test_other_processors_say_nothing() -> None:
    assert not any(variables_of(Code(0, bytes(40)), 243))
    assert not any(variables_of(Code(0, b""), X86_64))
