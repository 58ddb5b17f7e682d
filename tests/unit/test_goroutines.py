"""Goroutines: what they wait for by their stacks, their times, and when programs are asked."""

import threading
from collections.abc import Callable, Sequence

import pytest
from fuzz.pprof import build_goroutines, check_pprof
from tidscope_collector.goroutines import goroutines as reading
from tidscope_collector.goroutines import registry as numbers
from tidscope_collector.goroutines.goroutines import Goroutines
from tidscope_collector.goroutines.profile import ALL, PATH, StackLine
from tidscope_collector.goroutines.registry import GoroutineRegistry
from tidscope_collector.inspection import go_profiles
from tidscope_collector.inspection.go_profiles import read_goroutines
from tidscope_collector.inspection.goroutine_waits import wait_of
from tidscope_collector.inspection.own_server import NotServedError
from tidscope_collector.inspection.pprof import Frame

PARK = "runtime.gopark"
LOCK = "runtime.goparkunlock runtime.semacquire1"
MUTEX = f"{PARK} {LOCK} internal/sync.runtime_SemacquireMutex internal/sync.(*Mutex).lockSlow"
NET = f"{PARK} runtime.netpollblock internal/poll.runtime_pollWait internal/poll.(*pollDesc).wait"


def stack_of(functions: str) -> list[Frame]:
    return [Frame(name, "f.go", line) for line, name in enumerate(functions.split(), 1)]


@pytest.mark.parametrize(
    ("functions", "reason", "place"),
    [
        (f"{PARK} runtime.chansend runtime.chansend1 main.f main.main", "chan send", "main.f"),
        (f"{PARK} runtime.chanrecv runtime.chanrecv2 main.f", "chan receive", "main.f"),
        (f"{PARK} runtime.selectgo main.f", "select", "main.f"),
        (f"{PARK} runtime.block main.f", "select (no cases)", "main.f"),
        (f"{MUTEX} internal/sync.(*Mutex).Lock sync.(*Mutex).Lock a.b/c.f", "sync.Mutex.Lock", 5),
        (f"{MUTEX} sync.(*Mutex).Lock sync.(*RWMutex).Lock main.f", "sync.RWMutex.Lock", "main.f"),
        (f"{PARK} {LOCK} sync.runtime_SemacquireRWMutexR sync.(*RWMutex).RLock", "RLock", -1),
        (f"{PARK} {LOCK} sync.(*WaitGroup).Wait main.f", "sync.WaitGroup.Wait", "main.f"),
        (f"{PARK} {LOCK} sync.runtime_notifyListWait sync.(*Cond).Wait main.f", "Cond", "main.f"),
        (f"{PARK} time.Sleep main.f", "sleep", "main.f"),
        (f"{NET} net.(*conn).Read bufio.(*Reader).Peek net/http.(*conn).serve", "IO wait", -1),
        (f"{PARK} runtime.selectgo golang.org/x/sync/semaphore.(*Weighted).Acquire main.f", "", ""),
        (
            f"{PARK} runtime.selectgo database/sql.(*DB).conn database/sql.(*DB).Query m.f",
            "sql",
            "",
        ),
        (f"{MUTEX} sync.(*Mutex).Lock database/sql.(*DB).conn main.f", "sync.Mutex.Lock", "main.f"),
        (f"{PARK} runtime.gcBgMarkWorker", "other wait", -1),
        ("syscall.Syscall syscall.read os.(*File).Read main.f", "system call", "main.f"),
        ("main.f main.main", "running", "main.f"),
        ("sync.(*Mutex).Unlock main.f", "running", "main.f"),
    ],
)
def test_stacks_say_what_goroutines_wait_for(functions: str, reason: str, place: str | int) -> None:
    stack = stack_of(functions)
    found = wait_of(stack)
    pools = {"": "semaphore.Acquire", "sql": "database/sql connection"}
    assert pools.get(reason, reason) in found.reason
    expected = place or stack[-1].function
    if isinstance(expected, int):
        expected = stack[-1].function
    assert found.place is not None
    assert (found.place.function, found.place.line) == (
        expected,
        [frame.function for frame in stack].index(expected) + 1,
    )


SENDS = [("runtime.gopark", "p.go", 1), ("runtime.chansend", "c.go", 2), ("main.f", "m.go", 3)]


def test_goroutines_are_counted_by_stack_without_the_one_that_serves_the_profile() -> None:
    serves = [("runtime/pprof.writeGoroutine", "x.go", 1), ("net/http.(*conn).serve", "s.go", 2)]
    profile = build_goroutines([(2, [("main.g", "m.go", 9)]), (3, SENDS), (1, serves), (4, SENDS)])
    goroutines, found = read_goroutines(profile)
    assert goroutines == 9
    assert [(one.goroutines, one.reason, one.place) for one in found] == [
        (7, "chan send", Frame("main.f", "m.go", 3)),
        (2, "running", Frame("main.g", "m.go", 9)),
    ]
    assert found[0].frames == tuple(Frame(*one) for one in SENDS)
    check_pprof(profile)


def test_stacks_beyond_the_bound_count_as_goroutines_only(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = build_goroutines([(n, [(f"main.f{n}", "m.go", n)]) for n in range(1, 10)])
    monkeypatch.setattr(go_profiles, "MAX_STACKS", 4)
    goroutines, found = read_goroutines(profile)
    assert (goroutines, [one.goroutines for one in found]) == (45, [9, 8, 7, 6])
    monkeypatch.setattr(go_profiles, "MAX_CHARACTERS", 25)
    assert len(read_goroutines(profile)[1]) == 2


def line(goroutines: int, reason: str = "chan send", function: str = "main.f") -> StackLine:
    place = (function, "/src/m.go", 3)
    return StackLine(
        goroutines=goroutines, reason=reason, place=place, frames=[] if reason == ALL else [place]
    )


def figures(registry: GoroutineRegistry) -> dict[tuple[str, str], tuple[int, ...]]:
    tables = registry.tables()
    names, rows = tables["goroutine_stacks"], tables["goroutines"]
    return {
        (name["reason"], name["function"]): tuple(row.tolist()[1:])
        for name, row in zip(names, rows, strict=True)
    }


def test_goroutines_count_for_the_time_since_the_reading_before() -> None:
    registry = GoroutineRegistry()
    registry.note(7, [line(9, ALL, ""), line(4)], 0)
    registry.note(7, [line(12, ALL, ""), line(6), line(1, "sleep")], 2_000)
    registry.note(7, [line(3, ALL, ""), line(1, "sleep")], 1_000)
    assert figures(registry) == {
        (ALL, ""): (3, 27_000, 3_000),
        ("chan send", "main.f"): (0, 12_000, 0),
        ("sleep", "main.f"): (1, 3_000, 0),
    }
    registry.gone(7)
    assert {row[0] for row in figures(registry).values()} == {0}


def test_rows_are_bounded_and_their_texts_keep_their_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "MAX_STACKS", 3)
    registry = GoroutineRegistry()
    odd = line(1, "sleep", "main.a\tb\nc")
    registry.note(7, [line(9, ALL, ""), odd, line(2), line(3, "IO wait")], 5)
    names = registry.tables()["goroutine_stacks"]
    assert names["frames"].tolist() == ["", "main.a b c\t/src/m.go\t3", "main.f\t/src/m.go\t3"]
    assert names["pid"].tolist() == [7, 7, 7]


class Pages:
    """A program's pages.

    Args:
        read: answers, or raises.

    Attributes:
        took_s: see `OwnPages`.
    """

    took_s = 0.0

    def __init__(self, read: Callable[[], Sequence[StackLine] | str]) -> None:
        self._read = read

    def read(self) -> dict[str, Sequence[StackLine] | str]:
        return {PATH: self._read()}


def follow(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[], Sequence[StackLine] | str], rate_hz: float
) -> Goroutines:
    monkeypatch.setattr(reading, "OwnPages", lambda *_: Pages(read))
    found = Goroutines(rate_hz)
    found.follow(7, 1)
    return found


def test_a_program_is_asked_while_somebody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "EVERY_S", 0.001)
    asked = threading.Semaphore(0)

    def read() -> list[StackLine]:
        asked.release()
        return [line(9, ALL, ""), line(4)]

    found = follow(monkeypatch, read, reading.IDLE_HZ)
    assert not asked.acquire(timeout=0.05)
    assert found.tables() == {}
    found.set_rate(10)
    for _ in range(3):
        assert asked.acquire(timeout=60)
    rows = found.tables()["goroutines"]
    assert rows["count"].tolist() == [9, 4]
    covered = int(rows["covered_ns"][0])
    assert rows["goroutine_ns"].tolist() == [9 * covered, 4 * covered]
    assert covered > 0
    found.leave(7)
    assert found.tables()["goroutines"]["count"].tolist() == [0, 0]
    found.close()


@pytest.mark.parametrize("why", ["it answers 503", reading.NOT_SERVED])
def test_what_fails_is_said_unless_nothing_is_served(
    monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(reading, "EVERY_S", 0.001)
    asked = threading.Semaphore(0)

    def read() -> str:
        asked.release()
        if why == reading.NOT_SERVED:
            raise NotServedError(why)
        return why

    found = follow(monkeypatch, read, 10)
    for _ in range(2):
        assert asked.acquire(timeout=60)
    said = "" if why == reading.NOT_SERVED else f"goroutines are not read: {why}"
    assert found.reason == said
    assert found.tables() == {}
    found.close()
