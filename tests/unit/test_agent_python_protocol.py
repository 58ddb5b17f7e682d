"""Lines of the agent protocol, as the agent for Python reads and writes them."""

import json

import pytest
from tidscope_agent import protocol
from tidscope_agent.protocol import FailureError, parse_call, parse_set


@pytest.mark.parametrize(
    ("line", "code", "number"),
    [
        (b"{", protocol.PARSE, None),
        (b"\xff", protocol.PARSE, None),
        (b'{"id":NaN}', protocol.PARSE, None),
        (b"[1]", protocol.INVALID, None),
        (b'{"id":true}', protocol.INVALID, None),
        (b'{"id":-1}', protocol.INVALID, None),
        (b'{"id":1}', protocol.INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":2}', protocol.INVALID, 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"read","more":2}', protocol.INVALID, 1),
    ],
)
def test_what_is_no_call_is_refused(line: bytes, code: int, number: int | None) -> None:
    with pytest.raises(FailureError) as refused:
        parse_call(line)
    assert (refused.value.code, refused.value.number) == (code, number)
    assert refused.value.closes
    assert json.loads(protocol.failure_line(refused.value, number))["error"]["code"] == code


def test_a_call() -> None:
    call = parse_call(b'{"jsonrpc":"2.0","id":1,"method":"set","params":{"size":2,"lease_s":3}}')
    assert (call.number, call.method, call.has_params) == (1, "set", True)
    assert parse_set(call.params) == (2, 3.0)
    assert protocol.answer_line(1, [2]) == b'{"jsonrpc":"2.0","id":1,"result":[2]}\n'


@pytest.mark.parametrize(
    "params",
    [
        None,
        {"size": 1},
        {"size": 0, "lease_s": 1},
        {"size": True, "lease_s": 1},
        {"size": 1, "lease_s": 0},
        {"size": 1, "lease_s": "1"},
        {"size": 1, "lease_s": 61},
    ],
)
def test_a_size_has_bounds(params: object) -> None:
    with pytest.raises(FailureError) as refused:
        parse_set(params)
    assert refused.value.code == protocol.PARAMS
    assert not refused.value.closes
