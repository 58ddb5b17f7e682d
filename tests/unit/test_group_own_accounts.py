"""Which programs of a group are asked, and what becomes of their answers."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, cast

from processes import wait_until
from tidscope_collector.groups.descriptions import Description
from tidscope_collector.groups.members import Member, Members, Newcomer
from tidscope_collector.groups.own_accounts import EVERY_NS, MAX_ASKED, Asking, OwnAccounts
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader
from tidscope_collector.naming.source import NameSource
from tidscope_wire.generated.models import Runtime

LEAD = 10


class Reader:
    """Answers the request before."""

    def __init__(self, size: int) -> None:
        self.size: int | None = size
        self.requests = 0
        self.closed = False

    def request(self) -> None:
        self.requests += 1

    def collect(self, _: float = 0) -> int | None:
        return self.size

    read = collect

    def close(self) -> None:
        self.closed = True


class Names:
    """A source of names."""

    runtime = "test"
    every_s: float | None = None

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def read(self) -> Mapping[int, str]:
        return {self._pid + 1: "worker"}

    def close(self) -> None:
        """Nothing is open."""


class AtOnce(Executor):
    """Does what it is given before it returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args))
        return done


class Group:
    """Members, what they run, and what is asked of them."""

    def __init__(self, *, ask_names: bool = False) -> None:
        self.members = Members()
        self.runtimes: dict[int, Description] = {}
        self.readers: dict[int, Reader] = {}
        self.now_ns = 0
        asking = Asking(self._open, self._source, ask_names)
        self.accounts = OwnAccounts(asking, LEAD, AtOnce(), lambda taken: taken())

    def _open(self, pid: int, _: int) -> GomaxprocsReader | None:
        reader = self.readers.get(pid)
        return None if reader is None else cast(GomaxprocsReader, reader)

    @staticmethod
    def _source(pid: int, _: int, runtime: Runtime) -> NameSource | None:
        return Names(pid) if runtime == "java" else None

    def add(self, pid: int, runtime: Runtime, role: str = "") -> Member:
        member = self.members.add(Newcomer(pid, 1, pid, pid, "prog", 0))
        self.runtimes[member.number] = Description(runtime=runtime, role=role)
        return member

    def of(self, member: Member) -> Description:
        return self.runtimes[member.number]

    def look(self) -> None:
        self.accounts.update(self.members, self, self.now_ns)
        self.now_ns += EVERY_NS


def test_gomaxprocs_is_asked_for_in_one_sample_and_taken_in_the_next() -> None:
    group = Group()
    group.readers[20] = Reader(4)
    lead, other, plain = group.add(LEAD, "go"), group.add(20, "go"), group.add(30, "native")
    stripped = group.add(40, "go")
    group.look()
    sizes = [group.accounts.size_of(one.number) for one in (lead, other, plain, stripped)]
    assert sizes == [0, 4, 0, 0]  # of the lead others say it
    assert group.readers[20].requests == 1
    group.readers[20].size = 6
    group.accounts.update(group.members, group, 0)
    (change,) = group.accounts.take_changes()
    assert (change.pid, change.previous, change.size) == (20, 4, 6)
    assert group.accounts.take_changes() == []
    group.look()
    group.readers[20].size = None  # late
    group.look()
    assert group.accounts.size_of(other.number) == 6
    assert group.accounts.description is None
    group.accounts.close()
    assert group.readers[20].closed


def test_a_program_that_ends_or_executes_another_is_asked_no_more() -> None:
    group = Group()
    group.readers |= {20: Reader(1), 30: Reader(2)}
    ended, replaced = group.add(20, "go"), group.add(30, "go")
    group.look()
    group.members.end(20, 1, 1)
    group.accounts.executed(30)
    assert group.readers[30].closed
    group.runtimes[replaced.number] = Description(runtime="native")
    group.look()
    assert group.readers[20].closed
    assert group.accounts.size_of(ended.number) == group.accounts.size_of(replaced.number) == 0


def test_the_oldest_are_asked_and_it_is_said_how_many_are_not() -> None:
    group = Group(ask_names=True)
    for pid in range(100, 100 + MAX_ASKED + 3):
        group.add(pid, "java")
    group.look()
    asked = f"{MAX_ASKED} of {MAX_ASKED} programs that were asked named theirs"
    wait_until(lambda: group.accounts.description == f"{asked}; 3 more are not asked")
    named = dict(group.accounts.take_names())
    assert named[100] == {101: "worker"}
    assert len(named) == MAX_ASKED
    group.accounts.began({100})
    group.accounts.close()


def test_titles_are_names_of_main_threads_where_names_are_wanted() -> None:
    for ask_names in (True, False):
        group = Group(ask_names=ask_names)
        group.add(50, "native", role="postgres: idle")
        group.look()
        found = [(50, {50: "postgres: idle"})] if ask_names else []
        assert group.accounts.take_names() == found
        assert group.accounts.take_names() == []


def test_nobody_is_asked_after_the_end() -> None:
    group = Group()
    workers = ThreadPoolExecutor(1)
    workers.shutdown()
    accounts = OwnAccounts(Asking(group._open, group._source, False), LEAD, workers, print)
    group.add(20, "go")
    accounts.update(group.members, group, 0)
    accounts.close()
    accounts.update(group.members, group, EVERY_NS)
    assert accounts.take_names() == []
