"""Go's build information, well formed and not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.goruntime.buildinfo import MAGIC, BuildInfo, parse_build_info

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
