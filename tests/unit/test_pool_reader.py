"""Reading of pools: the first source that answers, again when it fails, and never two at once."""

import threading
from collections.abc import Sequence

import pytest
from tidscope_collector.pools import reader as module
from tidscope_collector.pools.reader import PoolReader
from tidscope_collector.pools.registry import PoolOrigin, PoolsUnreadableError
from tidscope_wire.generated.agent import AgentPool

PATIENCE_S = 120.0


def one_pool(finished: int) -> AgentPool:
    values: dict[str, object] = dict.fromkeys(AgentPool.model_fields)
    return AgentPool.model_validate(
        values | {"name": "requests", "kind": "threads", "finished": finished}
    )


class Scripted:
    """Answers what the script has, then no more; says when it was read so often."""

    def __init__(self, origin: PoolOrigin, script: Sequence[int | Exception]) -> None:
        self.origin: PoolOrigin = origin
        self._script = list(script)
        self.reads = 0
        self.done = threading.Event()
        self.closed = threading.Event()

    def read(self) -> list[AgentPool]:
        self.reads += 1
        answer = self._script.pop(0) if self._script else PoolsUnreadableError("It is over.")
        if not self._script:
            self.done.set()
        if isinstance(answer, Exception):
            raise answer
        return [one_pool(answer)]

    def close(self) -> None:
        self.closed.set()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.001)
    monkeypatch.setattr(module, "MAX_PAUSE_S", 0.002)


def read_to_the_end(sources: Sequence[Scripted], besides: Sequence[Scripted] = ()) -> PoolReader:
    """Read until each of the first ones has answered all that it has."""
    made = PoolReader([*sources, *besides], 41, 0)
    for source in sources:
        assert source.done.wait(PATIENCE_S)
    made.close()
    assert made.join(PATIENCE_S)
    assert all(source.closed.is_set() for source in sources)
    return made


def test_the_first_that_answers_is_read() -> None:
    silent = Scripted("agent", [PoolsUnreadableError("There is no agent.")])
    served = Scripted("prometheus", [10, 15, 25])
    made = read_to_the_end([silent, served])
    (row,) = made.tables()["pools"]
    assert (row["finished"], row["source"], row["pid"]) == (15, "prometheus", 41)
    assert row["read_ns"] > 0


def test_what_fails_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    broken = Scripted("agent", [3, ZeroDivisionError("a defect"), 5])
    made = read_to_the_end([broken])
    (row,) = made.tables()["pools"]
    assert row["finished"] == 2
    assert "pools of process 41 cannot be read" in caplog.text


def test_why_there_is_none_is_said() -> None:
    assert read_to_the_end([Scripted("agent", [])]).reason == "It is over."


def test_a_better_source_takes_over_once_it_answers() -> None:
    agent = Scripted("agent", [PoolsUnreadableError("It starts."), 1, 4])
    counters = Scripted("hsperfdata", [7] * 3)
    made = read_to_the_end([agent], [counters])
    rows = made.tables()["pools"]
    assert rows["source"].tolist() == ["hsperfdata", "agent"]
    assert rows["finished"].tolist() == [0, 3]
