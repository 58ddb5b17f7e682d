"""Accounts that programs give of their locks: from the first reading on, and with their reasons."""

import itertools
from collections.abc import Callable

import pytest
from tidscope_collector.inspection import own_pages
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import BlockedLine, ContentionLine, GoServing
from tidscope_collector.inspection.own_server import (
    NotOwnPortError,
    NotServedError,
    TooSlowError,
)
from tidscope_collector.locks import runtime_locks
from tidscope_collector.locks.runtime_locks import (
    ALL,
    LEFT_OUT,
    LONGEST_GAP_S,
    MAX_CHARACTERS,
    MAX_ROWS,
    METRIC,
    GoLocks,
    JavaLocks,
    Waited,
)
from tidscope_wire.prometheus_text import add_up

HELD = "mutex released by main.use"
PROFILE, METRICS = runtime_locks.PAGES


class GoProgram:
    """Answers of a Go program.

    Attributes:
        delay_ns: total delay of its mutex, in nanoseconds.
        seconds: value of its counter, in seconds; None without a counter.
        fetched: port and path of each request.
        error: what answers instead.
        ports: ports on which it listens.
    """

    def __init__(self) -> None:
        self.delay_ns = 1000
        self.seconds: float | None = 1.5
        self.fetched: list[tuple[int, str]] = []
        self.error: Exception | None = None
        self.ports = [80, 6060]

    def fetch(self, port: int, path: str, refusal: Callable[[], str], accept: str) -> bytes:
        self.fetched.append((port, path))
        if self.error is not None:
            raise self.error
        if port != 6060:
            raise NotServedError("it serves something else")
        if path == METRICS:
            return b"" if self.seconds is None else f"{METRIC} {self.seconds}\n".encode()
        return b"profile"

    def profile(self, _: bytes) -> list[ContentionLine]:
        return [ContentionLine(function="main.use", delay_ns=self.delay_ns, waits=3)]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> GoProgram:
    made = GoProgram()
    monkeypatch.setattr(own_pages, "fetch", made.fetch)
    monkeypatch.setattr(runtime_locks, "ask_mutex_profile", made.profile)
    monkeypatch.setattr(runtime_locks, "ask_counter", add_up)
    monkeypatch.setattr(own_pages, "ask_ports", lambda *_: {7: made.ports})
    monkeypatch.setattr(
        own_pages, "ask_go_serving", lambda *_: GoServing(profile=True, metrics=True)
    )
    return made


def test_waits_of_go_count_from_the_first_reading_on(program: GoProgram) -> None:
    source = GoLocks(7, 1)
    assert {(one.name, one.wait_ns, one.waits) for one in source.read()} == {
        (HELD, 0, 0),
        (ALL, 0, 0),
    }
    program.delay_ns, program.seconds = 1700, 2.0
    assert set(source.read()) == {
        Waited("go-mutex-profile", HELD, "lock", 0, 700, 0),
        Waited("go-metrics", ALL, "lock", 0, 500_000_000, 0),
    }
    assert source.reason == ""


def test_a_port_that_serves_nothing_is_tried_once(program: GoProgram) -> None:
    source = GoLocks(7, 1)
    for _ in range(3):
        source.read()
    assert program.fetched.count((80, PROFILE)) == program.fetched.count((80, METRICS)) == 1


def test_a_port_that_does_not_answer_in_time_is_tried_at_the_next_search(
    program: GoProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_pages, "SEARCH_S", 0.0)
    source = GoLocks(7, 1)
    program.error = TooSlowError("it does not answer within 1.5 s")
    assert source.read() == []
    program.error = None
    assert len(source.read()) == 2


def test_a_count_that_falls_is_no_negative_wait(program: GoProgram) -> None:
    source = GoLocks(7, 1)
    source.read()
    program.delay_ns = 10
    assert {one.wait_ns for one in source.read()} == {0}


def test_an_answer_that_fails_leaves_what_was_known(program: GoProgram) -> None:
    source = GoLocks(7, 1)
    before = source.read()
    program.error = NotServedError("it answers 503")
    assert source.read() == before
    assert source.reason == "it answers 503"


def test_a_port_of_somebody_else_is_left(program: GoProgram) -> None:
    source = GoLocks(7, 1)
    source.read()
    program.error = NotOwnPortError("it is another's")
    before = len(program.fetched)
    source.read()
    program.error, program.ports = None, [80]
    source.read()
    assert len(program.fetched) == before + 2  # Each is asked once more, and never again.


def test_a_program_without_the_counter_has_its_profile(program: GoProgram) -> None:
    program.seconds = None
    assert [one.name for one in GoLocks(7, 1).read()] == [HELD]


def test_a_program_that_cannot_serve_is_not_asked(
    program: GoProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        own_pages, "ask_go_serving", lambda *_: GoServing(profile=False, metrics=False)
    )
    source = GoLocks(7, 1)
    assert source.read() == []
    assert program.fetched == []
    assert "SetMutexProfileFraction" in source.reason


def test_an_executable_that_cannot_be_read_is_tried_again(
    program: GoProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> GoServing:
        raise NoAnswerError("it does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(own_pages, "ask_go_serving", fail)
        source = GoLocks(7, 1)
        assert source.read() == []
        assert source.reason == "it does not answer"
    assert len(source.read()) == 2


class Clock:
    """The time that a source sees, nanoseconds."""

    now = 1_000_000_000

    def monotonic_ns(self) -> int:
        return self.now


def test_who_waits_in_a_dump_waits_since_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    blocked = [BlockedLine(tid=5, lock="Object", method="Shop.pay")]
    failing = False

    def ask(*_: object) -> list[BlockedLine]:
        if failing:
            raise NoAnswerError("There is no socket.")
        return blocked

    monkeypatch.setattr(runtime_locks, "time", clock)
    monkeypatch.setattr(runtime_locks, "ask_java_blocked", ask)
    source = JavaLocks(7, 1)
    assert source.read() == []
    clock.now += 10_000_000_000
    wanted = Waited("java-monitor", "Object in Shop.pay", "monitor", 5, 10_000_000_000, 1)
    assert source.read() == [wanted]
    blocked.clear()
    clock.now += 10_000_000_000
    assert source.read() == [wanted]
    # After a gap nobody knows.
    blocked.append(BlockedLine(tid=5, lock="Object", method="Shop.pay"))
    clock.now += int(LONGEST_GAP_S * 1e9) + 1
    assert source.read() == [wanted]
    failing = True
    assert source.read() == [wanted]
    assert "jcmd 7 VM.version" in source.reason
    failing = False
    clock.now += 10_000_000_000
    assert source.read() == [wanted]
    assert source.reason == ""


def kept(found: list[Waited]) -> int:
    """Characters of all names."""
    return sum(len(one.name) for one in found)


def test_functions_that_a_go_program_makes_up_are_bounded(
    program: GoProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = itertools.count()

    def made_up(_: bytes) -> list[ContentionLine]:
        reading = next(readings)
        return [
            ContentionLine(function=f"{reading}.{one}.{'x' * 500}", delay_ns=1, waits=1)
            for one in range(128)
        ]

    source = GoLocks(7, 1)
    source.read()
    monkeypatch.setattr(runtime_locks, "ask_mutex_profile", made_up)
    for _ in range(40):
        found = source.read()
    assert kept(found) <= MAX_CHARACTERS
    assert source.reason == LEFT_OUT
    # Earlier values still count.
    monkeypatch.setattr(runtime_locks, "ask_mutex_profile", program.profile)
    program.delay_ns = 1900
    assert {one.name: one.wait_ns for one in source.read()}[HELD] == 900


def test_monitors_that_a_java_program_makes_up_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, readings = Clock(), itertools.count()

    def ask(*_: object) -> list[BlockedLine]:
        reading = next(readings)
        return [BlockedLine(tid=one, lock=f"L{reading}", method="m") for one in range(1000)]

    monkeypatch.setattr(runtime_locks, "time", clock)
    monkeypatch.setattr(runtime_locks, "ask_java_blocked", ask)
    source = JavaLocks(7, 1)
    for _ in range(20):
        clock.now += 1_000_000_000
        found = source.read()
    assert len(found) == MAX_ROWS
    assert source.reason == LEFT_OUT
