"""Variables of Go programs, stripped ones included."""

import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from fuzz.elf import build_elf
from go_tables import BASE, CUSTOM, GOMAXPROCS, PROGRAM, stripped_program
from programs.build import build_go
from programs.go_programs import SOURCE
from programs.named_locks import build_library
from tidscope_collector.goruntime import functions
from tidscope_collector.goruntime.elf import Elf, Segment, read_elf
from tidscope_collector.goruntime.functions import Code, Variable, find_code, variables_at
from tidscope_collector.goruntime.runtime_variables import (
    AARCH64,
    X86_64,
    chosen_address,
    custom_address,
    gomaxprocs_address,
)
from tidscope_collector.goruntime.runtime_variables import variables_of as stripped_variables


class Seen(NamedTuple):
    name: str
    address: int
    size: int


def variables_of(path: Path) -> tuple[list[Seen], list[Segment]]:
    """All variables of the best table, and the loaded segments, as pyelftools reads them."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        tables = [one for one in elf.iter_sections() if isinstance(one, SymbolTableSection)]
        table = max(tables, key=lambda one: one["sh_type"] == "SHT_SYMTAB")
        seen = [
            Seen(one.name, one["st_value"], one["st_size"])
            for one in table.iter_symbols()
            if one["st_info"]["type"] in ("STT_OBJECT", "STT_NOTYPE")
            and one["st_size"]
            and isinstance(one["st_shndx"], int)
        ]
        segments = [
            Segment(one["p_offset"], one["p_filesz"], one["p_vaddr"], one["p_memsz"])
            for one in elf.iter_segments("PT_LOAD")
        ]
    return seen, segments


def python_library() -> Path:
    """The interpreter's library, or the interpreter if it has none."""
    name = f"libpython3.{sys.version_info.minor}.so.1.0"
    path = Path(sys.base_prefix) / "lib" / name
    return path if path.exists() else Path(sys.executable).resolve()


@pytest.mark.parametrize("which", range(3))
def test_variables_are_those_that_pyelftools_finds(which: int) -> None:
    path = (lambda: build_go(SOURCE), build_library, python_library)[which]()
    seen, segments = variables_of(path)
    wanted = seen[:: max(1, len(seen) // 500)]
    asked = [one.address + one.size - 1 for one in wanted]
    file = os.open(path, os.O_RDONLY)
    elf = read_elf(file)
    found = variables_at(elf, asked)
    os.close(file)
    assert list(elf.segments) == segments
    for address in asked:
        there = [one for one in seen if one.address <= address < one.address + one.size]
        smallest = min(one.size for one in there)
        got = found[address]
        assert (got.name, got.address, got.size) in [
            (one.name[: functions.LONGEST_NAME], one.address, one.size)
            for one in there
            if one.size == smallest
        ]


def symbol(name: int, address: int, size: int, info: int = 1, section: int = 1) -> bytes:
    return struct.pack("<IBBHQQ", name, info, 0, section, address, size)


def opened(symbols_: bytes, strings: bytes, table: bytes = b".symtab") -> Elf:
    file = os.memfd_create("program")
    os.write(file, build_elf([(table, symbols_, 2), (b".strtab", strings, 0)]))
    return read_elf(file)


def test_the_smallest_variable_wins_and_a_hole_has_none() -> None:
    table = symbol(1, 100, 50) + symbol(7, 120, 8) + symbol(1, 200, 10)
    elf = opened(table, b"\0whole\0part\0")
    assert variables_at(elf, [100, 120, 127, 128, 160, 209, 210]) == {
        100: Variable("whole", 100, 50),
        120: Variable("part", 120, 8),
        127: Variable("part", 120, 8),
        128: Variable("whole", 100, 50),
        209: Variable("whole", 200, 10),
    }
    os.close(elf.file)


@pytest.mark.parametrize(
    "other",
    [symbol(1, 100, 8, info=2), symbol(1, 100, 8, section=0), symbol(1, 100, 8, section=0xFFF1)],
)
def test_functions_and_symbols_of_other_files_are_no_variables(other: bytes) -> None:
    elf = opened(other, b"\0name\0")
    assert variables_at(elf, [104]) == {}
    os.close(elf.file)


def test_damaged_tables_give_names_that_are_cut_or_empty() -> None:
    table = symbol(1 << 31, 100, 8) + symbol(1, 200, 8) + symbol(1, 300, (1 << 64) - 1) + b"rest"
    elf = opened(table, b"\0" + b"n" * 1000, b".dynsym")
    found = variables_at(elf, [100, 200, 1 << 63])
    os.close(elf.file)
    assert found[100].name == ""
    assert found[200].name == "n" * functions.LONGEST_NAME
    assert found[1 << 63].address == 300


@pytest.fixture
def file() -> Iterator[int]:
    descriptor = os.memfd_create("program")
    yield descriptor
    os.close(descriptor)


def opened_program(file: int, data: bytes) -> Elf:
    os.pwrite(file, data, 0)
    return read_elf(file)


@pytest.mark.parametrize("text_in_header", [True, False])
@pytest.mark.parametrize("sections", [True, False])
def test_variables_are_found_by_the_code(text_in_header: bool, sections: bool, file: int) -> None:
    elf = opened_program(file, stripped_program(text_in_header=text_in_header, sections=sections))
    assert gomaxprocs_address(elf) == GOMAXPROCS
    assert custom_address(elf) == chosen_address(elf) == CUSTOM
    code = find_code(elf, "runtime.first")
    assert code is not None
    assert (code.address, len(code.code)) == (BASE + 64 + 56, 0x40)
    assert find_code(elf, "runtime.nothing") is None


def test_a_program_that_does_not_call_gomaxprocs(file: int) -> None:
    elf = opened_program(file, PROGRAM.replace(b"runtime.GOMAXPROCS", b"runtime.GOMAXPROCX"))
    assert gomaxprocs_address(elf) == GOMAXPROCS
    assert custom_address(elf) is None


@pytest.mark.parametrize("function", ["procresize", "stopTheWorldWithSema"])
def test_without_a_second_function_nothing_is_believed(function: str, file: int) -> None:
    name = f"runtime.{function}".encode()
    assert gomaxprocs_address(opened_program(file, PROGRAM.replace(name, b"X" * len(name)))) is None


def test_functions_that_disagree_are_not_believed(file: int) -> None:
    stored = PROGRAM.find(b"\x48\x8d\x35")
    (distance,) = struct.unpack_from("<i", PROGRAM, stored + 3)
    changed = bytearray(PROGRAM)
    struct.pack_into("<i", changed, stored + 3, distance + 4)
    assert gomaxprocs_address(opened_program(file, bytes(changed))) is None


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 0), (4, 1), (6, 3), (7, 4), (8, 0), (15, 1), (39, 1), (71, 1), (64, 1)],
)
def test_a_damaged_header_is_no_table(place: int, value: int, file: int) -> None:
    changed = bytearray(PROGRAM)
    changed[PROGRAM.find(struct.pack("<I", 0xFFFFFFF1)) + place] = value
    assert gomaxprocs_address(opened_program(file, bytes(changed))) is None


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
    elf = opened_program(file, bytes(program))
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
    found = stripped_variables(Code(0x10010, code), AARCH64)
    assert found.words == {0x130F0}
    assert found.flags == {0xF021}
    assert found.stored == {0x10040}
    assert found.used == {0x130F0, 0xF021, 0x10040, 0x10000}


def test_instructions_of_x86_64() -> None:
    code = bytes.fromhex("4863 0d 00010000  c605 00020000 01  488d35 00030000 89cf 873e")
    found = stripped_variables(Code(0x1000, code), X86_64)
    assert found.words == {0x1107}
    assert found.flags == {0x120E}
    assert found.stored == {0x1315}
    assert found.words | found.flags | found.stored <= found.used


def test_other_processors_say_nothing() -> None:
    assert not any(stripped_variables(Code(0, bytes(40)), 243))
    assert not any(stripped_variables(Code(0, b""), X86_64))
