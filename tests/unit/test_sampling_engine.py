"""The thread of targets: one target's trouble is not the others', and each end has its tables."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest
from fake_sampler import FakeSampler
from processes import wait_until
from tidscope_collector.procfs.process import TargetExitedError
from tidscope_collector.sampling import engine as engine_module
from tidscope_collector.sampling import selfwatch
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.engine import Engine, Flushed
from tidscope_collector.sampling.selfwatch import Load
from tidscope_collector.sampling.target import TargetSampler
from tidscope_wire.generated.models import Target
from unit_targets import Tables, make_sampler

MS = 1_000_000


class Harness:
    """An engine whose sampler is played by the test."""

    def __init__(self, budget: Budget | None = None, load: Callable[[], Load] = Load) -> None:
        self.fake = FakeSampler()
        self.changed: list[Target] = []
        self.engine = Engine(self.fake.native, self.changed.append, budget=budget, load=load)
        self.engine.start()

    def add(self, target: str = "t-1-0000000a", rate_hz: float = 10) -> TargetSampler:
        sampler = make_sampler(self.fake.native, target, rate_hz)
        self.engine.submit(lambda: self.engine.add(sampler)).result(120)
        return sampler

    def tables(self) -> list[str]:
        """Targets whose tables were given, in order."""
        return [arguments[0] for arguments in self.fake.of("give_tables")]


@pytest.fixture
def harness() -> Iterator[Harness]:
    made = Harness()
    yield made
    made.engine.stop()


def test_a_target_that_has_ended_gives_its_tables_before_its_last_frame(harness: Harness) -> None:
    sampler = harness.add()
    target = sampler.target.id
    wait_until(lambda: bool(harness.tables()))
    before = len(harness.fake.calls)
    harness.fake.tell(target, ending=True)
    wait_until(lambda: bool(harness.changed) and harness.changed[-1].state == "exited")
    after = [name for name, _ in harness.fake.calls[before:]]
    assert after.index("give_tables") < after.index("finish")
    assert harness.fake.of("finish") == [(target, True)]
    assert harness.engine.submit(lambda: harness.engine.find(target)).result() is None
    flushed = harness.engine.submit(lambda: harness.engine.flush(target)).result()
    assert flushed == Flushed(harness.fake.seq, None)
    harness.engine.forget(target)
    assert harness.engine.submit(lambda: harness.engine.flush(target)).result() is None


def test_a_target_that_ended_without_waiting_is_over(harness: Harness) -> None:
    target = harness.add().target.id
    harness.fake.tell(target, over=(None, 7))
    wait_until(lambda: bool(harness.changed) and harness.changed[-1].state == "exited")
    assert harness.fake.of("finish") == []
    flushed = harness.engine.submit(lambda: harness.engine.flush(target)).result()
    assert flushed == Flushed(7, None)


def test_a_detached_target_is_flushed_first(harness: Harness) -> None:
    sampler = harness.add()
    target = sampler.target.id
    ended = harness.engine.submit(lambda: harness.engine.detach(target)).result()
    assert ended.state == "detached"
    names = [name for name, _ in harness.fake.calls if name in ("flush", "finish")]
    assert names == ["flush", "finish"]
    assert harness.engine.submit(lambda: harness.engine.detach(target)).result() is None


def test_a_target_that_cannot_be_attached_is_closed(harness: Harness) -> None:
    closed = []
    sampler = make_sampler(harness.fake.native)
    sampler.closes(lambda: closed.append(True))
    harness.fake.refuses = ProcessLookupError(3, "gone")
    with pytest.raises(TargetExitedError):
        harness.engine.submit(lambda: harness.engine.add(sampler)).result(120)
    assert closed == [True]
    assert harness.engine.submit(lambda: harness.engine.find(sampler.target.id)).result() is None


def test_a_rate_that_is_asked_for_is_reported(harness: Harness) -> None:
    target = harness.add().target.id
    changed = harness.engine.submit(lambda: harness.engine.ask_rate(target, 25)).result()
    assert changed.rate_hz == 25
    ((_, rate_hz, requested, event),) = harness.fake.of("set_rate")
    assert (rate_hz, requested) == (25, True)
    assert '"previous_hz":10' in event
    wait_until(lambda: bool(harness.changed) and harness.changed[-1].rate_hz == 25)
    assert harness.engine.submit(lambda: harness.engine.ask_rate("none", 1)).result() is None


def test_trouble_with_one_target_leaves_the_others(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = harness.add("t-1-0000000a"), harness.add("t-1-0000000b")

    def fail(_: object) -> None:
        raise OSError("nonsense")

    monkeypatch.setattr(first, "take", fail)
    harness.fake.tell(first.target.id, program=True)
    time.sleep(0.01)
    harness.fake.tell(second.target.id, ending=True)
    wait_until(lambda: bool(harness.changed) and harness.changed[-1].state == "exited")
    assert harness.changed[-1].id == second.target.id


def test_the_last_tables_are_given_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TABLES_NS", "EARLIEST_NS"):
        monkeypatch.setattr(f"tidscope_collector.sampling.tables.{name}", 10**18)
    harness = Harness()
    target = harness.add().target.id
    wait_until(lambda: bool(harness.tables()))
    before = len(harness.tables())
    harness.engine.stop()
    assert harness.tables()[before:] == [target]
    assert harness.fake.calls[-1] == ("stop", ())
    with pytest.raises(CancelledError):
        harness.engine.submit(lambda: None).result(120)


def test_tables_that_cannot_be_read_are_left_out(harness: Harness) -> None:
    tables = Tables()
    tables.fails = True
    sampler = make_sampler(harness.fake.native, tables=tables)
    harness.engine.submit(lambda: harness.engine.add(sampler)).result(120)
    wait_until(lambda: tables.read_times > 0)
    assert harness.tables() == []
    tables.fails = False
    wait_until(lambda: bool(harness.tables()))


def test_rates_follow_the_budget_and_health_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfwatch, "ACCOUNT_NS", 10 * MS)
    monkeypatch.setattr(engine_module, "SECOND_NS", 10 * MS)
    for name in ("OVER_S", "ROOM_S", "WAIT_S"):
        monkeypatch.setattr(f"tidscope_collector.sampling.budget.{name}", 0.05)
    load = Load(replay_frames=3, sent_bytes=9, dropped={"t-1-0000000a": 2})
    harness = Harness(Budget(20), lambda: load)
    try:
        target = harness.add(rate_hz=50).target.id
        harness.fake.spent = (5 * MS, {target: (4 * MS, 100)})
        wait_until(lambda: bool(harness.fake.of("set_rate")))
        _, rate_hz, requested, event = harness.fake.of("set_rate")[0]
        assert rate_hz < 50
        assert not requested
        assert '"type":"rate_adapted"' in event
        health = harness.fake.health
        assert (health["replay_frames"], health["sent_bytes"]) == (3, 9)
        assert health["frames_dropped"] == {"t-1-0000000a": 2}
        assert health["budget_percent"] == 20
        harness.fake.spent = (0, {})
        wait_until(lambda: harness.fake.of("set_rate")[-1][1] == 50)
    finally:
        harness.engine.stop()
