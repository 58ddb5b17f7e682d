"""How long the collector waits before it connects again, and what it says of why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.uplink.reconnecting import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    REPLACED_WAIT_S,
    STEADY_S,
    Backoff,
    close_reason,
)
from tidscope_wire.generated.close_code import CloseCode
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

HELD = st.one_of(st.none(), st.floats(0, 2 * STEADY_S))


def test_the_wait_doubles_up_to_the_longest() -> None:
    backoff = Backoff()
    waits = [backoff.wait_s(None) for _ in range(9)]
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]


def test_a_backend_that_was_there_is_looked_for_at_once() -> None:
    backoff = Backoff()
    for _ in range(9):
        backoff.wait_s(None)
    assert backoff.wait_s(60) == FIRST_WAIT_S
    assert backoff.wait_s(None) == 2 * FIRST_WAIT_S


def test_a_backend_that_welcomes_and_throws_out_is_not_asked_faster_and_faster() -> None:
    backoff = Backoff()
    waits = [backoff.wait_s(0.01) for _ in range(9)]
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]
    assert backoff.wait_s(STEADY_S) == FIRST_WAIT_S


def test_a_reason_may_ask_for_more() -> None:
    backoff = Backoff()
    assert backoff.wait_s(1, at_least_s=30) == 30
    assert backoff.wait_s(None, at_least_s=0.05) == 2 * FIRST_WAIT_S


@given(st.lists(HELD, max_size=40))
def test_there_is_never_a_busy_loop(tries: list[float | None]) -> None:
    """In any 5 s there are few tries, however connections end."""
    backoff = Backoff()
    now, began = 0.0, []
    for held in tries:
        began.append(now)
        wait = backoff.wait_s(held)
        assert FIRST_WAIT_S <= wait <= LONGEST_WAIT_S
        now += (held or 0) + wait
    for at in began:
        # A try that found nobody may come between two that were welcomed.
        assert sum(at <= other < at + STEADY_S for other in began) <= 14


def closed(code: int, reason: str = "why") -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, reason), None, None)


@pytest.mark.parametrize("code", list(CloseCode))
def test_every_refusal_is_named_and_waited_for(code: CloseCode) -> None:
    end = close_reason(closed(code))
    assert f"{int(code)}: why" in end.text
    longest = REPLACED_WAIT_S if code is CloseCode.REPLACED else LONGEST_WAIT_S
    assert end.wait_s == longest
    assert end.refused == (code is CloseCode.BAD_MESSAGE)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (CloseCode.UNAUTHENTICATED, "the same TIDSCOPE_COLLECTOR_SECRET"),
        (CloseCode.PROTOCOL_VERSION, "the same version"),
        (CloseCode.REPLACED, "stop one of the two"),
        (CloseCode.FORBIDDEN_ORIGIN, "--allow-host"),
    ],
)
def test_what_a_person_can_fix_comes_with_advice(code: CloseCode, advice: str) -> None:
    assert advice in close_reason(closed(code)).text


def test_a_message_that_is_too_big_for_the_server_is_a_refused_one() -> None:
    assert close_reason(closed(1009)).refused


@pytest.mark.parametrize("code", [1001, 1011, 1012])
def test_a_backend_that_ends_or_fails_is_looked_for_soon(code: int) -> None:
    end = close_reason(closed(code, ""))
    assert (end.wait_s, end.refused) == (0, False)
    assert str(code) in end.text


def test_a_connection_that_breaks_off() -> None:
    end = close_reason(ConnectionClosedError(None, None, None))
    assert (end.wait_s, end.refused) == (0, False)
    assert "was lost" in end.text
