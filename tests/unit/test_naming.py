"""Names of threads, by titles, symbols and Go programs."""

import threading
from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest
from processes import wait_until
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.demangling import LONGEST_NAME
from tidscope_collector.inspection.lock_answers import ask_readable_names
from tidscope_collector.inspection.python_threads import LONGEST, Frame, name_of
from tidscope_collector.inspection.questions import TITLE_BYTES
from tidscope_collector.naming import source
from tidscope_collector.naming.source import LONGEST_ROLE, go_names, read_title, role_of_title
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
        self.times: list[float] = []
        self.closed = threading.Event()

    @property
    def reads(self) -> int:
        return len(self.times)

    def read(self) -> Mapping[int, str]:
        self.times.append(self._clock.now)
        self._clock.now += self._took_s
        if self.failure:
            raise NoAnswerError(self.failure)
        return dict(self.names)

    def close(self) -> None:
        self.closed.set()


def settled(names: ThreadNames, condition: Callable[[], bool]) -> bool:
    """True if a condition becomes true; the worker is woken because its clock stands still."""
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
    while source.reads < 9:
        clock.now += 0.5
        names.request()
        threading.Event().wait(0.002)
    waits = [later - earlier for earlier, later in pairwise(source.times)]
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


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (b"postgres: checkpointer \0\0\0\0\0\0", "postgres: checkpointer"),
        (b"nginx: worker process\0\0\0", "nginx: worker process"),
        (b"postgres: app shop [local] idle", "postgres: app shop [local] idle"),
        (b"sshd: user@pts/0", "sshd: user@pts/0"),
        (b"/usr/bin/postgres\0-D\0/var/lib/postgresql\0", None),
        (b"nginx: master process\0-g\0", None),
        (b"python3\0-c\0print: 1\0", None),
        (b"sleep\0", None),
        (b"", None),
        (b"a:b c", None),
        (b"two words", None),
        (b"x: " + b"y" * 5000, "x: " + "y" * (TITLE_BYTES - 3)),
    ],
)
def test_what_is_a_title(arguments: bytes, title: str | None) -> None:
    assert read_title(arguments) == title


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("postgres: app shop 10.0.0.7(40112) UPDATE waiting", "postgres: client backend"),
        ("postgres: app shop [local] idle in transaction", "postgres: client backend"),
        ("postgres: 15/main: app shop ::1(40112) SELECT", "postgres: client backend"),
        ("postgres: app shop host.example(5432) idle", "postgres: client backend"),
        ("postgres: 15/main: checkpointer", "postgres: checkpointer"),
        ("postgres: background writer", "postgres: background writer"),
        ("postgres: autovacuum worker shop", "postgres: autovacuum worker"),
        ("postgres: autovacuum launcher", "postgres: autovacuum launcher"),
        ("postgres: parallel worker for PID 4711", "postgres: parallel worker for PID #"),
        ("postgres: walsender rep 10.0.0.9(1234) streaming 0/3000148", "postgres: walsender"),
        ("postgres: startup recovering 000000010000000000000001", "postgres: startup recovering #"),
        ("postgres: io worker 2", "postgres: io worker #"),
        ("nginx: worker process", "nginx: worker process"),
        ("nginx: cache manager process", "nginx: cache manager process"),
        ("php-fpm: pool www2", "php-fpm: pool www#"),
        ("gunicorn: worker [shop]", "gunicorn: worker [shop]"),
        ("sshd: user@pts/12", "sshd: user@pts/#"),
    ],
)
def test_roles_of_titles(title: str, role: str) -> None:
    assert role_of_title(title) == role


def test_a_title_shows_no_secret_and_has_an_end() -> None:
    title = read_title(b"worker: connects to https://user:hunter22@host/ and waits")
    assert title is not None
    assert "hunter22" not in title
    assert len(role_of_title("x: " + "long " * 400)) == LONGEST_ROLE


LEGACY = "_ZN16parking_lot_core11parking_lot9HASHTABLE17hffbf437005a126a7E"


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_ZN4shop4tillE", "shop::till"),
        ("_ZL6hidden", "hidden"),
        ("_ZZ5localvE6inside", "local()::inside"),
        ("_ZN4shop4PoolIiE4lockE", "shop::Pool<int>::lock"),
        ("_Znonsense", "_Znonsense"),
        ("_Z", "_Z"),
        (LEGACY, "parking_lot_core::parking_lot::HASHTABLE"),
        ("_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE", "alloc::vec::Vec<T>::push"),
        ("_RNvCskwGfYPst2Cb_3foo4TILL", "foo::TILL"),
        ("_R", "_R"),
        ("_Z\n", "_Z\n"),
        ("_Rø", "_Rø"),
    ],
)
def test_names_are_those_of_the_source(mangled: str, name: str) -> None:
    assert ask_readable_names([mangled]) == {mangled: name}


def test_each_name_has_its_own() -> None:
    found = ask_readable_names(["_ZL6hidden", "plain", "_ZN4shop4tillE", "main.main"])
    assert found == {"_ZL6hidden": "hidden", "_ZN4shop4tillE": "shop::till"}


def test_a_long_name_is_cut() -> None:
    deep = "_ZN" + "9namespace" * 100 + "4lockE"
    assert len(ask_readable_names([deep])[deep]) == LONGEST_NAME


@pytest.mark.parametrize("found", [{}, {7: "template thread"}])
def test_it_is_asked_again_until_sysmon_was_seen(
    monkeypatch: pytest.MonkeyPatch, found: dict[int, str]
) -> None:
    monkeypatch.setattr(source, "ask_go_threads", lambda *_: found)
    with pytest.raises(NoAnswerError, match="sysmon"):
        go_names(1, 2)
    found |= {8: "sysmon"}
    assert go_names(1, 2) == found


@pytest.mark.parametrize(
    ("frames", "name"),
    [
        ([("_bootstrap", "threading"), ("Thread.run", "threading"), ("work", "shop")], "work"),
        ([("_bootstrap", "threading"), ("serve.<locals>.arrive", "shop")], "arrive"),
        ([("_bootstrap", "threading"), ("Flusher.run", "shop")], "Flusher"),
        ([("_worker", "concurrent/futures/thread")], "ThreadPoolExecutor"),
        ([("main.<locals>.run", "shop")], "run"),
        ([("Workers._run", "shop")], "Workers"),
        ([("Shop.serve", "shop")], "serve"),
        ([("x" * 100, "shop")], "x" * LONGEST),
        ([("a name\n", "shop")], ""),
        ([("_bootstrap", "threading"), ("Timer.run", "threading")], ""),
        ([("WorkerThread.run", "anyio/_backends/_asyncio")], "AnyIO worker thread"),
        ([], ""),
    ],
)
def test_a_python_thread_has_the_name_of_its_first_function(
    frames: list[tuple[str, str]], name: str
) -> None:
    called = [Frame(f"/usr/lib/python3.11/{file}.py", function) for function, file in frames]
    assert name_of(called) == name
