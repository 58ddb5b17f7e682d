"""Messages of the prediction service: what is written is read, and nothing else is."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tidscope_policies.perceptron import Rule
from tidscope_predictd.messages import (
    OWN,
    Answer,
    Delete,
    List,
    MalformedError,
    Open,
    Predict,
    Request,
    Reset,
    Share,
    Sharing,
    Status,
    Update,
    read_reply,
    read_request,
    write_reply,
    write_request,
)

WORDS = st.integers(0, 2**32 - 1)
FEATURES = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=16).map(tuple)
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)
RULES = st.builds(Rule, st.integers(0, 2032), st.integers(1, 127))
REQUESTS: st.SearchStrategy[Request] = st.one_of(
    st.builds(Open, NAMES, WORDS, st.booleans(), st.sampled_from(Sharing), RULES),
    st.builds(
        Update,
        WORDS,
        st.lists(st.builds(Answer, FEATURES, st.booleans()), min_size=1, max_size=5).map(tuple),
    ),
    st.builds(Reset, WORDS, st.one_of(st.just(()), FEATURES)),
    st.builds(Predict, WORDS, FEATURES),
    st.builds(Share, WORDS, st.sampled_from(Sharing)),
    st.builds(Delete, WORDS),
    st.builds(List, WORDS),
)


@given(REQUESTS)
def test_what_is_written_is_read(request: Request) -> None:
    assert read_request(write_request(request)) == request


@given(REQUESTS, st.data())
def test_what_is_cut_off_or_longer_is_malformed(request: Request, data: st.DataObject) -> None:
    packet = write_request(request)
    cut = data.draw(st.integers(0, len(packet) - 1))
    for damaged in (packet[:cut], packet + b"\0"):
        with pytest.raises(MalformedError):
            read_request(damaged)


@given(st.binary(max_size=200), st.integers(0, 9))
@example(b"\x00\x00\x00\x00\x01\x00\x01\x11" + bytes(136), 2)
def test_any_bytes_are_read_or_malformed(body: bytes, kind: int) -> None:
    packet = bytes([1, 0, kind, 0]) + body
    try:
        assert write_request(read_request(packet)) == packet
    except MalformedError:
        pass


def test_bytes_of_each_request() -> None:
    """As docs/prediction.md has them; the clients in C and Go write the same."""
    opened = write_request(Open("ab", OWN, create=True, sharing=Sharing.READ, rule=Rule(8, 31)))
    assert opened.hex() == "01000100" + "ffffffff" + "01" + "01" + "0800" + "1f" + "02" + "6162"
    updated = write_request(Update(3, (Answer((1,), False), Answer((-1, 2), True))))
    assert updated.hex() == (
        "01000200" + "03000000" + "0200" + "ff01" + "0100000000000000" + "0102" + "f" * 16
    ) + ("0200000000000000")
    assert write_request(Reset(3, (1,))).hex() == "01000300" + "0300000000010100000000000000"
    assert write_request(Reset(3, ())).hex() == "01000300" + "030000000100"
    assert write_request(Predict(3, (1,))).hex() == "01000400" + "03000000010100000000000000"
    assert write_request(Share(3, Sharing.WRITE)).hex() == "01000500" + "0300000002"
    assert write_request(Delete(3)).hex() == "01000600" + "03000000"
    assert write_request(List(3)).hex() == "01000700" + "03000000"


def test_features_are_sent_modulo_two_to_the_64th() -> None:
    sent = read_request(write_request(Predict(0, (2**64 - 1, -(2**63) - 1))))
    assert sent == Predict(0, (-1, 2**63 - 1))


@pytest.mark.parametrize(
    "request_",
    [
        Open(""),
        Open("a/b"),
        Open("x" * 65),
        Open("a", rule=Rule(8, 200)),
        Update(0, ()),
        Update(0, (Answer((1,), True),) * 257),
        Predict(0, ()),
        Predict(0, (1,) * 17),
    ],
    ids=str,
)
def test_what_cannot_be_sent(request_: Request) -> None:
    with pytest.raises(ValueError, match=r"want|name"):
        write_request(request_)


def test_replies() -> None:
    assert read_reply(write_reply(Status.FULL, b"why")) == (Status.FULL, b"why")
    for damaged in (b"", b"\1\0\0", b"\2\0\0\0", b"\1\0\x09\0"):
        with pytest.raises(MalformedError):
            read_reply(damaged)
