"""Pools by number: figures count from attach, and what is not known is said to be so."""

import pytest
from tidscope_collector.pools import registry as module
from tidscope_collector.pools.registry import PoolRegistry
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.agent import AgentPool
from tidscope_wire.pools import FIGURES, knows


def pool(name: str = "requests", finished: int | None = 0, **figures: object) -> AgentPool:
    """A pool that counts finished jobs and knows nothing else."""
    values: dict[str, object] = dict.fromkeys(AgentPool.model_fields)
    return AgentPool.model_validate(
        values | {"name": name, "kind": "threads", "finished": finished} | figures
    )


def rows(registry: PoolRegistry) -> Table:
    return registry.tables()["pools"]


def test_figures_count_from_the_first_reading() -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=100, size=8, response=[3, 7])], 41, 10)
    made.note("agent", [pool(finished=130, size=6, response=[3, 9, 1])], 41, 20)
    (row,) = rows(made)
    assert (row["pool"], row["pid"], row["read_ns"]) == (1, 41, 20)
    assert (row["finished"], row["size"]) == (30, 6)
    times = made.tables()["pool_times"]
    assert times[["bucket", "count"]].tolist() == [(1, 2), (2, 1)]


def test_a_pool_that_comes_later_counts_from_its_beginning() -> None:
    made = PoolRegistry()
    made.note("agent", [pool("a", 5)], 41, 10)
    made.note("agent", [pool("a", 5), pool("b", 7)], 41, 20)
    assert rows(made)["finished"].tolist() == [0, 7]


def test_what_is_not_known_is_said_to_be_so() -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=None, busy=0)], 41, 10)
    (row,) = rows(made)
    assert [name for name in FIGURES if knows(row, name)] == ["busy"]


def test_another_program_has_other_pools() -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=5)], 41, 10)
    made.program += 1
    made.note("agent", [pool(finished=7)], 41, 20)
    assert rows(made)[["pool", "finished"]].tolist() == [(1, 0), (2, 7)]


@pytest.mark.parametrize("now", [{"finished": 4}, {"finished": 9, "response": [2, 2]}])
def test_a_pool_whose_counters_fall_is_another_one(now: dict[str, object]) -> None:
    made = PoolRegistry()
    made.note("agent", [pool(finished=5, response=[2, 3])], 41, 10)
    made.note("agent", [pool().model_copy(update=now)], 41, 20)
    assert rows(made)[["pool", "finished"]].tolist() == [(2, now["finished"])]


def test_their_number_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_POOLS", 3)
    made = PoolRegistry()
    made.note("agent", [pool("a"), pool("b"), pool("c")], 41, 10)
    made.note("agent", [pool("b"), pool("c"), pool("d")], 41, 20)
    assert rows(made)["name"].tolist() == ["b", "c", "d"]
