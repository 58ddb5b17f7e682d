"""Answers about another process: maps, profiles, virtual machines, checked arguments."""

import ctypes
import gzip
import math
import os
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from fuzz.pprof import PROFILE, build_profile, check_pprof, field, packed, varint
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tidscope_collector.inspection import pprof
from tidscope_collector.inspection.answering import PROCESS, Arguments, taking
from tidscope_collector.inspection.go_profiles import Contention, read_contentions
from tidscope_collector.inspection.maps import Mapping, holding, object_start, parse_maps
from tidscope_collector.inspection.pprof import PprofError
from tidscope_collector.inspection.virtual_machine import Machine, look_at, obstacle

TABLE = b"""\
400000-401000 r--p 00000000 fe:00 77                                     /bin/a b
401000-402000 rw-p 00001000 fe:00 77                                     /bin/a b
402000-404000 rw-p 00000000 00:00 0
600000-620000 rw-p 00000000 00:00 0                                      [heap]
7f0000000000-7f0000001000 r--p 00000000 fe:00 88                         /lib/x.so (deleted)
7f0000001000-7f0000002000 ---p 00000000 00:00 0
7f0000002000-7f0000003000 rw-p 00001000 fe:00 88                         /lib/x.so (deleted)
7f0000003000-7f0000004000 r--p 00000000 fe:00 88                         /lib/x.so (deleted)
7f0000004000-7f0000005000 rw-p 00001000 fe:00 88                         /lib/x.so (deleted)
"""


def start_of(mappings: list[Mapping], address: int) -> int | None:
    place = holding(mappings, address)
    assert place is not None
    first = object_start(mappings, place)
    return None if first is None else mappings[first].start


def test_the_columns_are_those_of_the_kernel() -> None:
    first = parse_maps(TABLE)[1]
    assert first == Mapping(0x401000, 0x402000, "rw-p", 0x1000, (0xFE, 0), 77, b"/bin/a b")
    assert not first.anonymous
    assert parse_maps(TABLE)[3].path == b"[heap]"


def test_variables_belong_to_the_file_that_is_mapped_before_them() -> None:
    mappings = parse_maps(TABLE)
    assert start_of(mappings, 0x401008) == 0x400000
    assert start_of(mappings, 0x403FFF) == 0x400000  # Memory of .bss starts as zero.
    assert start_of(mappings, 0x600000) is None
    # Two copies of a library, the first with a gap.
    assert start_of(mappings, 0x7F0000002000) == 0x7F0000000000
    assert start_of(mappings, 0x7F0000004000) == 0x7F0000003000
    assert holding(mappings, 0x404000) is None
    assert holding(mappings, 0) is None


def test_this_process_has_its_heap_and_its_library() -> None:
    mappings = parse_maps(Path("/proc/self/maps").read_bytes())
    address = ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value
    assert address is not None
    place = holding(mappings, address)
    assert place is not None
    assert b"libc" in mappings[place].path
    assert b"[heap]" in {one.path for one in mappings}


PIECES = st.one_of(
    st.sampled_from(TABLE.split(b"\n")),
    st.binary(max_size=60),
    st.builds(
        lambda a, b: b"%x-%x rw-p 00000000 00:00 0" % (a, b),
        st.integers(0, 1 << 64),
        st.integers(0, 1 << 64),
    ),
)


@given(st.lists(PIECES, max_size=12), st.integers(0, 1 << 64))
@example([b"2-3 rw-p 0 0:0 0", b"1-9 rw-p 0 0:0 0"], 2)
def test_any_text_gives_mappings_in_order(lines: list[bytes], address: int) -> None:
    mappings = parse_maps(b"\n".join(lines))
    for one, following in pairwise(mappings):
        assert one.start < one.end <= following.start
    place = holding(mappings, address)
    inside = [at for at, one in enumerate(mappings) if one.start <= address < one.end]
    assert inside == ([] if place is None else [place])
    for at in range(len(mappings)):
        first = object_start(mappings, at)
        assert first is None or (first <= at and not mappings[first].anonymous)


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
        (build_profile(types=("samples", "count")), "another profile"),
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


MAPS = "7f00-7f01 r-xp 00000000 08:01 1 /usr/lib/jvm/java-17/lib/server/libjvm.so\n"
J9 = "7f00-7f01 r-xp 00000000 08:01 1 /opt/j9/lib/default/libj9vm29.so\n"
CATCHES = "SigCgt:\t2000000181005ccf\n"
"""Signal mask of a HotSpot machine; bit 2 is SIGQUIT."""
WITH_RS = "SigCgt:\t2000000180005ccb\n"
EVERYBODY = "         0          0 4294967295\n"


def machine(
    folder: Path,
    *,
    caught: str = CATCHES,
    maps: str = MAPS,
    command: str = "java\0Main\0",
    uid: int | None = None,
    uid_map: str = EVERYBODY,
) -> Machine:
    uid = os.geteuid() if uid is None else uid
    status = f"Name:\tjava\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nNSpid:\t7\t1\n{caught}"
    files = {"status": status, "maps": maps, "cmdline": command, "uid_map": uid_map}
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "root").mkdir()
    return look_at(7, os.open(folder, os.O_RDONLY | os.O_DIRECTORY))


def test_a_machine_of_ours_may_be_asked(tmp_path: Path) -> None:
    found = machine(tmp_path)
    assert (found.pid, found.own_pid) == (7, 1)
    assert obstacle(found) == ""


@pytest.mark.parametrize(
    ("caught", "maps", "command", "why"),
    [
        (WITH_RS, MAPS, "java\0", "does not catch"),
        ("", MAPS, "java\0", "does not catch"),
        (CATCHES, "", "java\0", "no HotSpot"),
        (CATCHES, MAPS + J9, "java\0", "no HotSpot"),
        (CATCHES, MAPS, "java\0-XX:+DisableAttachMechanism\0", "DisableAttachMechanism"),
    ],
)
def test_who_must_not_be_asked(
    tmp_path: Path, caught: str, maps: str, command: str, why: str
) -> None:
    found = machine(tmp_path, caught=caught, maps=maps, command=command)
    assert why in obstacle(found)


@pytest.mark.parametrize(
    ("uid_map", "refused"),
    [
        (EVERYBODY, False),
        ("0 1000 1\n", True),
        ("0 1000 1\n1 100000 65536\n", True),
        ("", True),
    ],
)
def test_whoever_does_not_know_our_user_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uid_map: str, refused: bool
) -> None:
    """The machine would reject our file and print a thread dump instead."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert bool(obstacle(machine(tmp_path, uid=1000, uid_map=uid_map))) == refused


def test_our_own_user_is_known_in_any_namespace(tmp_path: Path) -> None:
    own = os.geteuid()
    assert obstacle(machine(tmp_path, uid=own, uid_map=f"5 {own} 1\n")) == ""


FITTING: Arguments = {
    "pid": 1,
    "start_ticks": 0,
    "processes": [(1, 0, None), (4_194_304, (1 << 64) - 1, (1, 2, -3))],
    "identities": [(1, 0)],
    "port": 65535,
    "file": "08:01:131072",
    "timeout_s": 0.5,
    "addresses": [0, (1 << 64) - 1],
    "join_place": 0,
    "waiters": [0, 4_194_304],
    "containers": ["0a" * 32],
    "metrics": ["http_requests_total"],
    "users": [0, 4_294_967_294],
    "file_name": 0,
    "build_id": "0a",
    "lines": True,
}
OF_ANY: tuple[object, ...] = ("/etc/shadow", "1", -1, 1 << 64, math.nan, math.inf, None, True, {})
OF_LISTS: tuple[object, ...] = ([[]], ["../1"], [True], [-1], [[1, 0, "x"]], ["0A" * 32])
PLAIN: dict[str, object] = {
    name: [list(row) if isinstance(row, tuple) else row for row in value]
    if isinstance(value, list)
    else value
    for name, value in FITTING.items()
}
"""Arguments in JSON."""
PLAIN["processes"] = [[1, 0, None], [4_194_304, (1 << 64) - 1, [1, 2, -3]]]


@pytest.mark.parametrize("name", Arguments.__annotations__)
def test_a_value_out_of_its_range_is_refused(name: str) -> None:
    asked: list[Arguments] = []
    question = taking(lambda arguments, _: asked.append(arguments), name)
    question({name: PLAIN[name]}, 0)
    assert len(asked) == 1
    for wrong in (*OF_ANY, *OF_LISTS):
        if wrong is PLAIN[name]:
            continue
        with pytest.raises(ValueError, match="out of range"):
            question({name: wrong}, 0)


def test_a_question_takes_its_own_arguments_and_no_others() -> None:
    question = taking(lambda *_: pytest.fail("it was asked"), *PROCESS)
    fitting = {name: PLAIN[name] for name in PROCESS}
    wrong: tuple[object, ...] = (None, [], {}, {"pid": 1}, {**fitting, "root": "/"}, "pid")
    for arguments in wrong:
        with pytest.raises(ValueError, match="not the arguments"):
            question(arguments, 0)
