"""Thousands of executables, broken in the same way in every run: see tests/fuzz/elf.py."""

import os
import struct

from fuzz.elf import PROGRAM, check_elf
from go_tables import PROGRAM as STRIPPED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tidscope_collector.goruntime.buildinfo import read_build_info
from tidscope_collector.goruntime.elf import read_elf
from tidscope_collector.goruntime.runtime_variables import chosen_address

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
