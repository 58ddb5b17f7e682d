"""Pools of the programs of a group: which are read, in whose place; what becomes of their rows."""

from fake_members import FakeMembers
from tidscope_collector.groups.group_pools import (
    ENDED_NS,
    EVERY_NS,
    IN_VAIN_NS,
    MAX_BEGUN,
    MAX_READ,
    GroupPools,
)
from tidscope_collector.groups.members import Member, Newcomer
from tidscope_collector.pools.registry import PoolRegistry
from tidscope_collector.processes.description import Description
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.agent import AgentPool
from tidscope_wire.generated.models import Runtime, TableName


class Reader:
    """Has what a test notes in its registry."""

    def __init__(self, registry: PoolRegistry) -> None:
        self.registry = registry
        self.answered = False
        self.closed = False

    def note(self, pid: int, finished: int) -> None:
        values: dict[str, object] = dict.fromkeys(AgentPool.model_fields)
        about = {"name": "requests", "kind": "threads", "finished": finished}
        pool = AgentPool.model_validate(values | about | {"response": [0, finished]})
        self.registry.note("agent", [pool], pid, 1)
        self.answered = True

    def tables(self) -> dict[TableName, Table]:
        return self.registry.tables()

    def close(self) -> None:
        self.closed = True


class Group:
    """Members, what they run, and the readers of their pools."""

    def __init__(self) -> None:
        self.members = FakeMembers()
        self.runtimes: dict[int, Runtime] = {}
        self.readers: dict[int, Reader] = {}
        self.java: dict[int, bool] = {}
        self.pools = GroupPools(self)
        self.now_ns = 5_000_000_000

    def open(
        self, pid: int, _: int, registry: PoolRegistry | None = None, *, java: bool = True
    ) -> Reader:
        assert registry is not None
        self.java[pid] = java
        self.readers[pid] = Reader(registry)
        return self.readers[pid]

    def of(self, member: Member) -> Description:
        return Description(runtime=self.runtimes[member.number])

    def add(self, pid: int, runtime: Runtime = "python", *, at_attach: bool = False) -> Member:
        newcomer = Newcomer(pid, 1, pid, pid, "prog", 0)
        member = self.members.add(newcomer, at_attach=at_attach)
        self.runtimes[member.number] = runtime
        return member

    def observe(self, seconds: int = 1) -> None:
        for _ in range(seconds):
            self.now_ns += EVERY_NS
            self.pools.update(self.members, self, self.now_ns)


def test_rows_say_whose_they_are_and_count_from_attach() -> None:
    group = Group()
    old, young = group.add(10, at_attach=True), group.add(20)
    group.observe()
    for finished in (5, 9):
        group.readers[10].note(10, finished)
        group.readers[20].note(20, finished)
    pools = group.pools.tables()["pools"]
    assert pools[["pool", "process", "pid", "finished"]].tolist() == [
        (1, old.number, 10, 4),
        (2, young.number, 20, 9),
    ]
    times = group.pools.tables()["pool_times"]
    assert times[["pool", "count"]].tolist() == [(1, 4), (2, 9)]


def test_only_programs_that_an_agent_can_be_in_are_looked_at() -> None:
    group = Group()
    runtimes: dict[int, Runtime] = {1: "java", 2: "go", 3: "python", 4: "native"}
    others: dict[int, Runtime] = {5: "node", 6: "unknown"}
    for pid, runtime in (runtimes | others).items():
        group.add(pid, runtime)
    group.observe(2)
    assert group.readers.keys() == runtimes.keys()
    assert [pid for pid, java in group.java.items() if java] == [1]


def test_young_processes_are_left_alone() -> None:
    group = Group()
    group.now_ns = 0
    group.add(10)
    group.observe()
    assert not group.readers
    group.observe()
    assert group.readers.keys() == {10}


def test_they_are_begun_with_one_after_the_other_up_to_a_bound() -> None:
    group = Group()
    for pid in range(1, MAX_READ + 6):
        group.add(pid)
    group.observe()
    assert len(group.readers) == MAX_BEGUN
    group.observe(MAX_READ // MAX_BEGUN)
    assert len(group.readers) == MAX_READ
    assert group.pools.left_out == 5


def test_one_without_pools_gives_its_place_to_one_that_waits() -> None:
    group = Group()
    for pid in range(1, MAX_READ + 4):
        group.add(pid)
    group.observe(MAX_READ // MAX_BEGUN)
    for pid in range(2, MAX_READ + 1):
        group.readers[pid].note(pid, 1)
    group.observe(IN_VAIN_NS // EVERY_NS)
    assert group.readers[1].closed
    assert MAX_READ + 1 in group.readers
    assert not any(group.readers[pid].closed for pid in range(2, MAX_READ + 1))
    # The longest unread programs come first, so each program gets its turn.
    group.observe(3 * IN_VAIN_NS // EVERY_NS)
    assert {MAX_READ + 2, MAX_READ + 3} <= group.readers.keys()


def test_what_an_ended_program_did_stays_for_a_while() -> None:
    group = Group()
    group.add(10)
    group.add(20)
    group.observe()
    group.readers[10].note(10, 3)
    group.members.end(10, group.now_ns, group.now_ns)
    group.members.end(20, group.now_ns, group.now_ns)
    group.observe()
    assert group.readers[10].closed
    assert group.pools.tables()["pools"]["finished"].tolist() == [3]
    group.observe(ENDED_NS // EVERY_NS)
    assert not group.pools.tables()


def test_what_is_executed_has_pools_of_its_own() -> None:
    group = Group()
    group.add(10, at_attach=True)
    group.observe()
    before = group.readers[10]
    before.note(10, 5)
    before.note(10, 7)
    group.pools.executed(10)
    assert before.closed
    group.observe()
    assert group.readers[10] is not before
    group.readers[10].note(10, 3)
    # The new program began after attach.
    assert group.pools.tables()["pools"]["finished"].tolist() == [2, 3]


def test_all_are_closed_at_the_end() -> None:
    group = Group()
    group.add(10)
    group.observe()
    group.pools.close()
    assert group.readers[10].closed
