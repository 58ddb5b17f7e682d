"""The ELF reader and Go's build information, with damaged files too."""

import os
import struct
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from fuzz.elf import PROGRAM, check_elf
from go_tables import PROGRAM as STRIPPED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs.build import build_go
from programs.go_programs import SOURCE
from tidscope_collector.goruntime import elf as elf_module
from tidscope_collector.goruntime.elf import (
    MAGIC,
    PIECE,
    BuildInfo,
    Elf,
    ElfError,
    parse_build_info,
    read_build_info,
    read_elf,
)
from tidscope_collector.goruntime.runtime_variables import chosen_address
from tidscope_collector.inspection.go_questions import SYMBOL, entry_address


@contextmanager
def opened(path: Path) -> Iterator[Elf]:
    file = os.open(path, os.O_RDONLY)
    try:
        yield read_elf(file)
    finally:
        os.close(file)


def programs() -> list[Path]:
    return [build_go(SOURCE), build_go(SOURCE, "-buildmode=pie"), Path(sys.executable)]


@pytest.mark.parametrize("which", range(3))
def test_sections_and_symbol_are_those_that_pyelftools_finds(which: int) -> None:
    path = programs()[which]
    with path.open("rb") as file:
        other = ELFFile(file)
        sections = [
            (section.name, section["sh_offset"], section["sh_size"], section["sh_link"])
            for section in other.iter_sections()
        ]
        table = other.get_section_by_name(".symtab")
        symbols = (table.get_symbol_by_name(SYMBOL) if table else None) or []
        wanted = [(symbol["st_value"], symbol["st_size"]) for symbol in symbols]
        entry = other["e_entry"]
    with opened(path) as elf:
        assert [(s.name, s.offset, s.size, s.link) for s in elf.sections] == sections
        assert elf.entry == entry
        symbol = elf.variable(SYMBOL)
    assert [(symbol.address, symbol.size)] == wanted if symbol else not wanted
    assert (symbol is not None) == (which < 2)


def small_elf(strings: bytes, symbols: bytes, *, bits: int = 64) -> bytes:
    """An ELF file with a symbol table, its strings, and the names of sections."""
    names = b"\0.symtab\0.strtab\0.shstrtab\0"
    head_size, row_size = (64, 64) if bits == 64 else (52, 40)
    offsets = [head_size]
    for content in (symbols, strings, names):
        offsets.append(offsets[-1] + len(content))
    form = "<IIQQQQIIQQ" if bits == 64 else "<IIIIIIIIII"
    rows = b"".join(
        struct.pack(form, name, kind, 0, 0, offset, size, link, 0, 0, 0)
        for name, kind, offset, size, link in (
            (0, 0, 0, 0, 0),
            (1, 2, offsets[0], len(symbols), 2),
            (9, 3, offsets[1], len(strings), 0),
            (17, 3, offsets[2], len(names), 0),
        )
    )
    ident = b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9)
    words = "<HHIQQQIHHHHHH" if bits == 64 else "<HHIIIIIHHHHHH"
    head = ident + struct.pack(
        words, 2, 62, 1, 0x1234, 0, offsets[3], 0, head_size, 0, 0, row_size, 4, 3
    )
    return head + symbols + strings + names + rows


def symbol64(name: int, address: int, *, kind: int = 1, section: int = 1, size: int = 4) -> bytes:
    return struct.pack("<IBBHQQ", name, kind, 0, section, address, size)


def test_a_symbol_across_two_pieces_is_found(tmp_path: Path) -> None:
    padding = b"\0" + b"x" * (PIECE - 8) + b"\0"
    strings = padding + SYMBOL.encode() + b"\0"
    symbols = b"".join(symbol64(1, 1) for _ in range(PIECE // 24 + 10))
    path = tmp_path / "big"
    path.write_bytes(small_elf(strings, symbols + symbol64(len(padding), 0xC0FFEE)))
    with opened(path) as elf:
        symbol = elf.variable(SYMBOL)
    assert symbol is not None
    assert symbol.address == 0xC0FFEE


def test_a_file_of_32_bits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "small"
    symbol = struct.pack("<IIIBBH", 1, 0x8000, 4, 1, 0, 1)
    path.write_bytes(small_elf(b"\0" + SYMBOL.encode() + b"\0", symbol, bits=32))
    with opened(path) as elf:
        found = elf.variable(SYMBOL)
        assert elf.entry == 0x1234
    assert found is not None
    assert (found.address, found.size) == (0x8000, 4)


@pytest.mark.parametrize("symbol", [symbol64(1, 5, kind=2), symbol64(1, 5, section=0)])
def test_a_function_or_an_undefined_symbol_is_no_variable(tmp_path: Path, symbol: bytes) -> None:
    path = tmp_path / "elf"
    path.write_bytes(small_elf(b"\0" + SYMBOL.encode() + b"\0", symbol))
    with opened(path) as elf:
        assert elf.variable(SYMBOL) is None


def test_a_longer_name_is_another_name(tmp_path: Path) -> None:
    path = tmp_path / "elf"
    path.write_bytes(small_elf(b"\0x" + SYMBOL.encode() + b"2\0", symbol64(2, 5)))
    with opened(path) as elf:
        assert elf.variable(SYMBOL) is None


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n" * 10, b"\x7fELF\x02\x02" + bytes(60)])
def test_what_is_no_elf_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no-elf"
    path.write_bytes(content)
    with pytest.raises(ElfError), opened(path):
        pass


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_is_refused_or_survived(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(small_elf(b"\0" + SYMBOL.encode() + b"\0", symbol64(1, 5)))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path / "damaged"
    path.write_bytes(content)
    try:
        with opened(path) as elf:
            elf.variable(SYMBOL)
    except ElfError:
        pass


def bomb_of_names() -> bytes:
    """1.3 MB of which the names of all sections are one MiB, of characters of four bytes each."""
    rows, names = 4096, "\U0001f4a3".encode() + b"x" * (PIECE - 4)
    head = small_elf(b"", b"")[:64]
    table = 64 + len(names)
    head = head[:40] + struct.pack("<Q", table) + head[48:60] + struct.pack("<HH", rows, 1)
    named = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(names), 0, 0, 0, 0)
    return head + names + named * rows


def test_names_of_sections_take_no_more_than_they_are_worth(tmp_path: Path) -> None:
    """The section names would take 16 GiB."""
    path = tmp_path / "bomb"
    path.write_bytes(bomb_of_names())
    tracemalloc.start()
    try:
        with opened(path) as elf:
            assert len(elf.sections) == 4096
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_a_section_that_grows_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elf_module, "MAX_INFLATED", 64 << 20)
    packed = zlib.compress(b"\0" * (80 << 20), 9)
    section = struct.pack("<IIQQ", 1, 0, 80 << 20, 1) + packed
    path = tmp_path / "bomb"
    path.write_bytes(small_elf(b"", section))
    with opened(path) as elf, pytest.raises(ElfError, match="too large when uncompressed"):
        for piece in elf.pieces(elf.sections[1]):
            assert len(piece) <= PIECE


def test_a_table_of_2_to_the_32_symbols_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elf_module, "MAX_BYTES", 64 << 20)
    content = bytearray(small_elf(b"\0" + SYMBOL.encode() + b"\0", b""))
    rows = len(content) - 4 * 64
    struct.pack_into("<QQ", content, rows + 64 + 24, 1 << 20, 24 << 32)
    path = tmp_path / "sparse"
    path.write_bytes(content)
    os.truncate(path, 25 << 32)
    with opened(path) as elf, pytest.raises(ElfError, match="MiB of tables"):
        elf.variable(SYMBOL)


def test_a_file_that_shrinks_while_it_is_read_has_no_symbol(tmp_path: Path) -> None:
    path = tmp_path / "elf"
    path.write_bytes(small_elf(b"\0" + SYMBOL.encode() + b"\0", symbol64(1, 5)))
    with opened(path) as elf:
        os.truncate(path, 70)
        assert elf.variable(SYMBOL) is None


def test_the_entry_point_is_found_in_auxv() -> None:
    auxv = struct.pack("<QQQQQQ", 3, 0x40, 9, 0x555500001000, 0, 0)
    assert entry_address(auxv, 64) == 0x555500001000
    assert entry_address(auxv[:16], 64) is None
    assert entry_address(auxv[:27], 64) is None
    assert entry_address(struct.pack("<IIII", 9, 0x1000, 0, 0), 32) == 0x1000


SENTINEL = b"0123456789abcdef"
MODULES = (
    SENTINEL + b"path\tcommand-line-arguments\nbuild\t-compiler=gc\n"
    b'build\t-ldflags="-s -w"\nbuild\tGOARCH=amd64\n' + SENTINEL
)


def varint(number: int) -> bytes:
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def section(version: bytes, modules: bytes, flags: int = 2) -> bytes:
    head = MAGIC + bytes([8, flags]) + bytes(16)
    return head + varint(len(version)) + version + varint(len(modules)) + modules


def test_version_and_settings() -> None:
    assert parse_build_info(section(b"go1.26.8", MODULES) + b"tail") == BuildInfo(
        "go1.26.8", {"-compiler": "gc", "-ldflags": "-s -w", "GOARCH": "amd64"}
    )


def test_an_experiment_is_no_part_of_the_version() -> None:
    info = parse_build_info(section(b"go1.26.8 X:nodwarf5", b""))
    assert info == BuildInfo("go1.26.8", {})


def test_the_format_with_pointers_says_nothing() -> None:
    assert parse_build_info(section(b"go1.17", MODULES, flags=0)) == BuildInfo(None, {})


@pytest.mark.parametrize("cut", [0, 5, 14, 31, 32, 36])
def test_a_cut_section_is_not_read(cut: int) -> None:
    assert parse_build_info(section(b"go1.26.8", MODULES)[:cut]) is None


def test_a_length_beyond_the_section_is_not_believed() -> None:
    head = section(b"", b"")[:32]
    assert parse_build_info(head + varint(1 << 40) + b"go1.26") is None
    assert parse_build_info(head + b"\xff" * 20) is None


@given(st.binary(max_size=80))
def test_no_content_makes_it_fail(rest: bytes) -> None:
    info = parse_build_info(section(b"", b"")[:32] + rest)
    assert info is None or isinstance(info.version, str)


FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=500,
    suppress_health_check=list(HealthCheck),
)
VALUE = st.one_of(st.sampled_from([0, 1, 4, 127, 128, 255]), st.integers(0, 255))
PLACE = st.one_of(st.integers(0, len(PROGRAM) - 1), st.just(0xFFFF))
PATCHES = st.lists(
    st.builds(lambda at, value: struct.pack("=HB", at, value), PLACE, VALUE), max_size=6
)
STRIPPED_PATCHES = st.lists(
    st.builds(
        lambda at, value: struct.pack("=HB", at, value), st.integers(0, len(STRIPPED) - 1), VALUE
    ),
    max_size=6,
)


def test_the_program_that_is_broken_is_right_itself() -> None:
    file = os.memfd_create("program")
    os.write(file, PROGRAM)
    elf = read_elf(file)
    info, symbol = read_build_info(elf), elf.variable("runtime.gomaxprocs")
    assert info is not None
    assert info.version == "go1.26.8"
    assert symbol is not None
    assert chosen_address(elf) == 0x4000 + 0x808
    os.close(file)


@FIXED
@given(PATCHES)
def test_a_patched_executable_is_refused_or_got_over(patches: list[bytes]) -> None:
    check_elf(b"".join(patches))


@FIXED
@given(STRIPPED_PATCHES)
def test_a_patched_function_table_is_refused_or_got_over(patches: list[bytes]) -> None:
    check_elf(b"\xfe" + b"".join(patches))


@FIXED
@given(st.binary(max_size=300))
def test_any_bytes_are_got_over(data: bytes) -> None:
    check_elf(b"\xff" + data)
    check_elf(b"\xff\x7fELF\x02\x01" + data)
