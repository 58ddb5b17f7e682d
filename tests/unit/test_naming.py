"""When programs are asked for names of threads, and when they are left alone."""

import threading
from collections.abc import Callable, Mapping

from processes import wait_until
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.naming.thread_names import LONGEST_RETRY_S, REST, SHORTEST_S, ThreadNames


class Clock:
    """Stands still but where a source takes its time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Source:
    """Answers what it is given, after so many seconds."""

    runtime = "test"
    every_s: float | None = None

    def __init__(self, clock: Clock, took_s: float = 0.0) -> None:
        self._clock, self._took_s = clock, took_s
        self.names: dict[int, str] = {1: "one"}
        self.failure = ""
        self.reads = 0
        self.closed = threading.Event()

    def read(self) -> Mapping[int, str]:
        self.reads += 1
        self._clock.now += self._took_s
        if self.failure:
            raise NoAnswerError(self.failure)
        return dict(self.names)

    def close(self) -> None:
        self.closed.set()


def settled(names: ThreadNames, condition: Callable[[], bool]) -> bool:
    """Whether a condition comes about; the worker is woken, since its clock stands still."""
    names.request()
    wait_until(condition)
    return condition()


def test_a_program_is_asked_at_the_beginning_and_when_something_changed() -> None:
    clock = Clock()
    source = Source(clock)
    names = ThreadNames(1, source, clock)
    wait_until(lambda: names.asked == 1)
    assert names.take() == {1: "one"}
    assert names.take() == {}
    source.names = {2: "two"}
    clock.now += SHORTEST_S
    assert settled(names, lambda: names.asked == 2)
    assert names.take() == {2: "two"}
    names.close()


def test_between_two_answers_is_a_rest_that_their_cost_says() -> None:
    clock = Clock()
    source = Source(clock, took_s=0.5)
    names = ThreadNames(1, source, clock)
    wait_until(lambda: names.asked == 1)
    assert names.first_ms == 500
    clock.now += 0.5 * REST - 0.01
    names.request()
    assert source.reads == 1
    clock.now += 0.02
    assert settled(names, lambda: names.asked == 2)
    names.close()


def test_without_an_answer_it_is_asked_again_later_and_later() -> None:
    clock = Clock()
    source = Source(clock)
    source.failure = "it is still starting"
    names = ThreadNames(1, source, clock)
    wait_until(lambda: names.reason != "")
    assert names.description == "by the kernel, at most 15 bytes. it is still starting"
    waits: list[float] = []
    reads = 1
    while len(waits) < 8:
        before = clock.now
        while source.reads == reads:
            clock.now += 0.5
            names.request()
            threading.Event().wait(0.002)
        reads = source.reads
        waits.append(clock.now - before)
    assert waits[0] >= SHORTEST_S
    assert waits[3] >= 4
    assert waits[-1] >= LONGEST_RETRY_S
    source.failure = ""
    clock.now += LONGEST_RETRY_S
    assert settled(names, lambda: names.asked == 1)
    assert names.description == "by the test; its first answer took 0 ms"
    names.close()


def test_another_program_is_asked_at_once_and_what_the_last_one_said_is_dropped() -> None:
    clock = Clock()
    names = ThreadNames(1, None, clock)
    assert names.description is None
    source = Source(clock)
    names.executed(source)
    wait_until(lambda: names.asked == 1)
    names.executed(None)
    assert names.take() == {}
    assert names.description is None
    assert source.closed.wait(120)
    names.close()


def test_names_that_change_without_a_sign_are_asked_for_again_and_again() -> None:
    clock = Clock()
    source = Source(clock)
    source.every_s = 3.0
    names = ThreadNames(1, source, clock)
    wait_until(lambda: names.asked == 1)
    clock.now += 3.0
    names.request()  # The worker looks at the clock again.
    wait_until(lambda: names.asked == 2)
    names.close()
    assert source.closed.wait(120)
