"""Sessions by the clock."""

import pytest
from tidscope_backend.security.authenticator import TICKET_SECONDS, Tickets
from tidscope_backend.security.sessions import Sessions


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_session_ends_unused_or_old(clock: Clock) -> None:
    sessions = Sessions(clock, idle_s=10, lifetime_s=25)
    _, credential = sessions.open("viewer", "Firefox", "127.0.0.1")
    for _ in range(2):
        clock.now += 9
        assert sessions.authenticate(credential) is not None
    clock.now += 7
    assert sessions.authenticate(credential) is None
    _, idle = sessions.open("viewer", "Firefox", "127.0.0.1")
    clock.now += 10
    assert sessions.authenticate(idle) is None
    assert sessions.list() == []
    _, short = sessions.open("operator", "tidscope steer", "127.0.0.1", lifetime_s=2)
    clock.now += 2
    assert sessions.authenticate(short) is None


def test_an_open_page_uses_its_session_until_it_is_too_old(clock: Clock) -> None:
    sessions = Sessions(clock, idle_s=10, lifetime_s=25)
    session, credential = sessions.open("viewer", "", "")
    reasons: list[str] = []
    unsubscribe = sessions.subscribe(session.id, reasons.append)
    for _ in range(2):
        clock.now += 12
        sessions.expire()
    assert reasons == []
    assert sessions.authenticate(credential) is not None
    clock.now += 1
    sessions.expire()
    assert reasons == ["it has expired"]
    unsubscribe()


def test_who_has_left_is_not_called(clock: Clock) -> None:
    sessions = Sessions(clock, idle_s=10, lifetime_s=25)
    session, _ = sessions.open("viewer", "", "")
    gone: list[str] = []
    there: list[str] = []
    sessions.subscribe(session.id, gone.append)()
    sessions.subscribe(session.id, there.append)
    assert sessions.end(session.id)
    assert not sessions.end(session.id)
    assert (gone, there) == ([], ["it was signed out"])


def test_there_are_no_more_than_so_many_of_a_role(clock: Clock) -> None:
    sessions = Sessions(clock, idle_s=100, lifetime_s=100, most=3)
    _, operator = sessions.open("operator", "", "")
    watched, first = sessions.open("viewer", "", "")
    sessions.subscribe(watched.id, lambda _: None)
    opened = []
    for _ in range(5):
        clock.now += 1
        opened.append(sessions.open("viewer", "", "")[1])
    assert sessions.authenticate(operator) is not None
    # One with an open page stays, though it is the oldest.
    assert sessions.authenticate(first) is not None
    alive = [sessions.authenticate(credential) is not None for credential in opened]
    assert alive == [False, False, False, True, True]


def test_credentials_are_of_no_use_but_whole(clock: Clock) -> None:
    sessions = Sessions(clock, idle_s=10, lifetime_s=25)
    session, credential = sessions.open("operator", "", "")
    for wrong in ("", session.id, session.digest, credential[:-1], credential + "x"):
        assert sessions.authenticate(wrong) is None
    assert credential not in repr(sessions.list())


def test_a_ticket_ends_and_the_oldest_give_way(clock: Clock) -> None:
    tickets = Tickets(clock, most=2)
    late = tickets.issue("s", "/p")
    clock.now += TICKET_SECONDS
    assert tickets.redeem(late, "/p") is None
    first, second, third = (tickets.issue("s", "/p") for _ in range(3))
    assert tickets.redeem(first, "/p") is None
    assert tickets.redeem(second, "/p") == tickets.redeem(third, "/p") == "s"
