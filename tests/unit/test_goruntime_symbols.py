"""Which variables hold addresses: agrees with pyelftools, and survives damaged tables."""

import os
import struct
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from fuzz.elf import build_elf
from programs.build import build_go
from programs.go_programs import SOURCE
from programs.named_locks import build_library
from tidscope_collector.goruntime import symbols
from tidscope_collector.goruntime.elf import Elf, Segment, read_elf
from tidscope_collector.goruntime.symbols import Variable, variables_at


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
            (one.name[: symbols.LONGEST_NAME], one.address, one.size)
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
    assert found[200].name == "n" * symbols.LONGEST_NAME
    assert found[1 << 63].address == 300
