"""Messages of the program that takes stacks: what is believed, and that nothing else raises."""

import json

import pytest
from fake_stacks import counts, frames, nodes, samples, status
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.stacks.messages import (
    MAX_NUMBER,
    NODE,
    SAMPLE,
    Counts,
    Frames,
    MessageError,
    Nodes,
    StackFrame,
    Status,
    parse,
)
from tidscope_collector.waits.states import State

WELL_FORMED = [
    status("sampling"),
    frames(1, "main", "serve"),
    nodes((1, 0, 1), (2, 1, 2)),
    samples({}, {"number": 2}),
    counts(1, 2, 3),
]


def test_frames_have_what_they_were_sent_with() -> None:
    sent = frames(7, "main", "größer", kind="go", file="main.go", line=12, build_id="")
    assert parse(sent) == Frames(
        7,
        [
            StackFrame("go", "main", "main.go", 12, "bank", 4103, ""),
            StackFrame("go", "größer", "main.go", 12, "bank", 4104, ""),
        ],
    )


def test_nodes_have_what_they_were_sent_with() -> None:
    assert parse(nodes((5, 0, 1), (6, 5, 9))) == Nodes(5, [0, 5], [1, 9])


def test_samples_have_what_they_were_sent_with() -> None:
    row = {"number": 1 << 40, "waker": (3 << 32) | 4, "tid": 9, "state": State.OTHER, "ended": 0}
    found = parse(samples(row))
    assert not isinstance(found, tuple | Status)
    assert {name: int(found[name][0]) for name in row} == row
    assert found.dtype == SAMPLE


def test_no_samples_are_samples() -> None:
    found = parse(b"R")
    assert not isinstance(found, tuple | Status)
    assert len(found) == 0


def test_counts_have_what_they_were_sent_with() -> None:
    assert parse(counts(1, 2)) == Counts((1, 2, 0, 0, 0, 0))


def test_a_status_has_what_it_was_sent_with() -> None:
    found = parse(status("failed", reason="no luck", trigger="none"))
    assert isinstance(found, Status)
    assert (found.state, found.trigger, found.reason) == ("failed", "none", "no luck")


@pytest.mark.parametrize("number", [0, -1, MAX_NUMBER, True, 1.0, "1", None, [], {}])
def test_a_frame_has_a_number_within_bounds(number: object) -> None:
    with pytest.raises(MessageError):
        parse(b"F" + json.dumps([[number, "native", "f", "", 0, "m", 1, ""]]).encode())


@pytest.mark.parametrize("place", range(1, 8))
@pytest.mark.parametrize("value", [None, [], {}, -1, 1.5, True, 1 << 64, "x" * 3000, "ä" * 1500])
def test_each_part_of_a_frame_is_of_its_type_and_size(place: int, value: object) -> None:
    row: list[object] = [1, "native", "f", "", 0, "m", 1, ""]
    row[place] = value
    with pytest.raises(MessageError):
        parse(b"F" + json.dumps([row]).encode())


@pytest.mark.parametrize("cut", range(1, 8))
def test_rows_have_their_whole_length(cut: int) -> None:
    for message in (nodes((1, 0, 1)), samples({}), counts(1)):
        with pytest.raises(MessageError):
            parse(message[:-cut])


@pytest.mark.parametrize(
    "rows",
    [[(0, 0, 1)], [(1, 1, 1)], [(1, 2, 1)], [(1, 0, 1), (3, 1, 1)], [(MAX_NUMBER, 0, 1)], []],
)
def test_nodes_follow_each_other_and_their_parents(rows: list[tuple[int, int, int]]) -> None:
    with pytest.raises(MessageError):
        parse(nodes(*rows))


@pytest.mark.parametrize(
    "row",
    [
        {"state": 0},
        {"state": len(State)},
        {"ended": 2},
        {"weight": 0},
        {"tid": 0},
        {"begin_ns": 1 << 62},
        {"wait_ns": 1 << 62},
        {"delay_ns": 1 << 63},
    ],
)
def test_a_sample_is_possible(row: dict[str, int]) -> None:
    with pytest.raises(MessageError):
        parse(samples({}, row))


@given(st.binary(max_size=300))
def test_whatever_comes_is_a_message_or_an_error(data: bytes) -> None:
    try_to_parse(data)


@given(
    st.sampled_from(WELL_FORMED),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
    st.integers(0, 400),
)
def test_a_broken_message_is_a_message_or_an_error(
    message: bytes, changes: list[tuple[int, int]], length: int
) -> None:
    broken = bytearray(message)
    for place, value in changes:
        broken[place % len(broken)] = value
    try_to_parse(bytes(broken[: length or None]))


nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


@given(st.sampled_from([b"F", b"S"]), nested)
def test_other_json_is_a_message_or_an_error(kind: bytes, value: object) -> None:
    try_to_parse(kind + json.dumps(value).encode())


def try_to_parse(data: bytes) -> None:
    """Parse; what is accepted can go into tables."""
    try:
        found = parse(data)
    except MessageError:
        return
    if isinstance(found, Frames):
        for frame in found.frames:
            assert all(isinstance(part, str | int) for part in frame)
            "".join(part for part in frame if isinstance(part, str)).encode()
    elif isinstance(found, Nodes):
        assert all(parent < found.first + place for place, parent in enumerate(found.parents))


def test_rows_are_as_long_as_the_program_makes_them() -> None:
    """See sampleBytes and nodeBytes in stacks/message.go."""
    assert (SAMPLE.itemsize, NODE.itemsize) == (72, 12)
