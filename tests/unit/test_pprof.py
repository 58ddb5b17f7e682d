"""Profiles of contended mutexes: the format as protobuf has it, and damaged ones."""

import gzip
import zlib

import pytest
from fuzz.pprof import PROFILE, build_profile, check_pprof, field, packed, varint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tidscope_collector.inspection import pprof
from tidscope_collector.inspection.pprof import Contention, PprofError, read_contentions

FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=500,
    suppress_health_check=list(HealthCheck),
)


def test_waits_are_added_up_by_the_function_of_the_program() -> None:
    assert read_contentions(PROFILE) == [
        Contention("main.(*pool).use", 900, 9),
        Contention("main.main", 20, 2),
        Contention("runtime.unlock", 5, 1),
    ]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (b"", "cut off"),
        (b"plain text", "not gzip"),
        (PROFILE[:-9], "cut off"),
        (gzip.compress(b""), "strings"),
        (gzip.compress(varint(2 << 3 | 3)), "kind 3"),
        (gzip.compress(varint(2 << 3 | 0) + varint(5)), "is a number"),
        (gzip.compress(field(2, b"x")[:-1]), "cut off"),
        (gzip.compress(b"\xff" * 11), "too long"),
        (build_profile(types=("samples", "count")), "not a profile of mutexes"),
        (build_profile(samples=(field(1, packed(9)) + field(2, packed(1, 2)),)), "location"),
        (build_profile(samples=(field(1, packed(1)) + field(2, packed(1)),)), "too few"),
        (build_profile(samples=(field(1, packed(1)) + field(2, packed(1, 1 << 63)),)), "negative"),
        (build_profile(first="no"), "empty one"),
        (build_profile(function=99), "behind the table"),
    ],
)
def test_what_is_no_such_profile_is_refused(wrong: bytes, why: str) -> None:
    with pytest.raises(PprofError, match=why):
        read_contentions(wrong)


def test_what_is_too_large_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PprofError, match="bytes"):
        read_contentions(bytes(pprof.MAX_BYTES + 1))
    monkeypatch.setattr(pprof, "MAX_INFLATED", 1 << 16)
    with pytest.raises(PprofError, match="uncompressed"):
        read_contentions(gzip.compress(bytes(1 << 17)))


@FIXED
@given(st.lists(st.tuples(st.integers(0, len(PROFILE) * 4), st.integers(0, 255)), max_size=6))
def test_a_patched_profile_is_refused_or_got_over(patches: list[tuple[int, int]]) -> None:
    plain = bytearray(zlib.decompress(PROFILE, 16 + zlib.MAX_WBITS))
    for place, value in patches:
        plain[place % len(plain)] = value
    check_pprof(bytes(plain))


@FIXED
@given(st.binary(max_size=300))
def test_any_bytes_are_got_over(data: bytes) -> None:
    check_pprof(data)
