"""Thousands of batches of netlink datagrams, the same in every run: see tests/fuzz/netlink.py."""

import logging
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from fuzz.netlink import FIRST, TIDS, check_netlink, scene
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from taskstats_replies import FAMILY, LENGTHS, PADS, Pad, payload_offset, reply, stats, struct_of
from tidscope_collector.taskstats.layout import choose
from tidscope_collector.taskstats.link import Kernel
from tidscope_collector.taskstats.replies import Replies

FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=1500,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of warnings are slow."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


PATCH = st.builds(
    lambda at, value, anywhere: struct.pack("=HB", at | (0x8000 if anywhere else 0), value),
    st.integers(0, 0x7FFF),
    st.one_of(st.sampled_from([0, 1, 3, 4, 8, 255]), st.integers(0, 255)),
    st.booleans(),
)


@st.composite
def datagrams(draw: st.DrawFn) -> bytes:
    """One datagram of the program that `scene` reads."""
    kind = draw(st.sampled_from(["raw", "reply", "record", "patched", "cut", "error"]))
    place = draw(st.integers(0, 2))
    if kind == "raw":
        body = draw(st.binary(max_size=64))
        return struct.pack("=BH", 0, len(body)) + body
    if kind == "error":
        code = draw(st.sampled_from([1, 3, 3, 3, 12, 4096, 65535]))
        return struct.pack("=BBH", 1 | 3 << 2, draw(st.integers(0, 3)), code)
    if kind in ("reply", "record"):
        sender = draw(st.sampled_from([0, 0, 0, 1]))
        return bytes([(1 if kind == "reply" else 2) | place << 2 | sender << 7])
    patches = draw(st.lists(PATCH, min_size=1, max_size=4))
    code = len(patches) << 4 | place << 2
    if kind == "cut":
        return struct.pack("=BH", code | 3, draw(st.integers(0, 2400))) + b"".join(patches)
    return bytes([code | draw(st.sampled_from([1, 2]))]) + b"".join(patches)


@st.composite
def scenes(draw: st.DrawFn) -> bytes:
    """A program that `scene` reads."""
    head = [draw(st.integers(0, 8)), draw(st.integers(0, 2)), draw(st.integers(0, 3))]
    return bytes(head) + b"".join(draw(st.lists(datagrams(), max_size=8)))


@settings(FIXED, max_examples=500)
@given(scenes())
def test_nothing_wrong_is_believed_and_everything_refused_is_counted(data: bytes) -> None:
    check_netlink(data)


@FIXED
@given(st.binary(max_size=60))
def test_any_bytes_are_got_over(data: bytes) -> None:
    check_netlink(data)


def test_the_programs_reach_what_they_are_meant_to() -> None:
    """Right, wrong and foreign datagrams are among them, or the tests above would prove nothing."""
    right = scene(bytes([8, 0, 1, 1, 1 | 1 << 2]))
    assert [datagram.untouched for datagram in right.datagrams] == [True, True]
    assert right.datagrams[0].payload == reply(TIDS[0], stats(16, TIDS[0]), sequence=FIRST)
    wrong = scene(bytes([8, 0, 1, 1 | 1 << 4, 4, 0, 26]))
    assert [datagram.untouched for datagram in wrong.datagrams] == [False]
    foreign = scene(bytes([8, 0, 1, 1 | 1 << 7]))
    assert [datagram.sender for datagram in foreign.datagrams] == [1]


@settings(FIXED, max_examples=200)
@given(st.integers(8, 16), st.sampled_from(PADS), st.data())
def test_any_numbers_are_read_back(version: int, pad: Pad, data: st.DataObject) -> None:
    members = [name for name, type_, *_ in struct_of(version)._fields_ if name.endswith("total")]
    values = data.draw(st.fixed_dictionaries(dict.fromkeys(members, st.integers(0, 2**64 - 1))))
    layout = choose(version, LENGTHS[version])
    replies = Replies(Kernel(FAMILY, layout, payload_offset(pad)))
    slots = replies.slots(1)
    whole = reply(9, stats(version, 9, members=values), sequence=2**32 - 1, pad=pad)
    slots.bytes[0, slots.lead : slots.lead + len(whole)] = np.frombuffer(whole, np.uint8)
    slots.lengths[0] = len(whole)
    words, index = replies.decode(slots, 1, 2**32 - 1, np.array([9], np.uint32))
    assert index.tolist() == [0]
    assert {name: int(words[0, layout.offsets[name] // 8]) for name in members} == values
